"""Single functions of statistics against sums and cases that are worked out by hand."""

import datetime as dt
import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import cohorts
from confide.drawing.asking import Asking
from confide.drawing.cells import cells_of
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.contribution import Counted
from confide.plans.estimation.intervals import Component
from confide.plans.estimation.rates import RateCell, RateNoise
from confide.plans.mechanisms import threshold
from confide.plans.rounds.score_bins import SCORE_BINS, SHARES
from confide.privacy.unit import Entity
from confide.report.charts.chart import figure
from confide.statistics import (
    AreaRate,
    Count,
    Hierarchy,
    KeySelection,
    Proportion,
    Quantiles,
    RunningCounts,
)
from confide.statistics.area_rate.spec import Denominator
from confide.statistics.count.spec import _laplace_posterior
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.data_quality.table import table
from confide.statistics.histogram.figure import _is_over_time
from confide.statistics.histogram.spec import Histogram
from confide.statistics.incidence.spec import Incidence
from confide.statistics.logistic.calibration import bounded, calibration_line
from confide.statistics.logistic.evaluation import ScoreHistogram
from confide.statistics.logistic.evaluation import _groups as groups_of_scores
from confide.statistics.logistic.predictions import Predicted
from confide.statistics.person_time.held_out_rates import Sums
from confide.statistics.person_time.held_out_rates import _groups as groups_of_rates
from confide.statistics.person_time.horizon import _life_table
from confide.statistics.shared_sections import DistributionSection, day_number
from confide.statistics.smr.spec import Expected
from confide.statistics.survival.analysis import LEAST_EVENTS, _enough_events
from confide.statistics.survival.comparison import log_hazard_ratio
from confide.statistics.survival.curves import restricted_mean
from confide.statistics.survival.shown import _solved, _tail
from confide.statistics.survival.survival import Method
from confide.statistics.survival.table import ExitTable
from confide.statistics.table_one.selected import DifferencePair
from confide.statistics.top_category.section import TopCategorySection
from confide.tables.bound_contributions import OneEvent
from confide.tables.expression import ColumnOf


@pytest.mark.parametrize("raw", [-7, 0, 1, 4, 60])
@pytest.mark.parametrize("scale", [0.7, 5.0])
def test_the_posterior_after_laplace_noise_is_that_of_the_sums(raw, scale):
    mean, most = _laplace_posterior(raw, scale=scale, level=0.95)
    counts = np.arange(2_000)
    weights = np.exp(-np.abs(raw - counts) / scale)
    weights /= weights.sum()
    assert mean == pytest.approx(float(weights @ counts), rel=1e-9)
    assert weights[counts > most].sum() <= 0.05 + 1e-12
    assert weights[counts > most - 1].sum() > 0.05 or most == max(raw, 0)


def test_a_histogram_by_one_part_of_the_calendar_alone_is_over_time():
    dataset, months = cohorts.hospital(), cohorts.months_statistic()
    assert _is_over_time(months, dataset=dataset)
    assert not _is_over_time(replace(months, by=("month", "month")), dataset=dataset)
    assert not _is_over_time(Histogram(id="sex", table="person", by=("sex",)), dataset=dataset)


def test_a_line_is_bounded_if_it_is_found_and_so_are_nearly_all_of_its_draws():
    some = np.ones(1_000)
    assert bounded(some)
    some[0] = math.nan
    assert not bounded(some)
    some[0], some[1:] = 1, math.nan
    assert not bounded(some)


def test_the_risk_of_a_life_table_counts_half_of_the_censored_of_each_interval():
    once = np.array([[2.0, 3.0, 5.0]])
    assert _life_table(once) == pytest.approx([3 / (10 - 1)])
    twice = np.array([[2.0, 3.0, 0.0, 1.0, 4.0]])
    assert _life_table(twice) == pytest.approx([1 - (1 - 3 / 9) * (1 - 1 / 5)])


def test_the_restricted_mean_of_everybody_is_the_whole_time():
    widths = np.array([3, 1, 2])
    whole = restricted_mean(np.ones(3), widths=widths)
    assert whole == pytest.approx(_days_lived(np.ones(3), widths=widths))
    falling = np.array([0.8, 0.5, 0.1])
    assert restricted_mean(falling, widths=widths) == pytest.approx(
        _days_lived(falling, widths=widths)
    )


def _days_lived(curve, *, widths):
    """Each time adds who is left after it; the events of a bin are spread evenly over its times."""
    left, total = 1.0, 0.0
    for end, width in zip(curve, widths, strict=True):
        for step in range(1, int(width) + 1):
            total += left + (end - left) * step / width
        left = end
    return total


