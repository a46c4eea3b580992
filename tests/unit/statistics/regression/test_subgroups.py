"""A linear regression says how far it is off on average in subgroups that it does not tell."""

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.errors import ConfideError
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study

COLUMNS = {
    "age": {"kind": "number", "lower": "20", "upper": "100", "unit": "a"},
    "arm": {"categories": ["old", "new", "none"]},
    "sex": {"categories": ["female", "male"]},
    "site": {"categories": ["North", "South", "Islands"]},
    "sbp": {"kind": "number", "lower": "80", "upper": "220", "unit": "mm[Hg]"},
}
SPEC = {
    "id": "line",
    "kind": "linear-regression",
    "table": "people",
    "outcome": "sbp",
    "covariates": ["age", "arm"],
}
WITH = {**SPEC, "subgroups": ["sex", "site"]}
OFF = "observed less predicted"
SPREAD = 12.0


def cohort(n, rng, *, men=6.0):
    """Return patients of whom men have a higher pressure, and are older."""
    sex = rng.choice(["female", "male"], n)
    age = np.clip(rng.normal(60, 12, n) + 5 * (sex == "male"), 20, 100).astype(int)
    arm = rng.choice(["old", "new", "none"], n, p=[0.5, 0.3, 0.2])
    site = rng.choice(["North", "South", "Islands"], n, p=[0.6, 0.399, 0.001])
    mean = 100 + 0.5 * age - 8 * (arm == "new") + men * (sex == "male")
    sbp = np.clip(rng.normal(mean, SPREAD), 80, 220).astype(int)
    return {"pid": np.arange(n), "age": age, "arm": arm, "sex": sex, "site": site, "sbp": sbp}


def opened(people, folder, *, measure="zcdp"):
    accounting = {"measure": measure} | ({"delta": "1e-6"} if measure == "zcdp" else {})
    dataset = {
        "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": accounting,
        "caps": {"lifetime": {"epsilon": "1000"}},
        "tables": {"people": {"rows-per-patient": 1, "columns": COLUMNS}},
    }
    return confide.open(dataset, frames={"people": pa.table(people)}, folder=folder)


def released(people, folder, *, spec=WITH, epsilon="300", measure="zcdp", **study):
    with opened(people, folder, measure=measure) as ws:
        return ws.release(ws.plan(spec, epsilon=epsilon, **study)).of("line")


def off_of(people):
    """Return mean residuals of ordinary least squares by subgroup."""
    columns = [np.ones(len(people["pid"])), people["age"]]
    columns += [people["arm"] == name for name in ("new", "none")]
    x = np.column_stack(columns).astype(float)
    residual = people["sbp"] - x @ np.linalg.lstsq(x, people["sbp"], rcond=None)[0]
    return {
        f"{name}: {key}": residual[people[name] == key].mean()
        for name in ("sex", "site")
        for key in COLUMNS[name]["categories"]
        if key != "Islands"
    }


@pytest.mark.parametrize("measure", ["zcdp", "pure"])
def test_with_hardly_any_noise_they_are_mean_residuals_of_least_squares(measure, tmp_path):
    people = cohort(20_000, np.random.default_rng(1))
    found = released(people, tmp_path, measure=measure)
    off = {e.key[0]: e for e in found if e.quantity == OFF}
    for label, true in off_of(people).items():
        assert off[label].value == pytest.approx(true, abs=0.15)
        assert off[label].unit == "mm[Hg]"
    counts = {e.key[0]: e.value for e in found if e.quantity == "count"}
    assert counts["sex: male"] == pytest.approx((people["sex"] == "male").sum(), abs=5)
    assert off["sex: male"].lower > 1


def test_a_subgroup_of_few_has_no_number_and_a_house_rule_withholds_its_line(tmp_path):
    people = cohort(3_000, np.random.default_rng(2))
    found = released(people, tmp_path / "few", epsilon="2")
    (islands,) = (e for e in found if (e.quantity, e.key) == (OFF, ("site: Islands",)))
    assert (islands.value, islands.flags) == (None, ("denominator too small",))
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    told = [e for e in released(people, tmp_path / "rule", study=study) if "Islands" in e.key[0]]
    assert len(told) == 2
    assert all(e.value is None for e in told)
    assert any(e.flags == ("small cell",) for e in told)


@pytest.mark.parametrize("epsilon", ["3", "30"])
def test_intervals_hold_how_far_the_published_line_is_off(epsilon, tmp_path):
    """The truth is that of the coefficients that were published, on very many patients."""
    rng, held = np.random.default_rng(3), []
    many = cohort(400_000, rng)
    for number in range(10):
        found = released(cohort(2_000, rng), tmp_path / str(number), epsilon=epsilon)
        beta = {e.key[0]: e for e in found if e.quantity in ("coefficient", "intercept")}
        start = next(e for e in beta.values() if e.quantity == "intercept").value
        mean = start + beta["age"].value * (many["age"] - 60.0)
        for name in ("new", "none"):
            mean = mean + beta[f"arm: {name} vs old"].value * (many["arm"] == name)
        for e in found:
            if e.quantity == OFF and e.value is not None:
                column, key = e.key[0].split(": ")
                chosen = many[column] == key
                held.append(e.lower <= (many["sbp"] - mean)[chosen].mean() <= e.upper)
    assert len(held) > 35
    assert np.mean(held) > 0.88


@pytest.mark.parametrize(
    "columns", [["arm"], ["sex", "sex"], ["age"], ["ward"], ["sbp"]], ids=lambda each: each[0]
)
def test_what_is_no_subgroup_of_a_regression_is_refused(columns, tmp_path):
    with (
        opened(cohort(10, np.random.default_rng(5)), tmp_path) as ws,
        pytest.raises(ConfideError),
    ):
        ws.plan({**SPEC, "subgroups": columns}, epsilon="1")


def test_a_regression_without_them_asks_what_it_asked_before(tmp_path):
    with opened(cohort(10, np.random.default_rng(5)), tmp_path) as ws:
        plain, bare = (ws.plan(s, epsilon="1") for s in (SPEC, {**SPEC, "subgroups": []}))
        assert plain.digest() == bare.digest()
        assert "subgroups" not in str(plain.to_json())
        assert len(ws.plan(WITH, epsilon="1").measurements) == len(plain.measurements) + 2 * 3
