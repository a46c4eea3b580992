"""Single functions of plans at their edges, with exact values."""

from dataclasses import replace

import pytest

import cohorts
from confide.errors import ContractError
from confide.plans.canonical import LARGEST_JSON, canonical_bytes
from confide.plans.cuts.layout import _root
from confide.plans.estimation.intervals import Component, together
from confide.plans.periods import completed
from confide.plans.reuse import Earlier, Same
from confide.plans.soundness.coarse_times import coarse_time_notes
from confide.plans.soundness.empty_cells import _truth
from confide.plans.soundness.soundness import require_sound
from confide.statistics.count.spec import Count
from confide.tables.expression import ColumnOf, DatePart, PartOf
from confide.tables.filter import Between, Everything
from confide.tables.relation import day_range

COUNT = Count(id="count", table="person")


def plan_of(*statistics):
    return cohorts.plan_of(statistics, dataset=cohorts.hospital())


def test_a_whole_number_is_json_up_to_the_last_that_every_reader_holds():
    assert LARGEST_JSON == 9_007_199_254_740_991
    assert canonical_bytes(LARGEST_JSON) == b"9007199254740991"


def test_the_root_of_a_number_is_the_greatest_whose_power_is_not_more():
    assert [_root(number, 3) for number in (1, 7, 8, 26, 27, 10**30)] == [1, 1, 2, 2, 3, 10**10]


def test_an_error_below_one_is_an_error_too():
    both = together([Component(variance=0.25, step=0.5)] * 2)
    assert both.variance == 0.5
    assert both.step == 0.5
    assert together([]).variance == 0


def test_a_plan_without_one_of_the_measurements_of_its_statistics_is_refused():
    plan = plan_of(COUNT, cohorts.wards_statistic())
    require_sound(plan)
    with pytest.raises(ContractError, match="not those that its statistics ask for"):
        require_sound(replace(plan, measurements=plan.measurements[:1]))


def test_all_periods_are_over_once_the_last_day_is():
    dataset, axis = (
        cohorts.hospital(),
        PartOf(of=ColumnOf(table="visit", column="start"), part=DatePart.MONTH),
    )
    first, last = day_range(axis, dataset=dataset)
    assert (
        completed(axis, through=last, dataset=dataset)
        == completed(axis, through=last - 1, dataset=dataset) + 1
    )
    with pytest.raises(ContractError, match="No month is complete"):
        completed(axis, through=first, dataset=dataset)


def test_a_cell_without_a_value_satisfies_no_range_and_an_unknown_one_leaves_it_open():
    within = Between(of=cohorts.AGE, lower=30, upper=60)
    assert _truth(within, {cohorts.AGE: None}) is False
    assert _truth(within, {}) is None
    assert _truth(within, {cohorts.AGE: (30, 60)}) is True
    assert _truth(Everything(), {}) is True


def test_a_statistic_that_was_measured_before_names_its_sources_in_order():
    earlier = tuple(
        Earlier(entry=number, measurement=plan_of(COUNT).measurements[0], noisy=(number,))
        for number in (3, 1)
    )
    same = Same(statistic=COUNT, of=(("count", earlier[0]), ("again", earlier[1])))
    assert same.sources == earlier


def test_a_statistic_without_a_time_has_no_steps_of_it_to_tell():
    assert coarse_time_notes(plan_of(COUNT), COUNT) == ()


def test_a_time_of_few_steps_between_its_bounds_is_told_with_their_number():
    survival = cohorts.survival_statistic()
    plan = plan_of(survival)
    assert coarse_time_notes(plan, survival) == ()
    for lower, told in ((1804, ()), (1805, ()), (1806, ("19",))):
        few = replace(plan, dataset=followed_from(lower, dataset=plan.dataset))
        found = coarse_time_notes(few, survival)
        assert len(found) == len(told)
        assert all(
            f"only {number} lie between" in note for number, note in zip(told, found, strict=True)
        )


def followed_from(lower, *, dataset):
    def changed(column):
        return replace(column, lower=lower) if column.name == "followed" else column

    tables = tuple(
        replace(table, columns=tuple(map(changed, table.columns))) for table in dataset.tables
    )
    return replace(dataset, tables=tables)
