"""Bins in SQL are the bins of their edges, for every value that a column may hold."""

import bisect

import duckdb
import pytest

from confide.rows.cells.build import own, own_table, select
from confide.rows.cells.evaluate import _even_part, is_known, number_of
from confide.tables.expression import BinOf, ColumnOf
from confide.tables.schema import Column, Kind, Table
from rows_world import dataset

EVEN = [(low, low + width, bins) for low in (-7, 0, 500) for width in (2, 5, 9, 64, 100, 2199)
        for bins in (2, 3, 7, 64) if bins <= width]  # fmt: skip
UNEVEN = [(0, 1, 5, 6), (-3, 0, 10, 11, 30)]
BEYOND = [(0, 10, 20, 30, 31), (-7, 0, 7, 14, 400), (0, 3, 6, 10, 11), (0, 1, 9)]
WHOLE = ColumnOf(table="events", column="whole")


def holding(lower, upper):
    column = Column(name="whole", kind=Kind.NUMBER, source="whole", lower=lower, upper=upper)
    table = Table(name="events", source="events", columns=(column,))
    return dataset(tables=(table,), per_patient=())


def expected(value, edges):
    if value is None or not edges[0] <= value <= edges[-1]:
        return None
    return min(bisect.bisect_right(edges, value) - 1, len(edges) - 2)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("beyond", [0, 2], ids=["all inside", "some outside"])
@pytest.mark.parametrize(
    "edges",
    [tuple(low + (high - low) * i // n for i in range(n + 1)) for low, high, n in EVEN]
    + UNEVEN
    + BEYOND,
    ids=lambda edges: f"{edges[0]}..{edges[-1]}/{len(edges) - 1}",
)
def test_every_value_is_in_the_bin_of_its_edges(connection, edges, beyond):
    lower, upper = edges[0] - beyond, edges[-1] + beyond
    asked = {"of": lambda _: own("v"), "dataset": holding(lower, upper)}
    bins = BinOf(of=WHOLE, edges=edges)
    connection.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT i::BIGINT AS v FROM range({lower}, {upper + 1}) r(i)"
    )
    connection.execute("INSERT INTO t VALUES (NULL)")
    query = select(own("v"), number_of(bins, **asked), is_known(bins, **asked), of=own_table("t"))
    rows = connection.execute(query.sql("confideduckdb")).fetchall()
    assert len(rows) == upper - lower + 2
    for value, found, known in rows:
        assert found == expected(value, edges)
        assert known is (found is not None)


@pytest.mark.parametrize(
    ("edges", "even"),
    [
        ((0, 7), (0, 7)),
        ((0, 3, 6, 10), (0, 3, 6, 10)),
        ((0, 10, 20, 400), (0, 10, 20)),
        ((0, 9, 10), (0, 9)),
        ((0, 1, 9, 10), ()),
        ((0, 2**62), ()),
    ],
)
def test_bins_are_computed_where_all_or_all_but_the_last_are_even(edges, even):
    assert _even_part(edges) == even
