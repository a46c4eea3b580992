"""With the noise off: curves and tests are those of scikit-survival, lifelines and statsmodels.

Expected numbers are from scikit-survival 0.28.0, lifelines 0.30.3 and statsmodels 0.15.0; each test
quotes the call.  ``t``, ``e``, ``g`` are times, relapse and treatment of the published trial in
``survival_worlds``; a bin is one week, so nothing is grouped.
"""

import numpy as np
import pytest

from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.plans.estimation.intervals import Component
from confide.statistics.survival.comparison import (
    concordance,
    log_hazard_ratio,
    log_rank_covariance,
    log_rank_scores,
    quadratic_form,
)
from confide.statistics.survival.curves import (
    at_risk,
    cumulative_hazard,
    cumulative_incidence,
    falling,
    reached,
    restricted_mean,
    survival,
)
from confide.statistics.survival.derivatives import survival_slopes
from confide.statistics.survival.table import exit_mixing, mixed
from confide.statistics.survival.uncertainty import noise_slopes, propagate
from survival_worlds import ON_TREATMENT, RELAPSED, TIMES, table_of

WEEKS = 36
WAYS = np.where(RELAPSED, 0, 1)
ARMS = np.stack([table_of(TIMES[g], WAYS[g], bins=WEEKS) for g in (~ON_TREATMENT, ON_TREATMENT)])
TREATED = ARMS[1]


def log_rank(exits):
    return float(quadratic_form(log_rank_scores(exits), log_rank_covariance(exits)))


def test_kaplan_meier_is_that_of_scikit_survival():
    # sksurv.nonparametric.kaplan_meier_estimator(e[g == 1], t[g == 1])
    expected = {
        6: 0.8571428571428572,
        7: 0.8067226890756303,
        9: 0.8067226890756303,
        10: 0.7529411764705882,
        13: 0.6901960784313725,
        16: 0.6274509803921569,
        20: 0.6274509803921569,
        22: 0.5378151260504203,
        23: 0.44817927170868355,
        35: 0.44817927170868355,
    }
    curve = survival(TREATED)
    for week, share in expected.items():
        assert curve[week] == pytest.approx(share, abs=1e-12)


def test_nelson_aalen_is_that_of_scikit_survival():
    # sksurv.nonparametric.nelson_aalen_estimator(e[g == 1], t[g == 1])
    expected = {6: 0.14285714285714285, 10: 0.2683473389355742, 16: 0.4425897631779985}
    expected |= {22: 0.5854469060351413, 35: 0.7521135727018079}
    hazard = cumulative_hazard(TREATED)
    for week, value in expected.items():
        assert hazard[week] == pytest.approx(value, abs=1e-12)


def test_aalen_johansen_is_that_of_scikit_survival():
    # cause = np.where(e, np.where(t % 2 == 0, 1, 2), 0)
    # sksurv.nonparametric.cumulative_incidence_competing_risks(cause, t)
    expected = {
        1: (0.0, 0.047619047619047616),
        5: (0.09523809523809523, 0.11904761904761904),
        8: (0.26518883415435135, 0.14367816091954022),
        13: (0.3477325962868905, 0.22594995019497052),
        23: (0.45194352936910226, 0.3585820468450582),
    }
    ways = np.where(RELAPSED, TIMES % 2, 2)
    exits = table_of(TIMES, ways, bins=WEEKS, causes=2)
    found = cumulative_incidence(exits)
    for week, pair in expected.items():
        assert found[week] == pytest.approx(pair, abs=1e-12)
    assert found.sum(axis=-1) == pytest.approx(1 - survival(exits), abs=1e-12)


def test_restricted_means_and_medians_are_those_of_lifelines():
    # k = lifelines.KaplanMeierFitter().fit(t[g == a], e[g == a]); k.median_survival_time_
    # lifelines.utils.restricted_mean_survival_time(k, t=20)
    for arm, mean, median in ((0, 8.428571428571429, 8), (1, 16.116526610644254, 23)):
        curve = survival(ARMS[arm])
        assert restricted_mean(curve[:20], widths=np.ones(20)) == pytest.approx(mean, abs=1e-12)
        assert reached(curve, share=0.5, edges=np.arange(WEEKS + 1)) == median


