"""Bins in SQL are the bins of their edges, for every value."""

import bisect

import duckdb
import pytest

from confide.rows.build import own, own_table, select
from confide.rows.evaluate import number_of
from confide.tables.expression import BinOf, ColumnOf
from rows_world import dataset

EVEN = [(low, low + width, bins) for low in (-7, 0, 500) for width in (2, 5, 9, 64, 100, 2199)
        for bins in (2, 3, 7, 64) if bins <= width]  # fmt: skip
UNEVEN = [(0, 1, 5, 6), (-3, 0, 10, 11, 30)]


def expected(value, edges):
    if value is None or not edges[0] <= value <= edges[-1]:
        return None
    return min(bisect.bisect_right(edges, value) - 1, len(edges) - 2)


@pytest.mark.parametrize(
    "edges",
    [tuple(low + (high - low) * i // n for i in range(n + 1)) for low, high, n in EVEN] + UNEVEN,
    ids=lambda edges: f"{edges[0]}..{edges[-1]}/{len(edges) - 1}",
)
def test_every_value_is_in_the_bin_of_its_edges(edges):
    column = ColumnOf(table="events", column="whole")
    bin_of = number_of(
        BinOf(of=column, edges=edges), of=lambda _: own("v"), dataset=dataset()
    )  # fmt: skip
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT i::BIGINT AS v FROM range({edges[0] - 2}, {edges[-1] + 3}) r(i)"
        )
        connection.execute("INSERT INTO t VALUES (NULL)")
        query = select(own("v"), bin_of, of=own_table("t"))
        rows = connection.execute(query.sql("duckdb")).fetchall()
    assert all(found == expected(value, edges) for value, found in rows)