def test_a_hazard_ratio_of_several_runs_is_that_of_each_of_them():
    one = np.array([[[10.0, 0.0], [0.0, 90.0]], [[20.0, 0.0], [0.0, 80.0]]])
    widths = np.array([1.0])
    both = log_hazard_ratio(np.stack([one, one[::-1]]), widths=widths)
    assert both.shape == (2,)
    assert both[0] == pytest.approx(float(log_hazard_ratio(one, widths=widths)))
    assert both[1] == pytest.approx(-both[0], abs=1e-6)


def test_a_day_is_counted_from_the_epoch_and_none_is_none():
    assert day_number(None) is None
    assert day_number(dt.date(1970, 1, 2)) == 1


def test_cells_of_a_distribution_are_stated_once():
    about = {"kind": "quantiles", "id": "ages", "table": "person", "column": "age"}
    assert DistributionSection(**about).stated_cells("quantiles") == {}
    assert DistributionSection(**about, bins=8).stated_cells("quantiles") == {"bins": 8}
    edges = [Fraction(0), Fraction(50)]
    assert DistributionSection(**about, edges=edges).stated_cells("quantiles") == {
        "edges": tuple(edges)
    }
    with pytest.raises(ContractError, match="quantiles 'ages' states both bins and edges"):
        DistributionSection(**about, bins=8, edges=edges).stated_cells("quantiles")


def test_the_error_of_a_top_category_is_in_what_is_counted():
    about = {"kind": "top-category", "id": "top", "table": "visit", "by": ["ward"]}
    for counted in Counted:
        section = TopCategorySection(**about, count=counted.value)
        assert section.error_unit(cohorts.hospital()) == counted.unit


def test_a_table_of_data_quality_names_its_groups_where_there_is_one_beside_all():
    asked = DataQuality(id="known", table="person", fields=("age",), by=("sex",))
    release = cohorts.release_of(cohorts.plan_of((asked,), dataset=cohorts.hospital()))
    asking = Asking(dataset=cohorts.hospital(), words=load_words("en"))
    cells = cells_of(release.of("known"))
    one = [cell for cell in cells if cell.key[2] != "male"]
    assert [row[1] for row in table(asked, cells, asking).rows] == ["female", "male", "Overall"]
    assert [row[1] for row in table(asked, one, asking).rows] == ["female", "Overall"]


def test_a_rate_is_of_a_small_base_below_ten_deviations_of_its_noise():
    asked = next(each for each in cohorts.rates() if isinstance(each, Incidence))
    noise = (RateNoise(noise=Component(variance=4.0, step=1.0), events=0.0, base=1.0),)
    small = [
        asked._found(RateCell(events=3.0, base=base, noise=noise)).small
        for base in (19.9, 20.0, 21.0)
    ]
    assert small == [True, False, False]


def test_who_leaves_several_times_is_refused_unless_each_event_is_protected():
    asked, dataset = replace(cohorts.survival_statistic(), table="visit"), cohorts.hospital()
    axes = (ColumnOf(table="visit", column="days"),)
    with pytest.raises(ContractError, match="could leave several times"):
        asked._bounds(axes, dataset=dataset)
    events = replace(dataset, unit=replace(dataset.unit, entity=Entity.EVENT))
    assert asked._bounds(axes, dataset=events) == OneEvent()


HOSPITAL = cohorts.hospital()
ENDS = [str(edge) for edge in range(SCORE_BINS + 1)]


def as_few(many):
    """First and last bins of the smallest groups of which ``many`` is true; the last one longer."""
    found, start = [], 0
    for last in range(SCORE_BINS):
        if many(range(start, last + 1)):
            found.append((start, last))
            start = last + 1
    return [*found[:-1], (found[-1][0], SCORE_BINS - 1)]


@pytest.mark.parametrize("noise", [0.5, 9.0, 14.0])
def test_groups_of_scores_have_ten_deviations_of_noise_and_twenty_patients(noise):
    counts = np.full((2, SCORE_BINS), 1000 / 2 / SCORE_BINS)
    found = groups_of_scores(ScoreHistogram(counts=counts, noise=noise), ends=ENDS)
    assert len(found) > 1
    assert found == as_few(
        lambda bins: (
            1000 * sum(SHARES[k] for k in bins) >= max(20, 10 * noise * math.sqrt(2 * len(bins)))
        )
    )


