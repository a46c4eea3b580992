"""Quantiles counted in two rounds, the second where the first one points."""

import itertools
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.errors import UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.contribution import PerPatient
from confide.plans.cuts.found import two_rounds
from confide.plans.cuts.layout import deviation, layout, rough_edges
from confide.plans.cuts.second_cells import fine_edges, next_cells
from confide.plans.estimates import Covers
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, least_nano, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.privacy.amount import NANO
from confide.privacy.individual import CapWindow, PatientCap
from confide.privacy.measure import Measure
from confide.release.verify.verify import read_certificate, verify
from confide.statistics import MedianDifference, Quantiles
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.refined import AskCells, GridCounts, RefinedAggregate
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from noisy_answers import dataset, draws, estimate, in_turn, mechanisms
from one_table import released
from seeded import SeededEntropy

TO = dataset()
PRESSURE = Quantiles(id="q", table="participants", column="pressure", expect=Fraction(500))
AT = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
WEIGHTS = {Measure.PURE: (1, 3), Measure.ZCDP: (4, 7)}


def of_a_number(upper, *, at=AT, expect=None, measure=Measure.PURE, lower=0):
    return RefinedAggregate(
        relation=Relation(table="visits"),
        by=(),
        of=ColumnOf(table="visits", column="cost"),
        lower=lower,
        upper=upper,
        fine=min(2**14, upper - lower),
        at=at,
        expect=None if expect is None else Fraction(expect),
        weights=WEIGHTS[measure],
        bounds=RowBound(max_rows=1),
    )


def noise_for(aggregate, spend):
    a, b = aggregate.weights
    if aggregate.weights == WEIGHTS[Measure.PURE]:
        return DiscreteLaplace(scale=(a + b) / Fraction(spend))
    return DiscreteGaussian(sigma_squared=(a * a + b * b) / (2 * Fraction(spend)))


def grid(aggregate, values):
    places = np.searchsorted(np.array(aggregate.edges), values, side="right") - 1
    counts = np.bincount(places, minlength=aggregate.fine + 1)
    return GridCounts(counts.tolist(), groups=1)


def test_a_row_is_in_one_cell_of_each_round_whatever_the_edges_of_the_second():
    aggregate = PRESSURE.measured(TO)
    rng = np.random.default_rng(1)
    claimed = replace(aggregate, bounds=RowBound(max_rows=3)).sensitivity(TO, counted="rows")
    assert (claimed.l1, claimed.l2_squared) == (3 * (1 + 3), 9 * (1 + 9))
    cells, reached = aggregate.fine + 1, 0
    for _ in range(300):
        counts = rng.integers(0, 5, cells)
        more = counts + np.bincount(
            rng.integers(0, 2 + rng.integers(cells - 1), 3), minlength=cells
        )
        moved = []
        for weight in aggregate.weights:
            cuts = sorted({0, cells, *rng.integers(0, cells, rng.integers(1, 20)).tolist()})
            ask = AskCells(edges=(tuple(cuts),), length=len(cuts) + 3, weight=weight)
            one, other = (
                GridCounts(each.tolist(), groups=1).answer(ask) for each in (counts, more)
            )
            moved += [abs(x - y) for x, y in zip(one, other, strict=True)]
        assert sum(moved) == claimed.l1
        assert sum(each**2 for each in moved) <= claimed.l2_squared
        reached = max(reached, sum(each**2 for each in moved))
    assert reached == claimed.l2_squared


