"""Single parts of estimates and their pages at their edges, against what is worked out by hand."""

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
from confide.plans.estimation.intervals import Component
from confide.plans.estimation.rates import RateCell
from confide.plans.rounds.score_bins import SCORE_BINS, SHARES
from confide.statistics import AreaRate, Count, Hierarchy, Proportion, Quantiles
from confide.statistics.area_rate.spec import Denominator
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.data_quality.table import table
from confide.statistics.logistic.calibration import calibration_line
from confide.statistics.logistic.evaluation import ScoreHistogram
from confide.statistics.logistic.evaluation import _groups as groups_of_scores
from confide.statistics.logistic.predictions import Predicted
from confide.statistics.person_time.held_out_rates import Sums
from confide.statistics.person_time.held_out_rates import _groups as groups_of_rates
from confide.statistics.smr.spec import Expected
from confide.statistics.survival.analysis import LEAST_EVENTS, _enough_events
from confide.statistics.survival.shown import _solved, _tail
from confide.statistics.survival.survival import Method
from confide.statistics.survival.table import ExitTable
from confide.statistics.table_one.selected import DifferencePair

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
