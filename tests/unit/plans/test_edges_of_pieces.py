"""Single functions of plans at their edges, with exact values."""

import math
import typing
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import cohorts
from confide.errors import ContractError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.canonical import LARGEST_JSON, canonical_bytes, decode
from confide.plans.cell_means import _balance, _ratio
from confide.plans.choices import NAME, chosen
from confide.plans.cuts.layout import _root
from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.plans.estimation.consistency import Block, Consistent
from confide.plans.estimation.intervals import Component, together
from confide.plans.estimation.pooled import PooledColumn
from confide.plans.estimation.pooled import count as pooled_count
from confide.plans.estimation.pooled import share as pooled_share
from confide.plans.estimation.rare_counts import MOST, least_mean, least_means
from confide.plans.estimation.rates import RateCell, pooled, standardized
from confide.plans.estimation.weighted_sums import WeightSums, _ends, drowned, spread_of_share
from confide.plans.growth import growing_question
from confide.plans.mechanisms import keyed
from confide.plans.periods import completed
from confide.plans.pricing.allocate import forecast
from confide.plans.pricing.calibrate_to_error import IntervalWidth, met
from confide.plans.reuse import Earlier, Same, Summed, answer
from confide.plans.soundness.coarse_times import coarse_time_notes
from confide.plans.soundness.cuts import groups_of_a_patient
from confide.plans.soundness.empty_cells import _truth
from confide.plans.soundness.small_cells import _covers
from confide.plans.soundness.soundness import require_sound
from confide.statistics.count.spec import Count
from confide.tables.expression import ColumnOf, DatePart, PartOf
from confide.tables.filter import Between, Everything, IsIn
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


def test_who_has_no_category_is_in_none_of_those_that_are_asked_for():
    women = IsIn(of=cohorts.SEX, values=(0,))
    assert _truth(women, {cohorts.SEX: None}) is False
    assert _truth(women, {}) is None
    assert [_truth(women, {cohorts.SEX: (k, k)}) for k in (0, 1)] == [True, False]
    assert _truth(women, {cohorts.SEX: (0, 1)}) is None
    some = IsIn(of=cohorts.AGE, values=(25, 90))
    assert [_truth(some, {cohorts.AGE: part}) for part in ((20, 60), (30, 60))] == [None, False]


def test_a_statistic_that_was_measured_before_names_its_sources_in_order():
    earlier = tuple(
        Earlier(entry=number, measurement=plan_of(COUNT).measurements[0], noisy=(number,))
        for number in (3, 1)
    )
    same = Same(statistic=COUNT, of=(("count", earlier[0]), ("again", earlier[1])))
    assert same.sources == earlier


def test_a_statistic_without_a_time_has_no_steps_of_it_to_tell():
    assert coarse_time_notes(plan_of(COUNT), COUNT) == ()


