"""The guard of a stream: one lagged column bounds, and proves the bound, in any order."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.rows.build import own, own_table, select
from confide.rows.stream import OUT_OF_ORDER, SUMS, stream_totals

STREAMS = st.lists(st.integers(0, 4), max_size=40)
BOUND = st.integers(1, 5)


def kept(stream, m):
    return [p for i, p in enumerate(stream) if i < m or stream[i - m] != p]


def refused(stream, m):
    return any(i >= m and stream[i - m] > p for i, p in enumerate(stream))


def totals(connection, stream, m):
    connection.execute("CREATE OR REPLACE TABLE s (i INTEGER, p INTEGER)")
    if stream:
        connection.executemany("INSERT INTO s VALUES (?, ?)", list(enumerate(stream)))
    rows = select(own("p"), own("p").as_("cell"), of=own_table("s"))
    sql = stream_totals(rows, most=m, sums=()).sql("duckdb")
    return connection.execute(sql).fetchall()


@given(STREAMS, BOUND)
def test_a_stream_that_is_not_refused_keeps_at_most_the_bound_in_any_order(stream, m):
    if not refused(stream, m):
        assert all(kept(stream, m).count(p) <= m for p in set(stream))


@given(STREAMS, BOUND)
def test_a_sorted_stream_is_never_refused_and_keeps_the_first_rows(stream, m):
    stream = sorted(stream)
    assert not refused(stream, m)
    assert all(kept(stream, m).count(p) == min(m, stream.count(p)) for p in set(stream))


@pytest.mark.parametrize(
    ("stream", "m"),
    [
        ([0, 0, 1, 1, 1, 2], 2),
        ([0, 1, 0, 1, 0, 1], 1),
        ([3, 0, 3, 0, 3], 2),
        ([], 1),
        ([1, 0, 1], 2),
    ],
)
def test_the_query_keeps_and_refuses_what_the_lemma_says(stream, m):
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        rows = totals(connection, stream, m)
    tags = {tag for tag, *_ in rows}
    assert (OUT_OF_ORDER in tags) == refused(stream, m)
    if not refused(stream, m):
        assert tags <= {SUMS}
        found = kept(stream, m)
        assert {cell: n for _, cell, n in rows} == {p: found.count(p) for p in set(found)}
