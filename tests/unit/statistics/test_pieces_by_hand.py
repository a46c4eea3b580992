"""Single functions of statistics against sums and cases that are worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

import cohorts
from confide.statistics.count.spec import _laplace_posterior
from confide.statistics.histogram.figure import _is_over_time
from confide.statistics.histogram.spec import Histogram
from confide.statistics.logistic.calibration import bounded
from confide.statistics.person_time.horizon import _life_table
from confide.statistics.shared_sections import day_number
from confide.statistics.survival.comparison import log_hazard_ratio
from confide.statistics.survival.curves import restricted_mean


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
    import datetime as dt

    assert day_number(None) is None
    assert day_number(dt.date(1970, 1, 2)) == 1
