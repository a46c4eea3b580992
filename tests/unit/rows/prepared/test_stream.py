"""The guard of a stream: one lagged column bounds, and proves the bound, in any order."""

import itertools

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.rows.cells.build import own, own_table, select
from confide.rows.cells.stream import OUT_OF_ORDER, SUMS, stream_totals

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
    sql = stream_totals(rows, most=most, limit=limit, sums=()).sql("confideduckdb")
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


CELLS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30)
"""(person, cell), in any order."""


def first_cells(rows, m):
    """Return what a stream keeps: the first of equal neighbours, then m of a person."""
    new = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1] != row]
    return [row for i, row in enumerate(new) if i < m or new[i - m][0] != row[0]]


def cells_refused(rows, limit):
    again = any(later <= row for row, later in itertools.pairwise(rows))
    return again or refused([p for p, _ in rows], limit)


@given(CELLS, BOUND)
def test_cells_that_pass_the_guard_are_at_most_the_limit_and_come_once(rows, limit):
    if not cells_refused(rows, limit):
        assert len(set(rows)) == len(rows)
        assert all([p for p, _ in rows].count(p) <= limit for p in range(4))


@given(CELLS, BOUND)
def test_sorted_cells_are_never_refused_and_the_first_are_kept(rows, m):
    found = first_cells(sorted(rows), m)
    assert not cells_refused(found, m)
    assert found == [row for p in range(4) for row in sorted({r for r in rows if r[0] == p})[:m]]


@pytest.mark.parametrize(
    ("rows", "most", "limit"),
    [
        ([(0, 1), (0, 1), (0, 2), (0, 3), (1, 1), (1, 1)], 2, 2),
        ([(0, 1), (0, 2), (0, 3), (1, 1)], 3, 2),
        ([(0, 1), (0, 2), (0, 1)], 3, 3),
        ([(1, 0), (0, 0)], 2, 2),
        ([(0, 1), (0, 1), (0, 2)], None, 2),
        ([], 1, 1),
    ],
)
def test_the_query_keeps_and_refuses_cells_as_the_lemma_says(rows, most, limit):
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("CREATE TABLE s (p INTEGER, cell INTEGER)")
        if rows:
            connection.executemany("INSERT INTO s VALUES (?, ?)", rows)
        of = select(own("p"), own("cell"), of=own_table("s"))
        query = stream_totals(of, most=most, limit=limit, sums=(), apart=("p", "cell"))
        answer = connection.execute(query.sql("confideduckdb")).fetchall()
    found = first_cells(rows, len(rows) + 1 if most is None else most)
    assert (OUT_OF_ORDER in {tag for tag, *_ in answer}) == cells_refused(found, limit)
    if not cells_refused(found, limit):
        cells = [cell for _, cell in found]
        assert {cell: n for _, cell, n in answer} == {c: cells.count(c) for c in set(cells)}
