"""Rates and hazards are put right on half of those held out, and judged, by subgroups too."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.errors import ContractError
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study
from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.held_out import AS_PREDICTED, CalibrationLine, Recalibration
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.statistics import HazardRegression, PoissonRegression
from confide.statistics.person_time.held_out_rates import (
    Sums,
    evaluated_rates,
    recalibrated_rates,
)
from confide.statistics.person_time.judged_hazards import hazard_sums
from confide.tables.aggregates.descent_terms import SCORE_BINS
from drawn_rates import LENGTH, MOST, THETA, summed
from held_out_scores import simulation
from models import ILL

LINE, INTERCEPT = Recalibration.LINE, Recalibration.INTERCEPT


def line_of(sums, *, noise=0.0, kind=LINE, number=0):
    found = Sums(events=sums[0], time=sums[1], noise=noise, dispersion=1 / MOST)
    return recalibrated_rates(found, theta=THETA, kind=kind, simulation=simulation(number))


def judged(sums, *, line, noise=0.0, number=0):
    found = Sums(events=sums[0], time=sums[1], noise=noise, dispersion=1 / MOST)
    given = {"theta": THETA, "level": 0.95, "simulation": simulation(number)}
    return evaluated_rates(found, line=line, **given)


def test_the_line_of_many_events_is_the_true_one():
    sums = summed(300_000, np.random.default_rng(1), slope=0.6, shift=0.4)[0]
    found = line_of(sums)
    assert found.slope == pytest.approx(0.6, abs=0.03)
    assert found.intercept == pytest.approx(0.4 + (1 - 0.6) * THETA[0], abs=0.1)
    only = line_of(sums, kind=INTERCEPT)
    assert only.slope == 1
    expected = 0.4 + (0.6**2 - 1) * LENGTH**2 / 2
    assert only.intercept == pytest.approx(expected, abs=0.03)
    assert line_of(sums, kind=Recalibration.NONE) == AS_PREDICTED


def test_rates_that_are_right_are_left_as_they_are_or_nearly():
    rng, lines = np.random.default_rng(3), []
    for number in range(30):
        sums = summed(3_000, rng)[0]
        sums = sums + rng.normal(0, 1.0, sums.shape)
        lines.append(line_of(sums, noise=1.0, number=number))
    assert sum(line == AS_PREDICTED for line in lines) > 10
    assert np.mean([abs(line.slope - 1) for line in lines]) < 0.12


def test_too_few_events_recalibrate_nothing():
    assert line_of(summed(60, np.random.default_rng(4), slope=0.3)[0], noise=5.0) == AS_PREDICTED


def test_a_line_brings_ratio_and_slope_of_others_near_one_and_ranks_as_before():
    rng = np.random.default_rng(6)
    first, later = (summed(n, rng, slope=0.5, shift=0.5)[0] for n in (8_000, 200_000))
    line = line_of(first + rng.normal(0, 1.0, first.shape), noise=1.0)
    before, after = judged(later, line=AS_PREDICTED), judged(later, line=line)
    assert abs(after.slope.value - 1) < abs(before.slope.value - 1) / 2
    assert abs(after.ratio.value - 1) < abs(before.ratio.value - 1) / 2
    assert after.concordance.value == pytest.approx(before.concordance.value, abs=0.005)


@pytest.mark.audit
def test_intervals_of_rates_after_a_line_hold_the_truth_in_93_percent_of_a_thousand_runs():
    rng, line = np.random.default_rng(7), CalibrationLine(intercept=-0.3, slope=0.8)
    truth = judged(summed(1_000_000, rng, slope=0.7)[0], line=line)
    held = []
    for number in range(1_000):
        sums = summed(4_000, rng, slope=0.7)[0]
        sums = sums + rng.normal(0, 1.5, sums.shape)
        found = judged(sums, line=line, noise=1.5, number=number)
        for name in ("slope", "ratio"):
            one = getattr(found, name)
            held.append(one.lower <= getattr(truth, name).value <= one.upper)
    assert np.mean(held) > 0.93


def exits_of(rng, n, *, hazards, rate):
    """Return exits of one bin by interval and outcome, of follow-up that is cut at random."""
    cuts = np.cumsum(hazards) * rate
    events, leave = rng.exponential(1, n), rng.uniform(0, 2, n) * cuts[-1]
    at = np.searchsorted(cuts, np.minimum(events, leave))
    found = np.bincount(
        np.where(at == len(hazards), 2 * len(hazards), 2 * at + (events < leave)),
        minlength=2 * len(hazards) + 1,
    )
    return found[:, None].astype(float)


@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_events_over_the_hazard_lived_through_are_the_rate(rate):
    hazards = np.array([0.08, 0.1, 0.06, 0.09])
    exits = exits_of(np.random.default_rng(8), 400_000, hazards=hazards, rate=rate)
    found = hazard_sums(exits, hazards=hazards, noise=3.0)
    assert found.events[0] / found.time[0] == pytest.approx(rate, rel=0.02)
    weights = np.append(np.repeat([0.04, 0.13, 0.21, 0.285], 2), 0.33)
    assert (found.noise, found.time_noise) == pytest.approx((6.0, 3 * np.linalg.norm(weights)))


HAZARDS = np.array([0.1, 0.08, 0.12, 0.05])
RISKS = np.concatenate([[0.0], THETA[1:]])


def followed(n, rng, *, slope=1.0, shift=0.0):
    """Return exits by interval, outcome and bin of patients whose hazards are known."""
    eta = LENGTH * rng.normal(size=n)
    bins = np.searchsorted(np.array(score_edges(RISKS)) / STEPS - FARTHEST, eta, side="right")
    cuts = np.cumsum(HAZARDS)
    reach = rng.exponential(1, n) * np.exp(-shift - slope * eta)
    leave = rng.uniform(0, 2, n) * cuts[-1]
    at = np.searchsorted(cuts, np.minimum(reach, leave))
    ended = np.where(at == len(cuts), 2 * len(cuts), 2 * at + (reach < leave))
    size = (2 * len(cuts) + 1) * SCORE_BINS
    return np.bincount(ended * SCORE_BINS + bins, minlength=size).reshape(-1, SCORE_BINS)


def judged_hazards(exits, *, noise, number=0, line=AS_PREDICTED):
    given = {"theta": RISKS, "level": 0.95, "simulation": simulation(number)}
    return evaluated_rates(hazard_sums(exits, hazards=HAZARDS, noise=noise), line=line, **given)


def test_hazards_that_are_too_far_apart_or_too_low_are_told_and_put_right():
    exits = followed(300_000, np.random.default_rng(9), slope=0.6, shift=0.3)
    before = judged_hazards(exits, noise=0.0)
    assert before.slope.value == pytest.approx(0.6, abs=0.05)
    sums = hazard_sums(exits, hazards=HAZARDS, noise=0.0)
    line = recalibrated_rates(sums, theta=RISKS, kind=LINE, simulation=simulation())
    assert line.slope == pytest.approx(0.6, abs=0.05)
    assert line.intercept == pytest.approx(0.3, abs=0.05)
    after = judged_hazards(exits, noise=0.0, line=line)
    assert (after.ratio.value, after.slope.value) == pytest.approx((1, 1), abs=0.03)


def held_by_hazards(*, runs, n, noise, slope=1.0):
    """Return how often intervals of ratio and slope hold what very many patients say."""
    rng, held = np.random.default_rng(10), {"ratio": [], "slope": []}
    truth = judged_hazards(followed(1_000_000, rng, slope=slope), noise=0.0)
    for number in range(runs):
        exits = followed(n, rng, slope=slope)
        found = judged_hazards(
            exits + rng.normal(0, noise, exits.shape), noise=noise, number=number
        )
        for name, each in held.items():
            one = getattr(found, name)
            if found.usable and one is not None:
                each.append(one.lower <= getattr(truth, name).value <= one.upper)
    return {name: float(np.mean(each)) for name, each in held.items()}


def test_intervals_of_held_out_hazards_cover():
    found = held_by_hazards(runs=60, n=4_000, noise=3.0)
    assert min(found.values()) > 0.86, found


@pytest.mark.audit
@pytest.mark.parametrize(("noise", "slope"), [(0.5, 1.0), (3.0, 1.0), (6.0, 0.6)])
def test_intervals_of_held_out_hazards_hold_the_truth_in_93_percent_of_a_thousand_runs(
    noise, slope
):
    found = held_by_hazards(runs=1_000, n=4_000, noise=noise, slope=slope)
    assert min(found.values()) > 0.93, found


COUNTED = PoissonRegression(id="m", table="people", events="visits", covariates=("age",))
FOLLOWED = HazardRegression(
    id="m",
    table="people",
    time="followed",
    of=ILL,
    covariates=("age",),
    edges=(Fraction(0), Fraction(365)),
)


@pytest.mark.parametrize("spec", [COUNTED, FOLLOWED], ids=["counts", "hazards"])
def test_recalibration_without_patients_held_out_and_a_column_twice_are_refused(spec):
    with pytest.raises(ContractError, match="recalibrated on patients who are held out"):
        replace(spec, recalibrate=LINE)
    with pytest.raises(ContractError, match="twice"):
        replace(spec, hold_out=Fraction(1, 5), subgroups=("sex", "sex"))
    assert replace(spec, hold_out=Fraction(1, 5), recalibrate=LINE)


N = 30_000
COLUMNS = {
    "age": {"kind": "number", "lower": "0", "upper": "100"},
    "sex": {"categories": ["female", "male"]},
    "site": {"categories": ["North", "South", "Islands"]},
    "visits": {"kind": "number", "lower": "0", "upper": "6"},
    "watched": {"kind": "number", "lower": "30", "upper": "365", "unit": "d"},
    "days": {"kind": "number", "lower": "0", "upper": "365", "unit": "d"},
    "died": {"categories": ["no", "yes"]},
}
COUNTS = {
    "id": "m",
    "kind": "poisson-regression",
    "events": "visits",
    "covariates": ["age"],
    "method": "rounds",
}
TIMED = {**COUNTS, "time": "watched"}
DEATHS = {
    "id": "m",
    "kind": "hazard-regression",
    "time": "days",
    "of": {"died": ["yes"]},
    "covariates": ["age"],
    "edges": [0, 90, 180, 270, 360],
    "method": "rounds",
}
MORE = {"hold-out": "0.4", "subgroups": ["sex", "site"], "recalibrate": "line"}
DATASET = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "1000"}},
    "tables": {"people": {"rows-per-patient": 1, "columns": COLUMNS}},
}


RULED = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))


def frame():
    """Return patients of whom men, who are not told apart, have twice the events."""
    rng = np.random.default_rng(2)
    age, sex = rng.integers(0, 101, N), rng.choice(["female", "male"], N)
    site = rng.choice(["North", "South", "Islands"], N, p=[0.6, 0.3996, 0.0004])
    rate = np.exp((age - 50) / 40 - 1) * np.where(sex == "male", 2, 1) / 1.5
    watched = rng.integers(30, 366, N)
    reach = rng.exponential(1, N) / rate
    days = np.minimum(reach * 365, np.minimum(365, rng.uniform(0, 900, N)))
    return pa.table(
        {
            "pid": np.arange(N),
            "age": age,
            "sex": sex,
            "site": site,
            "visits": np.minimum(rng.poisson(rate * watched / 365), 6),
            "watched": watched,
            "days": np.floor(days).astype(int),
            "died": np.where(reach * 365 <= days, "yes", "no"),
        }
    )


def released(spec, folder, *, epsilon="8", **study):
    with confide.open(DATASET, frames={"people": frame()}, folder=folder) as ws:
        asked = {"table": "people", **spec}
        return ws.release(ws.plan(asked, epsilon=epsilon, **study))


def by_key(release):
    return {(e.quantity, e.key[0]): e for e in release.of("m")}


@pytest.mark.parametrize("spec", [COUNTS, TIMED, DEATHS], ids=["counts", "timed", "hazards"])
def test_subgroups_tell_who_has_more_events_than_predicted(spec, tmp_path):
    release = released({**spec, **MORE}, tmp_path)
    found = by_key(release)
    for sex, true in (("female", 1 / 1.5), ("male", 2 / 1.5)):
        ratio = found["observed to expected", f"sex: {sex}"]
        assert ratio.value == pytest.approx(true, rel=0.35)
        assert ratio.lower < ratio.value < ratio.upper
        assert 0.5 < found["concordance", f"sex: {sex}"].value < 0.8
        slope = found["calibration slope", f"sex: {sex}"]
        assert slope.value is None or (slope.lower < 1.3 and slope.upper > 0.7)  # noise of the fit
    islands = found["observed to expected", "site: Islands"]
    assert (islands.value, islands.flags) == (None, ("too few held out",))
    for quantity in ("observed to expected", "calibration slope"):
        for key in ("held out", "recalibrated"):
            one = found[quantity, key]
            assert one.lower < 1.2  # intervals of 95 % miss 1 now and then
            assert one.upper > 0.83


@pytest.mark.parametrize("spec", [COUNTS, TIMED, DEATHS], ids=["counts", "timed", "hazards"])
def test_recalibrated_coefficients_are_those_that_predict_moved_by_the_line(spec, tmp_path):
    release = released({**spec, **MORE, "subgroups": []}, tmp_path)
    found, slopes = by_key(release), 0
    a, b = (found[f"recalibration {n}", "recalibrated"].value for n in ("intercept", "slope"))
    for (quantity, key), one in found.items():
        if quantity == "recalibrated coefficient":
            before = found["prediction coefficient", key].value
            slopes += key == "age"
            level = b if spec["kind"] == "poisson-regression" or key == "age" else 1
            moved = b * before + (0 if key == "age" else a)
            assert level
            assert one.value == pytest.approx(moved)
    assert slopes == 1
    assert not any(": " in key for _, key in found if key.startswith(("sex", "site")))


@pytest.mark.parametrize("spec", [COUNTS, TIMED, DEATHS], ids=["counts", "timed", "hazards"])
def test_a_house_rule_withholds_all_that_is_told_of_a_small_subgroup(spec, tmp_path):
    release = released({**spec, **MORE}, tmp_path, epsilon="600", study=RULED)
    found = by_key(release)
    told = {q: e for (q, key), e in found.items() if key == "site: Islands"}
    assert {"observed to expected", "concordance"} <= told.keys()
    assert all(e.value is None for e in told.values())
    assert any(e.flags == ("small cell",) for e in told.values())
    assert found["observed to expected", "site: North"].value is not None


def test_plans_without_them_have_the_digests_of_before(tmp_path):
    with confide.open(DATASET, frames={"people": frame()}, folder=tmp_path) as ws:
        for spec in (COUNTS, DEATHS):
            plain = {"table": "people", **spec, "hold-out": "0.4"}
            bare = ws.plan({**plain, "recalibrate": "none", "subgroups": []}, epsilon="1")
            assert bare.digest() == ws.plan(plain, epsilon="1").digest()
            assert "recalibrate" not in str(bare.to_json())
            moved = ws.plan({**plain, "recalibrate": "line"}, epsilon="1")
            assert moved.digest() != bare.digest()
