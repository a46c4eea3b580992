"""Models beside a skewed covariate reach the largest likelihood, or say that they stopped short."""

import numpy as np
import pytest

import confide
import skewed_worlds

pd = pytest.importorskip("pandas", reason="pandas is not installed")

DATASET = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"rho": "1000000"}},
    "tables": {
        "p": {
            "rows-per-patient": 1,
            "columns": {
                "age": {"kind": "number", "lower": 0, "upper": 1000},
                "lab": {"kind": "number", "lower": 0, "upper": 1000},
                "sex": {"categories": ["F", "M"]},
                "ill": {"categories": ["no", "yes"]},
                "stage": {"categories": ["none", "mild", "late"]},
            },
        }
    },
}
COVARIATES = ["age", "lab", "sex"]
LOGISTIC = {"id": "m", "kind": "logistic-regression", "of": {"ill": ["yes"]}}
CLASSES = {"id": "m", "kind": "multinomial-regression", "outcome": "stage"}


def cohort(name, *, seed):
    """Return the patients of a setting, what is true of them, and their outcome."""
    (setting,) = (s for s in skewed_worlds.SETTINGS if s.name == name)
    truth = setting.world.truth()
    people = setting.world.people(setting.n, np.random.default_rng(seed), truth)
    frame = pd.DataFrame(
        {"pid": np.arange(setting.n), "age": people["age"], "lab": people["lab"]}
        | {"sex": np.array(["F", "M"])[people["sex"]]}
    )
    frame["ill"] = np.array(["no", "yes"])[people.get("ill", people["sex"])]
    frame["stage"] = np.array(["none", "mild", "late"])[people.get("stage", people["sex"])]
    return frame, setting.world.coefficients(truth), people


def likeliest(people):
    """Return the slopes of maximum likelihood, by a unit of each covariate."""
    numbers = [(people[name] - 500) / 500 for name in ("age", "lab")]
    terms = np.column_stack([np.ones(len(people["ill"])), *numbers, people["sex"]])
    share = people["ill"].mean()
    beta = np.array([np.log(share / (1 - share)), 0, 0, 0])
    for _ in range(30):
        p = 1 / (1 + np.exp(-terms @ beta))
        slope = terms * (p * (1 - p))[:, None]
        beta += np.linalg.solve(slope.T @ terms, terms.T @ (people["ill"] - p))
    return {"age": beta[1] / 500, "lab": beta[2] / 500, "sex: M vs F": beta[3]}


def coefficients(frame, statistic, *, epsilon, folder):
    with confide.open(DATASET, frames={"p": frame}, folder=folder) as ws:
        plan = ws.plan(statistic | {"covariates": COVARIATES}, epsilon=epsilon)
        return [e for e in ws.release(plan).estimates if e.quantity == "coefficient"]


def test_a_rare_outcome_beside_a_skewed_age_has_the_coefficients_of_maximum_likelihood(tmp_path):
    frame, _, people = cohort("steep gamma age, 93 %", seed=1)
    best = likeliest(people)
    for one in coefficients(frame, LOGISTIC, epsilon="30", folder=tmp_path):
        assert not one.flags
        assert one.value == pytest.approx(best[one.key[0]], abs=one.standard_error)


def test_rare_classes_beside_a_skewed_age_are_withheld_or_near_the_truth(tmp_path):
    frame, truth, _ = cohort("classes, 7 % each", seed=1)
    found = coefficients(frame, CLASSES, epsilon="8", folder=tmp_path)
    steps = np.array([1 / 500, 1 / 500, 1])
    true = np.concatenate([truth[1:4] * steps, truth[5:] * steps])
    assert len(found) == len(true)
    for one, right in zip(found, true, strict=True):
        if one.value is None:
            assert one.flags == ("stopped short",)
        else:
            assert one.value == pytest.approx(right, abs=4 * one.standard_error)