@pytest.mark.parametrize("noise", [0.5, 9.0, 14.0])
def test_groups_of_rates_have_six_deviations_of_noise_and_twenty_events(noise):
    time, rate = np.full(SCORE_BINS, 5000 / SCORE_BINS), np.full(SCORE_BINS, 0.1)
    sums = Sums(events=time * rate, time=time, noise=noise, dispersion=1.5)
    found = groups_of_rates(sums, rate=rate)
    assert len(found) > 1
    assert found == as_few(
        lambda bins: 500 * sum(SHARES[k] for k in bins) >= max(30, 6 * noise * math.sqrt(len(bins)))
    )


def test_a_calibration_line_weighs_bins_by_the_noise_of_patients_and_of_counts():
    eta = np.linspace(-3.5, 1.0, SCORE_BINS)[:, None]
    told = Predicted(eta=eta, edges=np.zeros(SCORE_BINS - 1), alike=False)
    rate, noise = told.risk, 40.0
    number = 4_000 * SHARES
    having = number * np.where(np.arange(SCORE_BINS) % 2, 0.7, 1.2) * rate
    a, b = calibration_line(np.array([[number - having, having]]), told=told, noise=noise)
    variance = number * rate * (1 - rate) + noise**2 * (rate**2 + (1 - rate) ** 2)
    risk = 1 / (1 + np.exp(-(a[0] + b[0] * eta[:, 0])))
    off = (having - number * risk) * number / variance * risk * (1 - risk)
    assert [off.sum(), off @ eta[:, 0]] == pytest.approx([0, 0], abs=1e-6)


def test_a_group_of_whom_no_event_is_expected_has_limits_without_the_curve_of_a_sample():
    def limits(base):
        cell = RateCell(events=3.0, base=base, noise=())
        return Expected(cell=cell, curve=0.2).limits(at=10.0, level=0.95)

    assert limits(0.0) == limits(-1.0) == pytest.approx(limits(1e9))
    assert limits(0.5)[1] < limits(0.0)[1] - 0.05


def test_the_pair_of_a_difference_is_drawn_to_the_likeliest_variance():
    pair = DifferencePair(
        difference=0.03, pooled=0.04, shown=0.01, of_difference=2e-4, of_pooled=3e-5, both=4e-5
    )
    roots = np.linspace(0.05, 0.6, 200_001)
    inverse = np.linalg.inv([[2e-4, 4e-5], [4e-5, 3e-5]])
    for d in (-1.0, 0.4, 1.5):
        off = np.stack([0.03 - d * roots, 0.04 - roots**2])
        far = np.einsum("ik,ij,jk->k", off, inverse, off)
        assert pair._likeliest(d, least=0.05) == pytest.approx(roots[far.argmin()], abs=1e-4)


@pytest.mark.parametrize(("share", "d"), [(0.025, 1.0), (0.5, 0.3), (0.975, 2.0)])
def test_a_quantile_of_what_is_shown_is_where_the_share_beyond_it_is_asked(share, d):
    u, law = _solved(share, d), NormalDist()
    assert law.cdf(-u) / law.cdf(d - u) == pytest.approx(share, rel=1e-9)
    assert _tail(1.3) == pytest.approx(law.cdf(-1.3))


def exits(*arms):
    """Arms with so many events in the only bin, in which and after which many are censored."""
    rows = [[[events, 50.0], [0.0, 900.0]] for events in arms]
    return ExitTable(exits=np.array(rows), edges=np.array([0, 10]), noise=Component(variance=4.0))


def test_each_arm_of_a_ratio_has_enough_events():
    enough = LEAST_EVENTS * 2
    kept = np.ones(1)
    for arms, are_so in (((enough, enough), True), ((enough, enough - 1), False)):
        assert bool(_enough_events(exits(*arms), kept)) is are_so


def test_each_time_point_has_a_question_of_its_own():
    asked = replace(cohorts.survival_statistic(), method=Method.PER_TIME_POINT, bins=3)
    edges = asked.canonical_edges(HOSPITAL)
    found = asked.questions(HOSPITAL)
    assert [each.name for each in found] == ["before-1", "before-2", "before-3"]
    cuts = [each.aggregate.axes[-2].edges for each in found]
    assert [(first, cut) for first, cut, _ in cuts] == [(edges[0], edge) for edge in edges[1:]]
    assert len({last for _, _, last in cuts}) == 1


def test_a_time_of_one_step_is_one_bin():
    asked = cohorts.survival_statistic()
    of = asked.time_domain(HOSPITAL)
    step = replace(asked, until=Fraction(of.physical(of.lower + 1)))
    assert step.canonical_edges(HOSPITAL) == (of.lower, of.lower + 1)


