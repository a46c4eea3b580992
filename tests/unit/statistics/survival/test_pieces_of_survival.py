"""Single parts of survival at their edges: open medians, scarce pairs, margins, lines of figures."""

import numpy as np
import pytest

import cohorts
from confide.drawing.words import load_words
from confide.plans.estimation.intervals import Component
from confide.report.charts.chart import figure
from confide.statistics.survival.analysis import (
    LEAST_EVENTS,
    Banded,
    _enough_events,
    survival_band,
)
from confide.statistics.survival.figure import _curve, _Frame, _Panel
from confide.statistics.survival.publish import _comparisons, _summaries, _Writer
from confide.statistics.survival.shown import _factors
from confide.statistics.survival.table import LEAST_AT_RISK, ExitTable

NOISE = Component(variance=4.0)
OPEN = "beyond the horizon"


def table_of(*arms, edges, mixing=None, noise=NOISE):
    return ExitTable(exits=np.array(arms, float), edges=np.array(edges), noise=noise, mixing=mixing)


def writer():
    return _Writer(spec=cohorts.survival_statistic(), unit="d", step=1.0, counted="persons")


def median_of(value, upper):
    """The median of an arm whose curve, and whose upper limit, are these by the end of each bin."""
    band = Banded(
        value=np.array([value]),
        lower=np.array([value]) - 0.1,
        upper=np.array([upper]),
        error=np.full((1, 2), 0.05),
    )
    table = table_of([[300, 0], [200, 0], [0, 500]], edges=(0, 10, 20))
    median, *_ = _summaries(table, band, arms=[("all",)], write=writer())
    return median


def test_a_median_is_open_where_its_upper_limit_is_above_a_half_by_the_horizon():
    assert median_of((0.7, 0.4), (0.8, 0.55)).flags == (OPEN,)
    closed = median_of((0.7, 0.4), (0.8, 0.45))
    assert (closed.flags, closed.upper) == ((), 19.0)


def test_a_median_is_open_where_the_curve_ends_before_its_upper_limit_falls_to_a_half():
    early = median_of((0.4, np.nan), (0.6, np.nan))
    assert (early.flags, early.upper) == ((OPEN,), None)


def test_a_pair_of_arms_is_scarce_by_its_own_events_and_not_by_those_of_another_arm():
    many, few = [[300, 20], [200, 10], [0, 470]], [[4, 20], [3, 10], [0, 963]]
    table = table_of(many, few, many, edges=(0, 10, 20), noise=Component(variance=0.01))
    arms = [("a",), ("b",), ("c",)]
    band = survival_band(table, level=0.95)
    found = _comparisons(table, band, arms=arms, write=writer())
    ratios = {each.key[0]: each for each in found if each.quantity == "hazard ratio"}
    assert {name: "few events" in each.flags for name, each in ratios.items()} == {
        "b vs a": True,
        "c vs a": False,
    }
    assert ratios["b vs a"].value < 0.1
    assert ratios["c vs a"].value == pytest.approx(1, abs=0.01)


def test_every_bin_has_a_margin_of_its_own():
    table = table_of(*[[[10, 5], [20, 5], [0, 960]]] * 2, edges=(0, 10, 20))
    deviation = np.sqrt(table.risk_noise())
    at_risk = np.array([1000, 985])
    least = np.maximum(LEAST_AT_RISK * deviation, 1)
    assert table.margin() == pytest.approx(np.tile((at_risk - least) / deviation, (2, 1)))


def test_enough_events_are_measured_by_the_noise_of_the_cells_of_events_alone():
    rng = np.random.default_rng(5)
    bins, ways = 2, 2
    mixing = rng.normal(size=((bins + 1) * ways, (bins + 1) * ways)) * np.arange(1, 7)[:, None]
    events = np.zeros((bins + 1, ways, 1))
    events[:-1, :-1] = 1
    plain = table_of([[1, 0], [1, 0], [0, 0]], edges=(0, 10, 20), mixing=mixing)
    least = LEAST_EVENTS * float(plain.count_deviation(of=events)[0])
    for number, is_enough in ((least * 1.001, True), (least * 0.999, False)):
        exits = [[number / 2, 50], [number / 2, 50], [0, 900]]
        table = table_of(exits, edges=(0, 10, 20), mixing=mixing)
        assert bool(_enough_events(table, np.ones(bins))) is is_enough


def test_far_from_the_threshold_what_is_shown_has_plain_quantiles_on_both_sides():
    grid, far, near = _factors(0.95)
    assert (far[-1], near[-1]) == pytest.approx((1, 1), abs=0.01)
    assert grid[0] < 1
    assert 0 <= near[0] < 0.9
    assert (np.diff(near) >= 0).all()


def charts(part):
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from charts(each)


def test_the_line_of_the_first_arm_is_whole_and_no_other_is_like_it():
    asked = cohorts.survival_statistic()
    release = cohorts.release_of(cohorts.plan_of((asked,), dataset=cohorts.hospital()))
    drawn = figure(release, asked, words=load_words("en")).chart.to_dict()
    dashes = next(
        each["strokeDash"]["scale"]["range"]
        for each in charts(drawn)
        if isinstance(each.get("strokeDash"), dict)
    )
    assert dashes[0][1] == 0
    assert all(gap > 0 for _, gap, *_ in dashes[1:])
    assert len({tuple(each) for each in dashes}) == len(dashes)


@pytest.mark.parametrize(("top", "form"), [(0.04, ".1%"), (0.05, ".0%"), (1.0, ".0%")])
def test_an_axis_of_shares_below_a_twentieth_has_decimals(top, form):
    frame = _Frame(arms=("all",), times=(0.0, 10.0), title="Time", years=False, named=(0.0, 10.0))
    panel = _Panel(title="Share", top=top, width=200, height=100)
    rows = [{"arm": "all", "time": t, "value": 0.0, "low": 0.0, "high": top} for t in (0.0, 10.0)]
    drawn = _curve(rows, frame=frame, panel=panel, most=4).to_dict()
    forms = {
        each["y"]["axis"]["format"] for each in charts(drawn) if "axis" in str(each.get("y", ""))
    }
    assert forms == {form}
