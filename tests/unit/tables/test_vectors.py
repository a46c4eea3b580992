"""Vectors over public cells: what is refused before a row is read, and what a step of each is."""

import itertools
from dataclasses import replace

import pytest

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import check_cells
from confide.tables.aggregates.factorized import MOST_PERIODS, FactorizedAggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.ranked.ranked_cells import RankedCells
from confide.tables.aggregates.ranked.ranked_features import About, RankedFeatures
from confide.tables.aggregates.shapes import check_aggregate
from confide.tables.aggregates.square_root import ONE
from confide.tables.aggregates.value import (
    Centred,
    CentredSquare,
    Ones,
    Plain,
    Product,
    value_range,
)
from confide.tables.bound_contributions import CellBound, CellOrder, OneEvent, RowBound
from confide.tables.expression import BinOf, ColumnOf, OrMissing, ValueOf
from confide.tables.filter import Between, Everything
from confide.tables.per_patient import HasAny
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind
from noisy_answers import dataset


def column(name: str, *, table: str = "participants") -> ColumnOf:
    return ColumnOf(table=table, column=name)


AGE, BMI, SEX, PRESSURE = map(column, ("age", "bmi", "sex", "pressure"))
DAYS, WARD = (column(name, table="visits") for name in ("days", "ward"))
TO = dataset()
ONE_ROW = RowBound(max_rows=1)
WEEKS = BinOf(of=DAYS, edges=(0, 7, 14, 21, 30))
EARLIEST = CellBound(max_cells=2, max_rows_per_cell=3, order=CellOrder.EARLIEST)


class Names:
    """Tells in the shortest words."""

    def of(self, expression):
        return getattr(expression, "column", "?")

    def value(self, value):
        return type(value).__name__

    def rows(self, relation, axes=()):
        return f"{relation.table} by {len(axes)}"


def running(*axes, until=None, bounds=EARLIEST, table="visits", **more):
    inner = Aggregate(
        relation=Relation(table=table, **more), axes=axes, value=Ones(), bounds=bounds
    )
    return FactorizedAggregate(inner=inner, until=until)


@pytest.mark.parametrize("bounds", [EARLIEST, RowBound(max_rows=2), CellBound(max_cells=1)])
@pytest.mark.parametrize("axes", [(WEEKS,), (WARD, WEEKS)], ids=["one series", "three"])
def test_no_patient_moves_running_sums_further_than_claimed_and_one_does(bounds, axes):
    aggregate, size = running(*axes, bounds=bounds), 4 * 3 ** (len(axes) - 1)
    cells, rows = (1, 2) if isinstance(bounds, RowBound) else (
        bounds.max_cells, bounds.max_rows_per_cell
    )  # fmt: skip
    kept = [
        [rows * (place in chosen) for place in range(size)]
        for k in range(1, cells + 1)
        for chosen in itertools.combinations(range(size), k)
    ]
    if isinstance(bounds, RowBound):
        kept += [[int(place in chosen) for place in range(size)]
                 for chosen in itertools.combinations(range(size), 2)]  # fmt: skip
    moved = [aggregate.combined([each], dataset=TO) for each in kept]
    claimed = aggregate.sensitivity(TO, counted="visits")
    assert max(map(sum, moved)) == claimed.l1
    assert max(sum(v * v for v in vector) for vector in moved) == claimed.l2_squared
    assert max(map(max, moved)) == claimed.linf
    assert claimed.unit == "steps of 2^-20 visits"


def test_the_least_that_a_row_adds_to_running_sums_is_one_at_the_last_time():
    alone = [[int(place == at) for place in range(4)] for at in range(4)]
    aggregate = running(WEEKS)
    moved = [aggregate.combined([each], dataset=TO) for each in alone]
    least = min(moved, key=sum)
    assert aggregate.least_moved(TO) == (sum(least), sum(map(bool, least))) == (ONE, 1)
    assert least == moved[-1]


