"""Single functions of statistics against sums and cases that are worked out by hand."""

import datetime as dt
import math
from dataclasses import replace
from fractions import Fraction

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
from confide.privacy.unit import Entity
from confide.statistics.count.spec import _laplace_posterior
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.data_quality.table import table
from confide.statistics.histogram.figure import _is_over_time
from confide.statistics.histogram.spec import Histogram
from confide.statistics.incidence.spec import Incidence
from confide.statistics.logistic.calibration import bounded
from confide.statistics.person_time.horizon import _life_table
from confide.statistics.shared_sections import DistributionSection, day_number
from confide.statistics.survival.comparison import log_hazard_ratio
from confide.statistics.survival.curves import restricted_mean
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