@given(
    noisy=st.lists(st.integers(-(10**6), 10**6), min_size=129, max_size=129),
    upper=st.integers(16, 10**6),
    at=st.lists(
        st.fractions(0, 1).filter(lambda q: 0 < q < 1), min_size=1, max_size=9, unique=True
    ),
    expect=st.sampled_from([None, 20, 200, 5_000, 10**6]),
    measure=st.sampled_from(list(Measure)),
)
@pytest.mark.hypothesis
def test_whatever_the_first_answer_is_the_second_asks_for_rising_edges_over_the_whole_grid(
    noisy, upper, at, expect, measure
):
    aggregate = of_a_number(upper, at=tuple(at), expect=expect, measure=measure)
    noise = noise_for(aggregate, 1)
    plan = layout(aggregate, noise)
    assert plan.first <= len(noisy)
    first = noisy[: plan.first]
    ask = next_cells(aggregate, first, mechanism=noise, dataset=TO)
    if ask is None:
        assert not plan.cuts
        return
    (edges,) = ask.edges
    assert edges[0] == 0
    assert edges[-1] == aggregate.fine + 1
    assert all(a < b for a, b in itertools.pairwise(edges))
    assert len(edges) - 1 <= ask.length == plan.length
    assert next_cells(aggregate, first + [0] * ask.length, mechanism=noise, dataset=TO) is None


@pytest.mark.parametrize("fine", [16, 63, 64, 65, 127, 1000, 2**14])
@pytest.mark.parametrize("cells", [4, 8, 16, 64, 128])
def test_the_first_cells_rise_from_bound_to_bound_and_the_upper_bound_has_its_own(fine, cells):
    edges = rough_edges(fine, cells=cells)
    assert edges[0] == 0
    assert edges[-2:] == (fine, fine + 1)
    assert all(a < b for a, b in itertools.pairwise(edges))
    assert len(edges) - 1 <= max(cells, 5) + 1


def stays(rng, rows):
    return np.clip(np.rint(np.exp(rng.normal(1, 1, rows))), 0, 400).astype(int)


def costs(rng, rows):
    return np.clip(np.rint(np.exp(rng.normal(8, 1.3, rows))), 0, 10**6).astype(int)


def heaps(rng, rows):
    return rng.integers(3, 25, rows) * 10


def clipped(rng, rows):
    return np.clip(np.rint(rng.normal(395, 30, rows)), 0, 400).astype(int)


def two_humps(rng, rows):
    return np.where(rng.random(rows) < 0.5, rng.integers(0, 20, rows), rng.integers(380, 400, rows))


def nearly_one(rng, rows):
    return np.where(rng.random(rows) < 0.98, 7, rng.integers(0, 400, rows))


WORLDS = {
    stays: 400,
    costs: 10**6,
    heaps: 300,
    clipped: 400,
    two_humps: 400,
    nearly_one: 400,
}