def test_what_a_patient_keeps_of_running_sums_is_told():
    for bounds, entity, says in (
        (
            EARLIEST,
            Entity.PATIENT,
            "a patient keeps at most 2 cells, the earliest, with 3 rows each",
        ),
        (replace(EARLIEST, max_rows_per_cell=1), Entity.PATIENT, "the earliest, with 1 row each"),
        (RowBound(max_rows=4), Entity.PATIENT, "a patient keeps at most 4 rows at any times"),
        (OneEvent(), Entity.EVENT, "one event is one row at one time"),
    ):
        for adjacency, move in (
            (Adjacency.ADD_REMOVE, ", and is added or removed;"),
            (Adjacency.SUBSTITUTE, ", and is replaced by another;"),
        ):
            to = dataset(entity=entity, adjacency=adjacency)
            because = running(WEEKS, bounds=bounds).sensitivity(to, counted="rows").because
            assert says + move in because
    told = running(WARD, WEEKS).told(Names())
    assert told == "square root of the running total over time of: Ones over rows of visits by 2"


def test_squares_of_running_sums_are_computed_up_to_a_number_of_periods():
    to = with_number(upper=2 * MOST_PERIODS)
    for length in (1, MOST_PERIODS, MOST_PERIODS + 1):
        aggregate = running(BinOf(of=DAYS, edges=tuple(range(length + 1))))
        assert aggregate.length(to) == length
        assert aggregate.has_square(to) is (length <= MOST_PERIODS)


def with_number(*, lower=0, upper, people=False):
    """Return the data set with other bounds of the days of visits, or of two numbers of people."""
    participants, visits = TO.tables
    names = ("age", "pressure") if people else ("days",)
    participants, visits = (
        replace(
            table,
            columns=tuple(
                replace(c, lower=lower, upper=upper) if c.name in names else c
                for c in table.columns
            ),
        )
        for table in (participants, visits)
    )
    return replace(TO, tables=(participants, visits))


def test_running_sums_are_of_counts_of_few_enough_series_and_periods():
    to = with_number(upper=5000)
    long = BinOf(of=DAYS, edges=tuple(range(1101)))
    wide = BinOf(of=AGE, edges=tuple(range(101)))
    running(long).check(to)
    with pytest.raises(InvalidParameterError, match="running sums of fewer series"):
        running(wide, long).check(to)
    summed = Aggregate(
        relation=Relation(table="visits"), axes=(WEEKS,), value=Plain(of=DAYS), bounds=EARLIEST
    )
    for refused in (
        lambda: FactorizedAggregate(inner=summed).check(TO),
        lambda: FactorizedAggregate(inner=replace(summed, axes=())),
    ):
        with pytest.raises(ContractError, match="Running sums need counts over time"):
            refused()
    for until in (0, 5):
        with pytest.raises(ContractError, match="Expected 1 to 4 published periods"):
            running(WEEKS, until=until).check(TO)


def test_a_series_grows_only_by_what_a_later_row_cannot_change():
    """A row that comes later may take the one place in its table, or change another's value."""
    people = BinOf(of=AGE, edges=(0, 50, 100))
    events = dataset(entity=Entity.EVENT)
    ever = replace(TO, per_patient=(HasAny(name="ever", table="visits", where=Everything()),))

    def claimed(aggregate, *, to=TO):
        return aggregate.sensitivity(to, counted="rows")

    one_row = {"table": "participants", "until": 1, "bounds": ONE_ROW}
    with pytest.raises(ContractError, match="'participants' keeps one row of a patient"):
        claimed(running(people, **one_row))
    assert claimed(running(people, **one_row | {"until": None})).l1
    assert claimed(running(people, **one_row | {"bounds": OneEvent()}), to=events).l1
    assert claimed(running(WEEKS, until=2)) == claimed(running(WEEKS))
    for wrong in (
        running(SEX, WEEKS, until=2),
        running(WEEKS, until=2, where=Between(of=AGE, lower=18)),
        running(ValueOf(name="ever"), WEEKS, until=2),
        running(WEEKS, until=2, where=Between(of=ValueOf(name="ever"), lower=1)),
    ):
        with pytest.raises(ContractError, match="look at a row's own columns only"):
            claimed(wrong, to=ever)
        assert claimed(replace(wrong, until=None), to=ever).l1
    assert claimed(running(WARD, WEEKS, until=2, where=Between(of=DAYS, lower=2))).l1