def test_the_log_rank_test_is_that_of_scikit_survival():
    # sksurv.compare.compare_survival(y, g) with y = (e, t)
    assert log_rank(ARMS) == pytest.approx(16.79294098921654, abs=1e-9)
    tail = chi_squared_tail(np.array(16.79294098921654), degrees=1)
    assert tail == pytest.approx(4.168809109334532e-05, abs=1e-9)


def test_the_log_rank_test_of_three_arms_is_that_of_scikit_survival():
    # g3 = np.r_[np.arange(21) % 2, np.full(21, 2)]; sksurv.compare.compare_survival(y, g3)
    three = np.r_[np.arange(21) % 2, np.full(21, 2)]
    exits = np.stack([table_of(TIMES[three == a], WAYS[three == a], bins=WEEKS) for a in range(3)])
    assert log_rank(exits) == pytest.approx(16.796315412375126, abs=1e-9)
    tail = chi_squared_tail(np.array(16.796315412375126), degrees=2)
    assert tail == pytest.approx(0.00022528197769832933, abs=1e-9)


def test_the_c_statistic_of_arms_is_that_of_scikit_survival():
    # sksurv.metrics.concordance_index_censored(e, t, 1 - g)[0]
    assert concordance(ARMS[::-1], widths=np.ones(WEEKS)) == pytest.approx(
        0.6900420757363254, abs=1e-12
    )


def test_the_hazard_ratio_is_that_of_a_poisson_regression():
    # events D and time P of 5 bins of 8 weeks, leavers counting half of their bin:
    # statsmodels.api.GLM(D, bins and arm, family=Poisson(), offset=np.log(P)).fit(tol=1e-14)
    place = np.minimum(TIMES // 8, 5)
    arms = [table_of(place[g], WAYS[g], bins=5) for g in (~ON_TREATMENT, ON_TREATMENT)]
    found = np.exp(log_hazard_ratio(np.stack(arms), widths=np.full(5, 8.0)))
    assert found == pytest.approx(0.222601615026378, abs=1e-9)


def test_the_sampling_variance_is_greenwoods():
    def greenwood(exits):
        risk, events = at_risk(exits)[:-1], exits[:-1, 0]
        return survival(exits) ** 2 * np.cumsum(events / (risk * (risk - events)))

    quiet = Component(variance=0.0)
    of = propagate(survival_slopes(TREATED), TREATED, axes=2, noise=quiet, mixing=None)
    assert of.sampling == pytest.approx(greenwood(TREATED), abs=1e-12)
    assert of.noise == pytest.approx(np.zeros(WEEKS))


def test_wide_bins_give_the_area_of_events_spread_evenly():
    # one bin of w times loses (1 − s)/w at each: Σ (1 − (1 − s)·i/w) over i = 1..w
    width, end = 30, 0.4
    each = 1 - (1 - end) * np.arange(1, width + 1) / width
    found = restricted_mean(np.array([end]), widths=np.array([width]))
    assert found == pytest.approx(each.sum(), abs=1e-12)


def test_a_falling_sequence_is_the_nearest_one():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(20, 9)) - np.arange(9) * 0.3
    found = falling(values)
    assert np.all(np.diff(found, axis=-1) <= 1e-12)
    for _ in range(200):  # no other non-increasing sequence is nearer
        other = np.sort(found + rng.normal(scale=0.1, size=found.shape), axis=-1)[:, ::-1]
        nearer = ((other - values) ** 2).sum(axis=-1) < ((found - values) ** 2).sum(axis=-1)
        assert not nearer.any()


def test_the_tail_of_chi_squared_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    for freedom in range(1, 9):
        for value in (0.0, 0.3, 2.0, 9.0, 40.0):
            expected = stats.chi2.sf(value, freedom)
            assert chi_squared_tail(np.array(value), degrees=freedom) == pytest.approx(
                expected, rel=1e-10
            )


def test_noise_of_counts_that_are_each_in_one_cell_is_felt_as_by_their_matrix():
    part_of = exit_mixing([1, 0, 1], bins=3, causes=1)
    matrix = (np.arange(8)[:, None] == part_of).astype(float)
    slopes = np.random.default_rng(3).normal(size=(2 * 8, 5))
    by_matrix = noise_slopes(slopes, mixing=matrix)
    assert np.allclose(noise_slopes(slopes, mixing=part_of), by_matrix, rtol=0, atol=1e-15)
    counts = np.random.default_rng(4).normal(size=(2, part_of.size))
    assert np.allclose(mixed(counts, part_of), counts @ matrix.T, rtol=0, atol=1e-12)