def test_the_steps_of_a_derived_time_are_not_told_as_no_column_declares_them():
    survival = cohorts.survival_statistic()
    derived = replace(survival, time="age_band")
    assert coarse_time_notes(plan_of(survival), derived) == ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A noun of two."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """The other one."""

    number: int


def test_a_noun_is_read_where_one_of_several_may_stand_or_nothing():
    names = {"Side": Left | Right, "Left": Left, "Right": Right}
    hint = typing.ForwardRef("Side") | None
    for side in (Left, Right):
        value = {"is": side.__name__, "number": 3}
        assert decode(hint, value, names=names) == side(number=3)
    assert decode(hint, None, names=names) is None
    with pytest.raises(ContractError, match="Unknown kind 'Middle'"):
        decode(hint, {"is": "Middle", "number": 3}, names=names)
    with pytest.raises(ContractError, match="Expected a Left"):
        decode(Left, {"is": "Right", "number": 3}, names=names)


@pytest.mark.parametrize("degrees", range(1, 8))
def test_the_tail_of_chi_squared_is_that_of_scipy(degrees):
    stats = pytest.importorskip("scipy.stats")
    at = np.array([0.3, 2.0, 9.0])
    assert chi_squared_tail(at, degrees=degrees) == pytest.approx(
        stats.chi2.sf(at, degrees), rel=1e-9
    )


def of_one(value, *, variance):
    block = Block(size=1, noise=Component(variance=variance))
    of = Consistent([block, block], [])
    return PooledColumn(label="all", values=[[value], [100.0]], groups=1, of=of, level=0.95)


def test_a_number_of_rows_lies_within_its_noise_and_is_not_below_none():
    found = pooled_count(of_one(50.0, variance=4.0), {0: [1.0]}, whole=51)
    wide = 1.96 * 2
    assert (found.value, found.error) == (51.0, 2.0)
    assert (found.lower, found.upper) == (math.ceil(50 - wide), math.floor(50 + wide))
    few = pooled_count(of_one(-30.0, variance=4.0), {0: [1.0]}, whole=0)
    assert (few.lower, few.upper) == (0.0, 3.0)


def test_a_share_is_told_unless_it_has_no_rows():
    column = of_one(50.0, variance=4.0)
    known = pooled_share(column, {0: [1.0]}, {1: [1.0]}, value=0.5, sampled=False)
    assert known.value == 0.5
    assert 0.4 < known.lower < 0.5 < known.upper < 0.6
    for unknown in (
        pooled_share(column, {0: [1.0]}, {1: [1.0]}, value=None, sampled=False),
        pooled_share(column, {0: [1.0]}, {1: [0.001]}, value=0.5, sampled=False),
    ):
        assert (unknown.value, unknown.lower, unknown.upper) == (None, 0.0, 1.0)


def test_every_stratum_has_a_weight():
    cell = RateCell(events=10, base=1000, noise=())
    with pytest.raises(ValueError, match="shorter"):
        standardized([cell, cell], weights=[1.0], persons=False, sampled=True, level=0.95)
    with pytest.raises(ValueError, match="shorter"):
        pooled([cell, cell], weights=[1.0])


def test_rows_that_are_not_there_are_put_in_the_middle_of_the_bounds():
    of = cohorts.person_table().column("systolic").domain()
    reach = of.upper - of.lower
    found = _balance(0, 2 * reach, noises=[Component(variance=1.0)], of=of, level=0.95, least=10)
    assert found.share.value == pytest.approx((2 + 8 / 2) / 10)
    assert found.rows == 2


def test_a_mean_of_no_rows_may_be_anywhere_between_the_bounds():
    of = cohorts.person_table().column("systolic").domain()
    noises = [Component(variance=1.0)] * 2
    found = _ratio(0, 0, noises=noises, of=of, level=0.95, least=0).share
    assert (found.value, found.lower, found.upper) == (None, 0.0, 1.0)


def test_a_choice_names_candidates_that_there_are_and_no_others():
    labels = (("a",), ("b",), ("c",))

    def keys(*places):
        found = chosen({NAME: places}, labels=labels, statistic="s", level=Fraction(9, 10))
        return [each.key for each in found]

    assert keys(2, 0) == [("c",), ("a",)]
    for wrong in (-1, 3):
        with pytest.raises(UnsupportedError, match="other candidates than there are"):
            keys(0, wrong)


def test_few_events_have_a_lower_end_of_their_own_up_to_the_last_that_are_few():
    events, deviation = np.array([MOST + 1, MOST + 1.5, 3.0]), np.array([1.0, 1.0, 1.0])
    found = least_means(events, deviation, level=0.95)
    assert found[0] == least_mean(MOST + 1, deviation=1.0, level=0.95) < MOST
    assert found[1] == MOST + 1.5
    assert found[2] == least_mean(3.0, deviation=1.0, level=0.95) < 2


def weights_of(squares, *, variance=4.0):
    noise = Component(variance=variance)
    return WeightSums(total=50.0, squares=squares, number=80.0, reach=1, noise=noise, cells=4)


def test_squared_weights_are_told_from_ten_deviations_of_their_noise():
    assert [drowned(weights_of(squares)) for squares in (39.9, 40.0)] == [True, False]


def test_an_effective_size_has_no_upper_end_where_squared_weights_may_be_none():
    noise = 2 * math.sqrt(4)  # of squares, in four cells
    apart = 1.959964 * math.sqrt(4 * 4 * (1 / 4 + 1))
    lower, upper = _ends(weights_of(20.0), level=0.95)
    assert lower == pytest.approx((50 - apart) ** 2 / (20 + 1.959964 * noise), rel=1e-4)
    assert upper == pytest.approx((50 + apart) ** 2 / (20 - 1.959964 * noise), rel=1e-4)
    assert _ends(weights_of(7.0), level=0.95)[1] is None


def test_selected_keys_are_not_a_vector_over_public_cells():
    assert keyed({"a": 3}) == {"a": 3}
    with pytest.raises(UnsupportedError, match="Expected selected keys"):
        keyed((1, 2))


def test_a_statistic_measured_twice_is_answered_by_both_numbers_together():
    plan = plan_of(COUNT)
    noisy = DiscreteGaussian(sigma_squared=Fraction(25))
    measurement = replace(plan.measurements[0], mechanism=noisy)
    earlier = [
        Earlier(entry=number, measurement=measurement, noisy=(value,))
        for number, value in ((1, 90), (2, 110))
    ]
    found = answer(COUNT, earlier, dataset=plan.dataset)
    assert isinstance(found, Summed)
    assert [each.value for each in found.sums()] == pytest.approx([100.0])
    assert isinstance(answer(COUNT, earlier[:1], dataset=plan.dataset), Same)


def test_a_total_of_a_column_covers_the_numbers_of_that_column():
    total = ("", "", "women")
    assert _covers(total, total)
    assert _covers(total, ("age", "mean", "women"))
    assert not _covers(total, ("age", "mean", "men"))
    assert not _covers(("sex", "", "women"), ("age", "mean", "women"))
    assert not _covers(("women",), ("men",))


def test_the_width_of_an_interval_is_twice_its_half():
    plan = plan_of(COUNT)
    expected = forecast(plan, COUNT)
    assert met(IntervalWidth(width=Fraction(2 * expected.half_width)), expected)
    assert not met(IntervalWidth(width=Fraction(1.99 * expected.half_width)), expected)


def test_rows_of_a_patient_lie_in_as_many_groups_as_vary_within_a_patient():
    plan = plan_of(COUNT, cohorts.wards_statistic())
    person, wards = (each.aggregate for each in plan.measurements)
    assert groups_of_a_patient(person, dataset=plan.dataset) == 1
    assert groups_of_a_patient(wards, dataset=plan.dataset) == len(cohorts.WARDS)


def test_a_growing_question_is_the_same_of_the_next_snapshot():
    plan = plan_of(COUNT)
    later = replace(plan, dataset=replace(plan.dataset, snapshot="2026-11-30"))
    other = replace(plan, dataset=replace(plan.dataset, lineage="south-ehr"))
    assert growing_question(later) == growing_question(plan) != growing_question(other)


def test_the_sampling_variance_of_a_share_is_that_of_its_weighted_parts():
    def of(total, squares):
        noise = Component(variance=0.0)
        return WeightSums(total=total, squares=squares, number=100.0, reach=10, noise=noise)

    linear = (0.75**2 * 200 + 0.25**2 * 90) / (0.25 * 0.75)
    assert spread_of_share(of(20.0, 200.0), of(60.0, 90.0)) == pytest.approx(linear)
    assert spread_of_share(of(0.0, 0.0), of(60.0, 90.0)) == 90
    assert spread_of_share(of(20.0, 200.0), of(0.0, 0.0)) == 200