def rounds_of(world, *, rows, spend, measure, runs):
    """Yield the quantiles of the rows at hand, and both intervals with the point of each."""
    rng, entropy = np.random.default_rng(rows), SeededEntropy(rows)
    aggregate = of_a_number(WORLDS[world], expect=rows, measure=measure)
    noise = noise_for(aggregate, spend)
    for _ in range(runs):
        values = world(rng, rows)
        noisy = in_turn(aggregate, grid(aggregate, values), mechanism=noise, to=TO, entropy=entropy)
        (found,) = two_rounds(aggregate, noisy, mechanism=noise, groups=1)
        step = (aggregate.upper - aggregate.lower) / aggregate.fine
        for q in AT:
            true = int(np.sort(values)[math.ceil(q * rows) - 1])
            yield (
                q,
                true,
                found.located(float(q), noise=noise, sampled=False, level=0.95),
                found.located(float(q), noise=noise, sampled=True, level=0.95),
                step,
            )


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("rows", [60, 600])
def test_quantiles_in_two_rounds_hold_the_truth_whatever_the_shape(world, measure, rows):
    spend = Fraction(1) if measure is Measure.PURE else Fraction(1, 20)
    population = np.sort(world(np.random.default_rng(99), 10**6))
    held = {Covers.NOISE: 0, Covers.SAMPLING_AND_NOISE: 0}
    total = 0
    for q, true, own, sampled, step in rounds_of(
        world, rows=rows, spend=spend, measure=measure, runs=60
    ):
        everybody = int(population[math.ceil(q * len(population)) - 1])
        held[Covers.NOISE] += own[1] - step <= true <= own[2] + step
        held[Covers.SAMPLING_AND_NOISE] += sampled[1] - step <= everybody <= sampled[2] + step
        assert own[1] <= own[0] <= own[2]
        total += 1
    assert held[Covers.NOISE] >= 0.93 * total
    assert held[Covers.SAMPLING_AND_NOISE] >= 0.92 * total


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("world", [stays, costs, heaps])
def test_two_rounds_have_smaller_errors_and_shorter_intervals_than_64_flat_cells(world, measure):
    spend = Fraction(1) if measure is Measure.PURE else Fraction(1, 20)
    rows, runs, upper = 3_000, 30, WORLDS[world]
    to = replace(
        TO,
        measure=measure,
        tables=tuple(
            replace(
                table,
                columns=tuple(
                    replace(c, upper=upper) if c.name == "days" else c for c in table.columns
                ),
            )
            for table in TO.tables
        ),
    )
    flat = Quantiles(
        id="q", table="visits", column="days", bins=64, at=AT, per_patient=PerPatient(rows=1)
    )
    edges = np.array(flat.measured(to).axes[-1].edges)
    noise = mechanisms(flat, to=to, spend=spend)
    rng = np.random.default_rng(5)
    errors = {"flat": [], "two rounds": []}
    widths = {"flat": [], "two rounds": []}
    for run in range(runs):
        values = world(rng, rows)
        true = [float(np.sort(values)[math.ceil(q * rows) - 1]) for q in AT]
        places = np.searchsorted(edges, values, side="right") - 1
        counts = {"histogram": tuple(np.bincount(places, minlength=len(edges) - 1).tolist())}
        (noisy,) = draws(counts, noise=noise, runs=1, seed=run)
        told = [e for e in estimate(flat, noisy, to=to, noise=noise) if e.covers is Covers.NOISE]
        errors["flat"] += [abs(e.value - t) for e, t in zip(told, true, strict=True)]
        widths["flat"] += [e.upper - e.lower for e in told]
    for _, true, (point, low, high), _, _ in rounds_of(
        world, rows=rows, spend=spend, measure=measure, runs=runs
    ):
        errors["two rounds"].append(abs(point - true))
        widths["two rounds"].append(high - low)
    assert np.mean(errors["two rounds"]) <= np.mean(errors["flat"]) / (1 if world is heaps else 4)
    assert np.mean(widths["two rounds"]) <= np.mean(widths["flat"]) / (
        1.8 if world is heaps else 10
    )


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("rows", [400, 4_000])
def test_the_forecast_of_a_median_in_two_rounds_is_about_the_half_length_of_its_interval(
    measure, rows
):
    to = dataset(measure=measure)
    spend = NANO // 4 if measure is Measure.PURE else NANO // 20
    spec = replace(PRESSURE, at=(Fraction(1, 2),), expect=Fraction(rows))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=spend)
    values = np.floor(np.clip(np.random.default_rng(2).normal(140, 20, rows), 80, 200)).astype(int)
    aggregate, noise = spec.measured(to), plan.mechanisms("q")
    lengths = []
    exact = {"histogram": grid(aggregate, values)}
    for noisy in draws(
        [exact] * 100, noise=noise, runs=100, seed=4, asked={"histogram": aggregate}, to=to
    ):
        found, _ = estimate(spec, noisy, to=to, noise=noise)
        lengths.append(found.upper - found.lower)
    expected = forecast(plan, spec).half_width
    assert np.mean(lengths) / 2 / 1.6 - 0.5 <= expected <= 1.6 * np.mean(lengths) / 2 + 0.5


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("rows", [20, 30])
def test_the_forecast_of_a_median_of_few_rows_knows_how_wide_the_cells_of_one_round_are(
    measure, rows
):
    to = dataset(measure=measure)
    spec = replace(PRESSURE, at=(Fraction(1, 2),), expect=Fraction(rows))
    spend = NANO // 4 if measure is Measure.PURE else NANO // 20
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=spend)
    aggregate, noise = spec.measured(to), plan.mechanisms("q")
    assert not layout(aggregate, noise["histogram"]).cuts
    expected = forecast(plan, spec)
    assert "cells are up to 31 mm[Hg] wide" in " ".join(expected.notes)
    rng, entropy, errors, lengths = np.random.default_rng(6), SeededEntropy(6), [], []
    for _ in range(150):
        values = np.floor(np.clip(rng.normal(140, 20, rows), 80, 200)).astype(int)
        noisy = in_turn(
            aggregate, grid(aggregate, values), mechanism=noise["histogram"], to=to, entropy=entropy
        )
        found, _ = estimate(spec, {"histogram": tuple(noisy)}, to=to, noise=noise)
        lengths.append((found.upper - found.lower) / 2)
        if found.value is not None:
            errors.append(abs(found.value - float(np.sort(values)[math.ceil(rows / 2) - 1])))
    assert np.quantile(errors, 0.95) <= expected.half_width
    assert expected.half_width / 1.4 <= np.mean(lengths) <= expected.half_width * 1.4


