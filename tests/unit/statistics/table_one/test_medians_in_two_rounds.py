"""Medians of a Table 1 in two rounds: in all groups the same cells, honest, and far more exact."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.canonical import decode, encode
from confide.plans.contribution import PerPatient
from confide.plans.cuts.layout import layout
from confide.plans.cuts.second_cells import fine_edges, next_cells
from confide.plans.estimates import Covers
from confide.privacy.measure import Measure
from confide.release.verify.verify import read_certificate, verify
from confide.statistics import Characteristic, Summary, TableOne
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.refined import GridCounts, RefinedAggregate
from noisy_answers import SIMULATION, dataset, draws, mechanisms
from one_table import released

MEDIAN = (Summary.MEDIAN_IQR,)
QUARTILES = (0.25, 0.5, 0.75)
WARDS = ("a", "b", "c")
SPEND = {Measure.PURE: Fraction(1), Measure.ZCDP: Fraction(1, 20)}


def stays(rng, rows):
    return np.clip(np.rint(np.exp(rng.normal(1, 1, rows))), 0, 400).astype(int)


def costs(rng, rows):
    return np.clip(np.rint(np.exp(rng.normal(8, 1.3, rows))), 0, 10**6).astype(int)


def pressures(rng, rows):
    return np.clip(np.rint(rng.normal(130, 18, rows)), 0, 260).astype(int)


WORLDS = {stays: 400, costs: 10**6, pressures: 260}


def clinic(upper, *, measure=Measure.PURE):
    """The data set with another greatest number of days."""
    to = dataset(measure=measure)
    people, visits = to.tables
    columns = [replace(c, upper=upper) if c.name == "days" else c for c in visits.columns]
    return replace(to, tables=(people, replace(visits, columns=tuple(columns))))


def described(*, bins=None, rows=300):
    return TableOne(
        id="t",
        table="visits",
        by=("ward",),
        variables=(
            Characteristic(column="participants.sex"),
            Characteristic(column="days", show=MEDIAN, bins=bins),
        ),
        per_patient=PerPatient(rows=1),
        expect=Fraction(rows),
    )


def counted(table, groups, *, to, lost):
    """What answers the questions of a table, of the days of each ward and rows without any."""
    sexes, days = (question.aggregate for question in table.questions(to))
    grid = isinstance(days, RefinedAggregate)
    edges = np.array(days.edges if grid else table.lines(to)[1].edges)
    keys = sexes.coordinates(to) // len(WARDS)
    cells, labels = [], []
    for values in groups:
        places = np.searchsorted(edges, values, side="right") - 1
        cells += [*np.bincount(places, minlength=len(edges) - 1).tolist(), lost]
        labels += [len(values) + lost, *[0] * (keys - 1)]
    assert table.lines(to)[1].missing
    return {
        "participants.sex/counts": tuple(labels),
        "days/histogram": GridCounts(cells, groups=len(WARDS)) if grid else tuple(cells),
    }


def tables(world, *, sizes, measure, runs, bins=None, lost=40, seed=1):
    """Yield what a table says of the quartiles of each ward and of all, and the truth."""
    to = clinic(WORLDS[world], measure=measure)
    table = described(bins=bins, rows=sizes[0])
    rng, noise = np.random.default_rng(seed), mechanisms(table, to=to, spend=SPEND[measure])
    worlds = [[world(rng, rows) for rows in sizes] for _ in range(runs)]
    asked = {question.name: question.aggregate for question in table.questions(to)}
    exact = [counted(table, groups, to=to, lost=lost) for groups in worlds]
    for noisy, groups in zip(
        draws(exact, noise=noise, runs=runs, seed=seed, asked=asked, to=to), worlds, strict=True
    ):
        found = table.estimate(noisy, mechanisms=noise, dataset=to, simulation=SIMULATION)
        named = dict(zip((*WARDS, "overall"), [*groups, np.concatenate(groups)], strict=True))
        yield {(e.quantity, e.key, e.covers): e for e in found}, named


def quartiles(found, named):
    for (group, values), q in itertools.product(named.items(), QUARTILES):
        true = float(np.sort(values)[math.ceil(q * len(values)) - 1])
        yield true, *(found[f"quantile {q:g}", ("days", "", group), each] for each in Covers)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("sizes", [(300, 300, 300), (900, 900, 60)], ids=str)
def test_quartiles_hold_the_truth_in_every_group_and_overall(world, measure, sizes):
    population = np.sort(world(np.random.default_rng(99), 10**5))
    everybody = [float(population[math.ceil(q * len(population)) - 1]) for q in QUARTILES]
    step = max(1, WORLDS[world] // 2**14 + 1)
    held, total = dict.fromkeys(Covers, 0), 0
    for found, named in tables(world, sizes=sizes, measure=measure, runs=40):
        told = quartiles(found, named)
        for (true, own, sampled), theirs in zip(told, itertools.cycle(everybody)):
            held[Covers.NOISE] += own.lower - step <= true <= own.upper + step
            held[Covers.SAMPLING_AND_NOISE] += (
                sampled.lower - step <= theirs <= sampled.upper + step
            )
            total += 1
    assert held[Covers.NOISE] >= 0.935 * total
    assert held[Covers.SAMPLING_AND_NOISE] >= 0.925 * total


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
@pytest.mark.parametrize("measure", list(Measure))
def test_errors_and_intervals_are_far_smaller_than_those_of_32_flat_cells(world, measure):
    errors, lengths = {}, {}
    for bins in (None, 32):
        for found, named in tables(
            world, sizes=(3000, 3000, 3000), measure=measure, runs=8, bins=bins
        ):
            for true, own, _ in quartiles(found, named):
                errors.setdefault(bins, []).append(abs(own.value - true))
                lengths.setdefault(bins, []).append(own.upper - own.lower)
    tail = world is not pressures
    assert np.mean(errors[None]) < np.mean(errors[32]) / (20 if tail else 1.5)
    assert np.mean(lengths[None]) < np.mean(lengths[32]) / (20 if tail else 5)


@pytest.mark.parametrize("measure", list(Measure))
def test_a_group_of_few_rows_takes_a_part_of_the_cells_and_no_more(measure):
    alone, beside = {}, {}
    for sizes, into in (((3000, 3000, 3000), alone), ((3000, 3000, 40), beside)):
        for found, named in tables(costs, sizes=sizes, measure=measure, runs=12):
            for _, own, _ in quartiles(found, named):
                if own.key[2] == "a":
                    into.setdefault("a", []).append(own.upper - own.lower)
    assert np.mean(beside["a"]) < 1.5 * np.mean(alone["a"])


def test_all_groups_have_the_same_second_cells_and_each_variable_its_own():
    to, table = clinic(400), described()
    aggregate = table.questions(to)[1].aggregate
    assert isinstance(aggregate, RefinedAggregate)
    assert (aggregate.missing, aggregate.alike) == (True, True)
    noise = DiscreteLaplace(scale=Fraction(4))
    plan = layout(aggregate, noise)
    rng = np.random.default_rng(3)
    firsts = [rng.integers(0, 400, plan.first).tolist() for _ in WARDS]
    together = fine_edges(firsts, plan=plan, aggregate=aggregate, mechanism=noise)
    assert len(set(together)) == 1
    apart = replace(aggregate, alike=False)
    assert len(set(fine_edges(firsts, plan=plan, aggregate=apart, mechanism=noise))) == 3
    ask = next_cells(aggregate, [*itertools.chain(*firsts)], mechanism=noise, dataset=to)
    assert {edges[-2:] for edges in ask.edges} == {(401, 402)}
    assert all(len(edges) - 1 <= ask.length for edges in ask.edges)


def test_groups_that_are_alike_have_the_cells_that_one_of_them_would_have():
    aggregate = described().questions(clinic(400))[1].aggregate
    noise = DiscreteLaplace(scale=Fraction(1, 100))
    plan = layout(aggregate, noise)
    first = np.random.default_rng(3).integers(300, 400, plan.first).tolist()
    one = fine_edges([first], plan=plan, aggregate=aggregate, mechanism=noise)
    many = fine_edges([first] * 3, plan=plan, aggregate=aggregate, mechanism=noise)
    assert {len(each) for each in many} == {len(one[0])}
    assert np.abs(np.array(many[0]) - np.array(one[0])).max() <= 2


@pytest.mark.parametrize("measure", list(Measure))
def test_other_lines_have_the_noise_that_they_have_beside_medians_of_one_round(measure):
    to = clinic(400, measure=measure)
    noises = {
        bins: mechanisms(described(bins=bins), to=to, spend=SPEND[measure]) for bins in (None, 32)
    }
    assert noises[None]["participants.sex/counts"] == noises[32]["participants.sex/counts"]
    claims = {bins: described(bins=bins).questions(to)[1].sensitivity for bins in (None, 32)}
    a, b = described().questions(to)[1].aggregate.weights
    assert claims[None].l1 == (a + b) * claims[32].l1
    assert claims[None].l2_squared == (a * a + b * b) * claims[32].l2_squared


def test_lines_made_before_keep_their_32_cells_and_say_no_more():
    old = Characteristic(column="days", show=MEDIAN, bins=32)
    assert "bins" not in encode(old)
    assert decode(Characteristic, encode(old), names={}) == old
    new = Characteristic(column="days", show=MEDIAN)
    assert encode(new)["bins"] is None
    assert decode(Characteristic, encode(new), names={}) == new
    to = clinic(400)
    assert isinstance(described(bins=32).questions(to)[1].aggregate, Aggregate)


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("rows", [30, 900])
def test_a_table_with_hardly_any_noise_has_the_quartiles_of_the_rows_and_verifies(
    measure, rows, tmp_path
):
    rng = np.random.default_rng(8)
    sex, days = rng.choice(["f", "m"], rows), stays(rng, rows)
    table = pa.table(
        {
            "pid": [str(i) for i in range(rows)],
            "sex": sex,
            "days": [int(d) if i % 9 else None for i, d in enumerate(days)],
        }
    )
    columns = {
        "sex": {"categories": ["f", "m"]},
        "days": {"kind": "number", "lower": 0, "upper": 400, "unit": "d"},
    }
    asked = {
        "id": "who",
        "kind": "table-1",
        "variables": [{"column": "days", "show": ["median-iqr"]}],
        "by": ["sex"],
        "expect": {"count": rows // 2},
    }
    release = released(
        asked,
        table=table,
        columns=columns,
        name="stays",
        folder=tmp_path,
        accounting={"measure": measure} | ({} if measure == "pure" else {"delta": "1e-6"}),
    )
    known = np.arange(rows) % 9 > 0
    chosen = {"f": known & (sex == "f"), "m": known & (sex == "m"), "overall": known}
    found = {(e.quantity, e.key[2]): e for e in release.of("who") if e.covers is Covers.NOISE}
    for (group, rows_of), q in itertools.product(chosen.items(), QUARTILES):
        true = np.sort(days[rows_of])[math.ceil(q * rows_of.sum()) - 1]
        cell = found[f"quantile {q:g}", group]
        assert cell.lower <= true <= cell.upper <= cell.lower + (1 if rows > 100 else 400)
    missing = {
        e.key[2]: e.value
        for e in release.of("who")
        if e.quantity == "count" and e.key[:2] == ("days", "missing")
    }
    assert missing["overall"] == (~known).sum()
    out = tmp_path / "out"
    release.save(out)
    assert verify(read_certificate(out / "certificate.json"), folder=out).holds