@pytest.mark.parametrize("degree", [1, 2])
def test_the_least_that_a_row_adds_to_moments_is_what_every_row_adds(degree):
    aggregate = MomentAggregate(
        relation=Relation(table="participants"), axes=(), of=BMI, degree=degree, bounds=ONE_ROW
    )
    middle = 400
    rows = []
    for value in (100, 101, 400, 700, 701):
        powers = [((value - middle) ** power,) for power in range(degree + 1)]
        rows.append(aggregate.combined(powers, dataset=TO))
    assert aggregate.least_moved(TO) == (min(map(sum, rows)), degree + 1)
    assert aggregate.has_square(TO) is True
    unit = aggregate.sensitivity(TO, counted="rows").unit
    assert unit == ("steps of 1/10 kg/m2" if degree == 1 else "(steps of 1/10 kg/m2)²")


def test_units_of_what_a_row_adds():
    plain = replace(TO, tables=(*TO.tables, scores()))
    score = column("score", table="scores")
    for value, unit in (
        (Ones(), "visits"),
        (Plain(of=AGE), "a"),
        (Centred(of=BMI), "steps of 1/10 kg/m2"),
        (CentredSquare(of=PRESSURE), "(mm[Hg])²"),
        (Plain(of=score), "1"),
        (Product(of=(Plain(of=AGE), Centred(of=PRESSURE))), "(a)·(mm[Hg])"),
        (Product(of=(Plain(of=AGE), Plain(of=score))), "(a)"),
        (Product(of=(Plain(of=score), Plain(of=score))), "1"),
    ):
        assert value_range(value, dataset=plain, counted="visits").unit == unit


def scores():
    number = Column(name="score", kind=Kind.NUMBER, source="score", lower=0, upper=10)
    return replace(TO.tables[0], name="scores", columns=(number,))


def test_as_many_cells_as_are_allowed_and_no_more():
    ten = BinOf(of=AGE, edges=tuple(range(0, 101, 10)))
    check_cells((ten,) * 7, dataset=TO)
    with pytest.raises(InvalidParameterError, match="ten million cells"):
        check_cells((ten,) * 7 + (SEX,), dataset=TO)


def test_groups_without_public_labels_are_refused_by_name():
    for axis, name in ((AGE, "'age'"), (OrMissing(of=AGE), "what they are made of")):
        with pytest.raises(ContractError, match=f"{name} is a plain number or date"):
            check_cells((SEX, axis), dataset=TO)
    counted = RankedCells(
        relation=Relation(table="participants"), axes=(AGE,), bounds=ONE_ROW, size=1
    )
    with pytest.raises(ContractError, match="'age' is a plain number or date"):
        check_aggregate(counted, dataset=TO)


def test_keys_are_selected_of_a_text_column_of_the_same_table():
    def keyed(key):
        return KeyedAggregate(
            relation=Relation(table="participants"), key=key, bounds=CellBound(max_cells=1)
        )

    check_aggregate(keyed(column("city")), dataset=TO)
    with pytest.raises(ContractError, match="a text column of its own table"):
        check_aggregate(keyed(column("reason", table="visits")), dataset=TO)
    with pytest.raises(ContractError, match="'sex' has public categories"):
        check_aggregate(keyed(SEX), dataset=TO)


def test_products_whose_sums_fit_are_refused_where_their_associations_do_not():
    """About the centres a product is four times what an engine sums."""

    def ranked(about=About.CENTRES):
        return RankedFeatures(
            relation=Relation(table="participants"),
            features=(AGE,),
            outcome=PRESSURE,
            about=about,
            bounds=ONE_ROW,
            size=1,
        )

    check_aggregate(ranked(), dataset=with_number(upper=2**46, people=True))
    wide = with_number(upper=2**47, people=True)
    for part in ranked().parts():
        check_aggregate(part, dataset=wide)
    with pytest.raises(InvalidParameterError, match="could overflow"):
        check_aggregate(ranked(), dataset=wide)
