"""Single functions of cells for quantiles, against what is worked out by hand."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.cuts.found import RoundCounts, Rounds, _point, median_ranks, rows_of_cut
from confide.plans.cuts.layout import layout
from confide.plans.cuts.quantiles import FEW_ROWS, quantile_cells, quantile_estimate
from confide.plans.cuts.second_cells import _cut, next_cells, window_reach
from confide.plans.estimates import Covers
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, least_nano, make_plan
from confide.plans.pricing.calibrate_to_error import Within, met
from confide.privacy.measure import Measure
from confide.statistics import Quantiles
from noisy_answers import dataset

NOISE = DiscreteGaussian(sigma_squared=Fraction(25))
PRESSURE = Quantiles(id="q", table="participants", column="pressure", expect=Fraction(500))


@pytest.mark.parametrize("measure", Measure)
def test_the_first_round_of_a_quantile_has_a_quarter_of_the_charge(measure):
    a, b = PRESSURE.measured(dataset(measure=measure)).weights
    power = 1 if measure is Measure.PURE else 2  # what a charge goes with
    assert a**power / (a**power + b**power) == pytest.approx(1 / 4, abs=0.005)


def test_cells_are_those_of_one_quantile_of_up_to_four_or_of_more():
    one = replace(PRESSURE.measured(dataset(measure=Measure.ZCDP)), fine=1000, lower=0, upper=9999)
    noise = DiscreteGaussian(sigma_squared=Fraction(65))  # one count errs by one row
    cuts = {
        count: layout(
            replace(
                one, expect=Fraction(300), at=tuple(Fraction(k, 8) for k in range(1, count + 1))
            ),
            noise,
        )
        for count in (1, 2, 4, 5)
    }
    few, some, many = cuts[1], cuts[4], cuts[5]
    assert cuts[2].rough == some.rough
    assert len(few.rough) >= len(some.rough) > len(many.rough)
    assert [each.cuts for each in (few, some, many)] == [8, 8, 8]


def test_places_of_the_second_round_are_at_equal_steps_of_mass_and_length():
    edges, rising = (0, 100, 200), (0.0, 75.0, 100.0)
    assert _cut(edges, [(0, 2, rising)], cells=4) == [0, 40, 80, 133, 200]
    shares = [_share(place) for place in (40, 80, 400 / 3)]
    assert shares == pytest.approx([0.25, 0.5, 0.75])


def _share(place):
    mass = 0.75 * place / 100 if place <= 100 else 0.75 + 0.25 * (place - 100) / 100
    return mass / 2 + place / 400


def test_groups_are_cut_at_equal_steps_of_the_mean_of_their_own_cuts():
    edges, even = (0, 100, 200, 300), (0.0, 10.0, 20.0, 30.0)
    assert _cut(edges, [(0, 1, even), (2, 3, even)], cells=4) == [0, 50, 100, 250, 300]
    alike = [(0, 2, (0.0, 75.0, 100.0, 100.0))] * 3
    assert _cut(edges, alike, cells=4) == [0, 40, 80, 133, 200]


def test_a_quantile_stands_in_its_cell_where_the_first_round_has_its_mass():
    first = RoundCounts(edges=(0, 10, 20, 21), counts=(0, 10_000, 0), weight=1, upper=20)
    second = RoundCounts(edges=(0, 20, 21), counts=(10_000, 0), weight=1, upper=20)
    rounds = Rounds(first=first, second=second, even=(0, 10, 21))
    point, low, high = rounds.located(0.5, noise=NOISE, sampled=False, level=0.95)
    below = [0.9 * max(0, v + 1 - 10) / 10 + 0.1 * (v + 1) / 20 for v in range(20)]
    assert point == next(v for v in range(20) if below[v] >= 0.5) == 14
    assert low <= point <= high


def test_the_rows_of_a_cut_are_those_of_the_window_shared_out_among_its_cells():
    plan = layout(PRESSURE.measured(dataset(measure=Measure.ZCDP)), NOISE)
    a, b = plan.weights
    deviation = 5 * math.sqrt(plan.first) / 2 / a
    reach = window_reach(deviation, second=5 / b, cells=plan.wanted, rows=500.0, q=0.5)
    ranks = median_ranks(NOISE, cells=plan.first, weight=a)
    assert math.sqrt(ranks.variance) == pytest.approx(deviation, rel=1e-6)
    found = rows_of_cut(plan, noise=NOISE, rows=500.0)
    assert found * plan.cuts == pytest.approx(2 * reach, rel=1e-6)


def test_a_first_round_alone_is_asked_for_where_noise_is_large_beside_the_rows():
    few = replace(PRESSURE, expect=Fraction(5)).measured(dataset(measure=Measure.ZCDP))
    noise = DiscreteGaussian(sigma_squared=Fraction(65))
    assert layout(few, noise).cuts == 0
    asked = next_cells(few, (), mechanism=noise, dataset=dataset(measure=Measure.ZCDP))
    assert asked.length == layout(few, noise).first
    assert asked.weight == few.once
    answered = (1,) * asked.length
    assert next_cells(few, answered, mechanism=noise, dataset=dataset()) is None


def test_a_smaller_charge_that_does_as_well_with_other_cells_is_found():
    to = dataset(measure=Measure.ZCDP)
    spec, error = replace(PRESSURE, expect=Fraction(2000)), Within(amount=Fraction(2))
    least = least_nano(Ask(statistic=spec, error=error), dataset=to)

    def reaches(nano):
        plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=nano)
        return met(error, forecast(plan, spec))

    assert reaches(least)
    assert not any(reaches(least * part // 128) for part in range(127, 63, -1))


def test_cells_are_told_to_be_as_wide_as_the_widest_of_them():
    to = dataset()
    cells = quantile_cells(
        "pressure",
        table="participants",
        bins=None,
        name="q",
        edges=(Fraction(80), Fraction(100), Fraction(160), Fraction(200)),
        at=(Fraction(1, 2),),
        expect=Fraction(500),
        dataset=to,
    )
    asked = Quantiles(
        id="q", table="participants", column="pressure", bins=120, expect=Fraction(500)
    ).measured(to)
    told = cells.expected(asked, noise=NOISE, rows=Fraction(500))
    assert told.cells.startswith("cells are up to 60 ")


@pytest.mark.parametrize(("rows", "flags"), [(86, (FEW_ROWS,)), (87, ())])
def test_a_quantile_of_rows_below_ten_deviations_of_all_noise_is_flagged(rows, flags):
    first = RoundCounts(edges=(80, 120, 200), counts=(0, rows), weight=1, upper=200)
    found = quantile_estimate(
        Rounds(first=first, even=first.edges),
        q=0.5,
        noise=DiscreteGaussian(sigma_squared=Fraction(75, 2)),
        statistic="q",
        key=(),
        covers=Covers.NOISE,
        level=0.95,
        of=dataset().table("participants").column("pressure").domain(),
    )
    assert found.flags == flags


def test_a_window_reaches_over_the_noise_of_both_rounds_and_that_of_the_sample():
    reach = window_reach(3.0, second=0.7, cells=10, rows=401.0, q=0.3)
    sampled = 0.3 * 1.96 * 1.96 * 401 * 0.3 * 0.7
    parts = (1.64 * 3) ** 2 + (2 * 0.7) ** 2 * 10 / 4 + sampled
    assert reach == pytest.approx(math.sqrt(parts))


def test_a_quantile_stands_at_equal_steps_where_the_first_round_has_nobody():
    first = RoundCounts(edges=(0, 10, 20, 21), counts=(10_000, 0, 0), weight=1, upper=20)
    second = RoundCounts(edges=(0, 10, 20, 21), counts=(0, 10_000, 0), weight=1, upper=20)
    rough, fine = (each.ranked(NOISE, q=0.5, level=0.95) for each in (first, second))
    assert _point(rough, fine) == 14


def test_few_steps_between_two_edges_are_all_cut():
    assert _cut((10, 12, 14), [(0, 2, (0.0, 5.0, 6.0))], cells=6) == [10, 11, 12, 13, 14]


def test_a_quantile_may_be_where_either_round_has_it_if_they_do_not_meet():
    first = RoundCounts(edges=(0, 10, 20, 21), counts=(10_000, 0, 0), weight=1, upper=20)
    second = RoundCounts(edges=(0, 10, 20, 21), counts=(0, 10_000, 0), weight=1, upper=20)
    rounds = Rounds(first=first, second=second, even=(0, 10, 21))
    point, low, high = rounds.located(0.5, noise=NOISE, sampled=False, level=0.95)
    assert low < 10 <= point <= high


def test_a_cell_of_a_grid_of_every_value_may_be_narrower_than_a_step():
    to = dataset(measure=Measure.ZCDP)
    many = replace(PRESSURE, expect=Fraction(10**6))
    asked = many.measured(to)
    assert asked.fine == asked.upper - asked.lower
    plan = make_plan([Ask(statistic=many)], study=Study(id="s"), dataset=to, nano=10**9)
    noise = plan.measurements[0].mechanism
    told = many._cells(to).expected(asked, noise=noise, rows=Fraction(10**6))
    assert 0 < told.cell < 1