@pytest.mark.parametrize("within", [40, 25, 5, "2.4", 1])
@pytest.mark.parametrize("measure", list(Measure))
def test_no_smaller_charge_meets_an_error_though_other_noise_has_other_cells(measure, within):
    to = dataset(measure=measure)
    ask = Ask(statistic=PRESSURE, error=Within(amount=Fraction(within)))
    least = least_nano(ask, dataset=to)

    def meets(nano):
        plan = make_plan([Ask(statistic=PRESSURE)], study=Study(id="s"), dataset=to, nano=nano)
        return forecast(plan, PRESSURE).half_width <= float(within)

    assert meets(least)
    assert not any(meets(least * part // 200) for part in range(100, 200))


@pytest.mark.parametrize("expect", [1_000, 10**6, 10**400], ids=["few", "many", "absurd"])
def test_next_to_no_noise_and_absurd_numbers_of_rows_are_planned_and_asked_all_the_same(expect):
    for noise in (
        DiscreteLaplace(scale=Fraction(1, 2**20)),
        DiscreteGaussian(sigma_squared=Fraction(1, 2**40)),
    ):
        aggregate = of_a_number(400, expect=expect)
        rows = grid(aggregate, np.arange(300))
        noisy = in_turn(aggregate, rows, mechanism=noise, to=TO, entropy=SeededEntropy(1))
        (found,) = two_rounds(aggregate, noisy, mechanism=noise, groups=1)
        value, lower, upper = found.located(0.5, noise=noise, sampled=False, level=0.95)
        assert 148 <= lower <= value <= upper <= 150


def test_edges_follow_from_no_function_that_libraries_round_differently(monkeypatch):
    aggregate = of_a_number(400, expect=3_000)
    for noise in (noise_for(aggregate, 1), DiscreteGaussian(sigma_squared=Fraction(3, 2))):
        assert deviation(noise) >= noise.standard_deviation()
    noise = noise_for(aggregate, 1)
    for name in ("exp", "expm1", "log", "erf", "pow"):
        monkeypatch.delattr(math, name)
    ask = next_cells(aggregate, (), mechanism=noise, dataset=TO)
    first = [7 * place % 40 for place in range(ask.length)]
    assert next_cells(aggregate, first, mechanism=noise, dataset=TO) is not None


def test_one_round_is_asked_for_where_a_second_would_not_do():
    assert isinstance(PRESSURE.measured(TO), RefinedAggregate)
    many = tuple(Fraction(i, 20) for i in range(1, 20))
    assert isinstance(replace(PRESSURE, at=many).measured(TO), Aggregate)
    stated = (replace(PRESSURE, bins=64), replace(PRESSURE, edges=(Fraction(80), Fraction(200))))
    for spec in stated:
        assert isinstance(spec.measured(TO), Aggregate)
    cap = PatientCap(id="year", nano=NANO, window=CapWindow.CALENDAR_YEAR)
    assert isinstance(PRESSURE.measured(replace(TO, patients=(cap,))), Aggregate)
    several = Quantiles(
        id="q", table="visits", column="days", per_patient=PerPatient(cells=2, rows=1)
    )
    assert isinstance(several.measured(TO), Aggregate)
    in_one = replace(several, per_patient=PerPatient(cells=1, rows=3)).measured(TO)
    assert isinstance(in_one, Aggregate)
    assert len(in_one.axes[-1].edges) < 70
    assert isinstance(
        replace(several, per_patient=PerPatient(rows=2)).measured(TO), RefinedAggregate
    )
    narrow = replace(
        TO,
        tables=tuple(
            replace(
                table,
                columns=tuple(
                    replace(c, upper=15) if c.name == "days" else c for c in table.columns
                ),
            )
            for table in TO.tables
        ),
    )
    days = MedianDifference(
        id="d",
        table="visits",
        column="days",
        by=("ward",),
        groups=("a", "b"),
        per_patient=PerPatient(rows=1),
    )
    assert isinstance(days.measured(narrow), Aggregate)
    assert isinstance(days.measured(TO), RefinedAggregate)


@pytest.mark.parametrize("adjacency", ["add-remove", "substitute"])
@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_a_release_with_hardly_any_noise_has_the_quantiles_of_the_rows_and_verifies(
    measure, adjacency, tmp_path
):
    rng = np.random.default_rng(8)
    sex, days = rng.choice(["f", "m"], 900), stays(rng, 900)
    table = pa.table({"pid": [str(i) for i in range(900)], "sex": sex, "days": days})
    columns = {
        "sex": {"categories": ["f", "m"]},
        "days": {"kind": "number", "lower": 0, "upper": 400, "unit": "d"},
    }
    asked = {"id": "los", "kind": "quantiles", "column": "days", "by": ["sex"]}
    release = released(
        asked | {"expect": {"count": 450}},
        table=table,
        columns=columns,
        name="stays",
        folder=tmp_path,
        protects={"unit": "patient", "id": "pid", "adjacency": adjacency},
        accounting={"measure": measure} | ({} if measure == "pure" else {"delta": "1e-6"}),
    )
    true = {
        (f"quantile {q}", group): np.sort(days[sex == group])[
            math.ceil(q * (sex == group).sum()) - 1
        ]
        for q in (0.25, 0.5, 0.75)
        for group in ("f", "m")
    }
    found = {(e.quantity, *e.key): e for e in release.of("los") if e.covers is Covers.NOISE}
    assert found.keys() == true.keys()
    for name, value in true.items():
        assert found[name].lower <= value <= found[name].upper <= found[name].lower + 1
    out = tmp_path / "out"
    release.save(out)
    assert verify(read_certificate(out / "certificate.json"), folder=out).holds


def test_exact_counts_over_a_grid_are_never_shown():
    secret = GridCounts([1, 2, 3], groups=1)
    assert repr(secret) == f"{secret}" == "<secret>"
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(secret)
    with pytest.raises(UnsupportedError):
        secret.answer(AskCells(edges=((0, 3), (0, 3)), length=1, weight=1))


def test_edges_follow_from_the_noisy_counts_alone():
    aggregate = of_a_number(400, expect=3_000)
    noise = noise_for(aggregate, 1)
    plan = layout(aggregate, noise)
    first = [0] * plan.first
    first[3] = 3_000
    again = {
        tuple(fine_edges([first], plan=plan, aggregate=aggregate, mechanism=noise))
        for _ in range(3)
    }
    ((edges,),) = again
    low, high = plan.rough[3], plan.rough[4]
    assert {low, high} <= set(edges)
    assert all(low <= edge <= high or edge in {0, aggregate.fine + 1} for edge in edges)
