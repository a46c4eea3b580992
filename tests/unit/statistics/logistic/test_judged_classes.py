"""A model of several classes is put right on half of those held out, and judged by subgroups."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.errors import ContractError
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study
from confide.plans.rounds.classes import share_edges
from confide.plans.rounds.held_out import Recalibration
from confide.statistics import MultinomialRegression
from confide.statistics.logistic.judged_classes import JudgedClasses
from confide.tables.aggregates.descent_terms import SCORE_BINS, SCORE_CUTS
from held_out_scores import simulation

THETA = np.array([[0.3, 0.9, 0.2], [0.2, -0.6, 0.7], [-0.5, -0.3, -0.9]])
"""Coefficients by class, which add up to 0."""
LEVELS = np.array([-0.4, 0.1, 0.3])


def shares_of(eta):
    powers = np.exp(eta)
    return powers / powers.sum(axis=1, keepdims=True)


def counted(n, rng, *, slope=1.0, levels=0.0):
    """Return counts by class, by whether patients are of it, and by bin of its share."""
    eta = np.column_stack([np.ones(n), rng.normal(size=(n, 2))]) @ THETA.T
    true = shares_of(levels + slope * eta).cumsum(axis=1)
    stage = (rng.random(n)[:, None] > true).sum(axis=1)
    edges = share_edges(THETA, percents=SCORE_CUTS)
    found = []
    for c, share in enumerate(shares_of(eta).T):
        cell = SCORE_BINS * (stage == c) + np.searchsorted(edges[c], share, side="right")
        found.append(np.bincount(cell, minlength=2 * SCORE_BINS))
    return np.concatenate(found).astype(float)


def judged(*, kind=Recalibration.LINE, noise=0.0, number=0):
    return JudgedClasses(
        statistic="m",
        level=0.95,
        theta=THETA,
        names=("none", "mild", "late"),
        reference=0,
        kind=kind,
        noise=noise,
        simulation=simulation(number),
    )


def test_the_line_of_many_patients_is_the_true_one():
    counts = counted(400_000, np.random.default_rng(1), slope=0.6, levels=LEVELS)
    found = judged().line(counts)
    assert found.slope == pytest.approx(0.6, abs=0.03)
    assert found.levels == pytest.approx(LEVELS, abs=0.03)
    level = judged(kind=Recalibration.INTERCEPT).line(
        counted(400_000, np.random.default_rng(2), levels=LEVELS)
    )
    assert level.slope == 1
    assert level.levels == pytest.approx(LEVELS, abs=0.03)


def test_shares_that_are_right_are_left_as_they_are_or_nearly():
    rng, lines = np.random.default_rng(3), []
    for number in range(20):
        counts = counted(2_000, rng)
        counts += rng.normal(0, 3.0, counts.shape)
        lines.append(judged(noise=3.0, number=number).line(counts))
    assert sum(line.slope == 1 for line in lines) > 5
    assert np.mean([abs(line.slope - 1) for line in lines]) < 0.12
    assert np.mean([abs(line.levels).max() for line in lines]) < 0.1


def test_too_few_patients_recalibrate_nothing():
    found = judged(noise=5.0).line(counted(150, np.random.default_rng(4), slope=0.3))
    assert found.slope == 1
    assert not found.levels.any()


def test_a_line_brings_slopes_and_levels_of_others_near_those_that_are_right():
    rng = np.random.default_rng(6)
    first, later = (counted(n, rng, slope=0.5, levels=LEVELS) for n in (8_000, 200_000))
    line = judged(noise=2.0).line(first + rng.normal(0, 2.0, first.shape))
    before, after = (judged().evaluated(later, line=each, purpose="test") for each in (None, line))
    for was, found in zip(before, after, strict=True):
        assert abs(found.slope.value - 1) < abs(was.slope.value - 1) / 2
        assert abs(found.intercept.value) < max(abs(was.intercept.value) / 2, 0.05)
        assert found.brier.value < was.brier.value
        assert found.auc.value == was.auc.value


COLUMNS = {
    "age": {"kind": "number", "lower": "0", "upper": "100"},
    "sex": {"categories": ["female", "male"]},
    "site": {"categories": ["North", "South", "Islands"]},
    "stage": {"categories": ["none", "mild", "late"]},
}
SPEC = {
    "id": "m",
    "kind": "multinomial-regression",
    "table": "people",
    "outcome": "stage",
    "covariates": ["age"],
    "hold-out": "0.4",
}
MORE = {**SPEC, "recalibrate": "line", "subgroups": ["sex", "site"]}
N = 20_000


def frame():
    """Return patients of whom men, who are not told apart, are of the last class more often."""
    rng = np.random.default_rng(2)
    age, sex = rng.integers(0, 101, N), rng.choice(["female", "male"], N)
    site = rng.choice(["North", "South", "Islands"], N, p=[0.6, 0.3994, 0.0006])
    u, men = (age - 50) / 25, sex == "male"
    shares = shares_of(np.column_stack([0 * u, 0.5 * u, 1.0 * u - 1 + 1.5 * men])).cumsum(axis=1)
    stage = np.array(["none", "mild", "late"])[(rng.random(N)[:, None] > shares).sum(axis=1)]
    given = {"age": age, "sex": sex, "site": site, "stage": stage}
    return pa.table({"pid": np.arange(N)} | given)


def opened(folder):
    dataset = {
        "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"epsilon": "1000"}},
        "tables": {"people": {"rows-per-patient": 1, "columns": COLUMNS}},
    }
    return confide.open(dataset, frames={"people": frame()}, folder=folder)


def released(spec, folder, *, epsilon="20", **study):
    with opened(folder) as ws:
        return ws.release(ws.plan(spec, epsilon=epsilon, **study)).of("m")


def test_subgroups_of_classes_tell_who_is_of_one_more_often_than_predicted(tmp_path):
    by = {(e.quantity, *e.key): e for e in released(MORE, tmp_path)}
    late = "late vs the rest"
    men = by["calibration intercept", late, "sex: male"]
    women = by["calibration intercept", late, "sex: female"]
    assert women.upper < 0 < men.lower
    assert 0.5 < by["auc", late, "sex: male"].value < 0.9
    islands = by["auc", late, "site: Islands"]
    assert (islands.value, islands.flags) == (None, ("too few held out",))
    counts = [by["count", late, f"sex: {sex}"].value for sex in ("female", "male")]
    assert sum(counts) == pytest.approx(0.2 * N, rel=0.1)
    assert by["calibration slope", late, "recalibrated"].lower < 1.05


def test_recalibrated_coefficients_of_classes_are_those_that_predict_moved_by_the_line(tmp_path):
    by = {(e.quantity, *e.key): e.value for e in released(MORE, tmp_path)}
    slope = by["recalibration slope", "all classes", "recalibrated"]
    seen = 0
    for (quantity, term, pair), value in by.items():
        if quantity == "recalibrated coefficient":
            moved = slope * by["prediction coefficient", term, pair]
            if term != "age":
                moved += by["recalibration intercept", pair, "recalibrated"]
            assert value == pytest.approx(moved)
            seen += 1
    assert seen == 4


def test_a_house_rule_withholds_all_that_is_told_of_a_small_subgroup_of_classes(tmp_path):
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    found = released(MORE, tmp_path, epsilon="600", study=study)
    told = [e for e in found if e.key[-1] == "site: Islands"]
    assert len(told) == 3 * 5
    assert all(e.value is None for e in told)
    assert any(e.flags == ("small cell",) for e in told)


def test_a_plan_of_classes_without_them_has_the_digest_of_before(tmp_path):
    with opened(tmp_path) as ws:
        bare = ws.plan({**SPEC, "recalibrate": "none", "subgroups": []}, epsilon="1")
        assert bare.digest() == ws.plan(SPEC, epsilon="1").digest()
        assert "recalibrate" not in str(bare.to_json())


def test_classes_are_not_recalibrated_on_nobody():
    spec = MultinomialRegression(id="m", table="people", outcome="stage", covariates=("age",))
    with pytest.raises(ContractError, match="recalibrated on patients who are held out"):
        replace(spec, recalibrate=Recalibration.LINE)
    assert replace(spec, recalibrate=Recalibration.LINE, hold_out=Fraction(1, 5))