def test_bins_end_by_the_upper_bound_of_the_time():
    asked = cohorts.survival_statistic()
    last = asked.time_domain(HOSPITAL).upper
    edges = (Fraction(0), Fraction(100), Fraction(last))
    assert replace(asked, edges=edges).canonical_edges(HOSPITAL) == (0, 100, last)
    with pytest.raises(ContractError, match="expected time bins that rise"):
        replace(asked, edges=(*edges[:2], Fraction(last + 1))).canonical_edges(HOSPITAL)


def test_shares_of_levels_are_above_nothing():
    with pytest.raises(ContractError, match="expected shares > 0"):
        Hierarchy(id="h", table="person", spine="city", shares=(Fraction(1), Fraction(0)))


@pytest.mark.parametrize("at", [(Fraction(1, 2), Fraction(1)), (Fraction(0),), ()])
def test_every_quantile_is_within_zero_and_one(at):
    with pytest.raises(ContractError, match="strictly between 0 and 1"):
        Quantiles(id="q", table="person", column="age", at=at)


def test_an_area_rate_of_rows_says_where_its_sizes_are_from():
    def told(**of):
        return AreaRate(id="r", table="person", spine="city", of=cohorts.HAS_DIABETES, per=1, **of)

    def notes(asked):
        return " ".join(asked._notes(500, weights=()))

    of_rows = told(denominator=Denominator.ROWS)
    assert "declared populations" in notes(of_rows)
    assert "declared populations" not in notes(replace(of_rows, expect=Fraction(90)))
    assert "declared populations" not in notes(told())


def test_the_error_of_sums_of_published_cells_is_that_of_the_noisiest():
    errors = [Component(variance=of) for of in (1.0, 1.0, 100.0, 100.0)]
    share = Proportion(
        id="p", table="person", by=("sex",), of=cohorts.HAS_DIABETES, expect=Fraction(400)
    )
    both, noisier = (
        share.forecast_sums(some, dataset=HOSPITAL, level=Fraction(19, 20))
        for some in (errors, errors[2:])
    )
    assert both == noisier
    assert 0 < both.half_width < 1
    count = Count(id="c", table="person")
    told = count.forecast_sums(errors, dataset=HOSPITAL, level=Fraction(19, 20))
    assert told.half_width == pytest.approx(10 * 1.959964, abs=0.6)


@pytest.mark.parametrize(("by", "columns"), [((), 1), (("sex",), 2)])
def test_a_table_of_data_quality_has_the_names_of_fields_and_groups_in_front(by, columns):
    asked = DataQuality(id="known", table="person", fields=("age",), by=by)
    release = cohorts.release_of(cohorts.plan_of((asked,), dataset=HOSPITAL))
    asking = Asking(dataset=HOSPITAL, words=load_words("en"))
    shown = table(asked, cells_of(release.of("known")), asking)
    assert shown.text_columns == columns
    assert len(shown.head) == len(shown.rows[0]) == columns + shown.numbers


def test_a_selection_of_keys_tells_how_likely_a_key_of_its_threshold_and_of_twice_as_many_is():
    asked = next(each for each in cohorts.every_statistic() if isinstance(each, KeySelection))
    (measurement,) = cohorts.plan_of((asked,), dataset=HOSPITAL).measurements
    rule = threshold(measurement.mechanism)
    for law in (rule, replace(rule, delta=Fraction(1, 10))):
        told = asked.forecast({"keys": law}, dataset=HOSPITAL, level=Fraction(19, 20)).notes
        tau = law.threshold()
        assert told[1:] == tuple(
            f"a key of {times * tau} patients appears with probability "
            f"{law.chance_of_release(times * tau):.{times + 1}f}"
            for times in (1, 2)
        )
    assert law.chance_of_release(2 * tau) < law.chance_of_release(3 * tau) - 0.001


def test_a_histogram_of_two_groupings_has_a_figure():
    both = Histogram(id="both", table="person", by=("sex", "age_band"))
    release = cohorts.release_of(cohorts.plan_of((both,), dataset=HOSPITAL))
    drawn = figure(release, both, words=load_words("en"))
    assert drawn is not None
    assert drawn.title in str(drawn.chart.to_dict()["title"])


def test_of_many_running_counts_those_that_are_largest_at_the_end_are_drawn():
    asked = next(each for each in cohorts.every_statistic() if isinstance(each, RunningCounts))
    release = cohorts.release_of(cohorts.plan_of((asked,), dataset=HOSPITAL))
    names = [f"ward {number}" for number in range(9)]
    found = tuple(
        replace(each, key=(name, *each.key), value=1_000.0 * (place + 1))
        for place, name in enumerate(names)
        for each in release.estimates
    )
    drawn = figure(replace(release, estimates=found), asked, words=load_words("en"))
    shown = {name for name in names if name in str(drawn.chart.to_dict())}
    assert shown == set(names[-5:])
