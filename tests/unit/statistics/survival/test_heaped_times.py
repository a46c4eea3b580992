"""Times that are heaped inside bins, as dates of visits are: who is censored there was there, or
was not, for the events of the bin."""

import numpy as np
import pytest

from confide.statistics.survival.analysis import incidence_band, survival_band
from confide.statistics.survival.heaped import further
from survival_worlds import noisy_table

BINS, LEVEL = 8, 0.95
EVENT, LOST, FIRST_CAUSE = 0.1, 0.1, 0.7
PATIENTS, RUNS = 6000, 800


def heaped(*, lost_first: bool):
    """Exits of two causes, (runs, arms, bins + 1, 3): one time a bin, who is lost leaves first."""
    rng = np.random.default_rng(4)
    exits = np.zeros((RUNS, 1, BINS + 1, 3))
    there = np.full(RUNS, PATIENTS)
    for place in range(BINS):
        lost = rng.binomial(there, LOST) if lost_first else 0
        events = rng.binomial(there - lost, EVENT)
        if not lost_first:
            lost = rng.binomial(there - events, LOST)
        first = rng.binomial(events, FIRST_CAUSE)
        exits[:, 0, place] = np.stack([first, events - first, lost], axis=-1)
        there = there - events - lost
    exits[:, 0, -1, -1] = there
    return exits


@pytest.mark.parametrize(
    ("lost_first", "least"),
    [pytest.param(False, 0.93, id="events first"), pytest.param(True, 0.92, id="lost first")],
)
def test_curves_of_heaped_times_hold_the_truth_whoever_leaves_first(lost_first, least):
    """Of those who are lost before all events of a bin, fewer are at risk than the error says."""
    table = noisy_table(heaped(lost_first=lost_first), scale=1, seed=6)
    alive = (1 - EVENT) ** np.arange(1, BINS + 1)
    curve = survival_band(table, level=LEVEL)
    first = incidence_band(table, cause=0, level=LEVEL)
    for band, true in ((curve, alive), (first, FIRST_CAUSE * (1 - alive))):
        held = ((band.lower <= true) & (true <= band.upper)).mean(axis=0)
        assert held.min() >= least
    told = np.abs(curve.value - alive).mean(axis=0)
    assert told[0, -1] > 1.5 * curve.error.mean(axis=0)[0, -1]  # such times are far off


def test_where_a_bin_is_one_time_nothing_is_further():
    exits = heaped(lost_first=False)[:1]
    table = noisy_table(exits, scale=0, seed=1, step=1)
    band = survival_band(table, level=LEVEL)
    q2, number = 1.959964**2, PATIENTS
    share = 1 - exits[0, 0, 0, :2].sum() / PATIENTS
    middle, half = share + q2 / 2 / number, np.sqrt(q2 * share * (1 - share) / number)
    assert band.upper[0, 0, 0] == pytest.approx((middle + half) / (1 + q2 / number), abs=1e-5)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_an_end_goes_as_far_as_the_law_of_an_estimate_that_is_off_asks(level):
    rng = np.random.default_rng(2)
    for off in (0.0, 0.3, 1.0, 3.0, 7.0):
        error = np.abs(off + rng.standard_normal(400_000))
        plain = further(np.array(0.0), error=np.array(1.0), level=level)
        quantile = np.quantile(np.abs(rng.standard_normal(400_000)), level)
        added = further(np.array(2 * off), error=np.array(2.0), level=level) / 2
        assert plain == 0
        assert (error <= quantile + added).mean() == pytest.approx(level, abs=0.003)


def test_without_any_error_an_end_goes_as_far_as_the_estimate_may_be_off():
    assert further(np.array([0.0, 0.2]), error=np.zeros(2), level=LEVEL).tolist() == [0.0, 0.2]
