"""Models of rare outcomes reach the largest likelihood, or say that they stopped short of it."""

import numpy as np
import pytest

import confide
from confide.plans.rounds.link import mean
from confide.plans.rounds.marginal import rare_start
from confide.tables.aggregates.descent_terms import Family

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
                "sex": {"categories": ["F", "M"]},
                "age": {"kind": "number", "lower": 40, "upper": 80, "unit": "a"},
                "ill": {"categories": ["no", "yes"]},
                "events": {"kind": "number", "lower": 0, "upper": 5},
            },
        }
    },
}
LOGISTIC = {"id": "m", "kind": "logistic-regression", "covariates": ["age", "sex"]}
POISSON = {"id": "m", "kind": "poisson-regression", "events": "events", "covariates": ["age"]}
EFFECTS = {"age": 0.05, "sex: M vs F": 0.5}


def cohort(n, *, base, seed):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(40, 80, n), rng.integers(0, 2, n)
    eta = np.log(base) + EFFECTS["age"] * (age - 60) + EFFECTS["sex: M vs F"] * sex
    ill = rng.random(n) < 1 / (1 + np.exp(-eta))
    people = pd.DataFrame(
        {
            "pid": np.arange(n),
            "age": age,
            "sex": np.array(["F", "M"])[sex],
            "ill": np.where(ill, "yes", "no"),
            "events": np.minimum(rng.poisson(np.exp(eta)), 5),
        }
    )
    return people, likelihood(np.column_stack([np.ones(n), (age - 60) / 20, sex]), ill)


def likelihood(terms, outcome):
    """Return slopes of maximum likelihood, of age by the year."""
    beta = np.array([np.log(outcome.mean() / (1 - outcome.mean())), 0, 0])
    for _ in range(30):
        p = 1 / (1 + np.exp(-terms @ beta))
        slope = terms * (p * (1 - p))[:, None]
        beta += np.linalg.solve(slope.T @ terms, terms.T @ (outcome - p))
    return {"age": beta[1] / 20, "sex: M vs F": beta[2]}


def released(people, statistic, *, epsilon, folder):
    folder.mkdir(exist_ok=True)
    with confide.open(DATASET, frames={"p": people}, folder=folder) as ws:
        return ws.release(ws.plan(statistic, epsilon=epsilon)).estimates


@pytest.mark.parametrize("outcome", ["yes", "no"])  # of 0.5 %, and of 99.5 %
def test_a_rare_outcome_has_the_coefficients_of_maximum_likelihood(outcome, tmp_path):
    people, best = cohort(40_000, base=0.003, seed=5)
    statistic = LOGISTIC | {"of": {"ill": [outcome]}}
    found = released(people, statistic, epsilon="30", folder=tmp_path)
    slopes = {e.key[0]: e for e in found if e.quantity == "coefficient"}
    sign = 1 if outcome == "yes" else -1
    for name, one in slopes.items():
        assert not one.flags
        assert one.value == pytest.approx(sign * best[name], abs=one.standard_error)
        assert one.lower <= sign * EFFECTS[name] <= one.upper


def test_too_few_events_for_the_noise_are_withheld_and_say_so(tmp_path):
    people, _ = cohort(3_000, base=0.01, seed=2)
    stopped = 0
    for run in range(6):
        found = released(people, POISSON, epsilon="1", folder=tmp_path / str(run))
        told = [e for e in found if e.quantity in ("coefficient", "intercept", "rate ratio")]
        assert len(told) == 3
        if not any(e.flags for e in told):
            continue
        stopped += 1
        for one in told:
            assert one.flags == ("stopped short",)
            assert one.value is one.lower is one.upper is one.standard_error is None
        assert all(e.flags for e in found if e.quantity == "prediction coefficient")
    assert stopped >= 4


def test_a_step_begins_elsewhere_only_where_the_outcome_is_rare():
    nodes = np.random.default_rng(0).normal(size=100_000)
    at, gradient = np.array([0.5, 1.0]), np.array([-100.0, 20.0])
    assert rare_start(at, gradient, rows=1000, least=3) == (at, gradient)
    risk = mean(Family.LOGISTIC, at[0] + nodes)
    target = np.array([0.01 - risk.mean(), 0.0]) * 1000
    begun, _ = rare_start(at, target, rows=1000, least=3)
    assert mean(Family.LOGISTIC, begun[0] + nodes).mean() == pytest.approx(0.01, abs=0.001)
    assert begun[1] == at[1]
