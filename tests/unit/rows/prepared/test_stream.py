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


def refused(rows, limit):
    return any(i >= limit and rows[i - limit] >= p for i, p in enumerate(rows))


def totals(connection, stream, *, most, limit):
    connection.execute("CREATE OR REPLACE TABLE s (i INTEGER, p INTEGER)")
    if stream:
        connection.executemany("INSERT INTO s VALUES (?, ?)", list(enumerate(stream)))
    rows = select(own("p"), own("p").as_("cell"), of=own_table("s"))
    sql = stream_totals(rows, most=most, limit=limit, sums=()).sql("duckdb")
    return connection.execute(sql).fetchall()


@given(STREAMS, BOUND)
def test_rows_that_pass_the_guard_are_at_most_the_limit_however_they_were_chosen(rows, limit):
    if not refused(rows, limit):
        assert all(rows.count(p) <= limit for p in set(rows))


@given(STREAMS, BOUND)
def test_a_sorted_stream_is_never_refused_and_keeps_the_first_rows(stream, m):
    found = kept(sorted(stream), m)
    assert not refused(found, m)
    assert all(found.count(p) == min(m, stream.count(p)) for p in set(stream))


@given(STREAMS, BOUND)
def test_a_sorted_stream_that_keeps_one_more_is_refused(stream, m):
    found = kept(sorted(stream), m + 1)
    assert refused(found, m) == any(stream.count(p) > m for p in set(stream))


@pytest.mark.parametrize(
    ("stream", "most", "limit"),
    [
        ([0, 0, 1, 1, 1, 2], 2, 2),
        ([0, 0, 1, 1, 1, 2], 3, 2),
        ([0, 0, 1, 1, 1, 2], None, 2),
        ([0, 1, 0, 1, 0, 1], 1, 1),
        ([3, 0, 3, 0, 3], 2, 2),
        ([0, 1, 2], None, 1),
        ([], 1, 1),
        ([1, 0, 1], 2, 2),
    ],
)
def test_the_query_keeps_and_refuses_what_the_lemma_says(stream, most, limit):
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        rows = totals(connection, stream, most=most, limit=limit)
    found = stream if most is None else kept(stream, most)
    assert (OUT_OF_ORDER in {tag for tag, *_ in rows}) == refused(found, limit)
    if not refused(found, limit):
        assert {tag for tag, *_ in rows} <= {SUMS}
        assert {cell: n for _, cell, n in rows} == {p: found.count(p) for p in set(found)}
