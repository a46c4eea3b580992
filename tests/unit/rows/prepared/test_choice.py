"""The form that answers: from the question and the schema."""

import pytest

from confide.rows.copies.choice import Way, keeps_all_complete_rows, never_null, way_of
from confide.rows.copies.copies import Copies
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import BinOf, DatePart, Holds, PartOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.relation import Relation
from rows_world import col, dataset, days, val

OF = dataset()
COPIES = Copies(dataset=OF, tables={})
PRESSURE, DAY = col("pressure"), col("day")


def way(*reads, where=None, bounds=None, copies=COPIES, table="events"):
    return way_of(
        Relation(table=table, where=where or Everything()),
        bounds=bounds or RowBound(max_rows=5), reads=reads, known=(), copies=copies, dataset=OF,
    )  # fmt: skip


def test_ranks_answer_what_is_not_filtered():
    assert way() is Way.RANKS
    assert way(PRESSURE, PartOf(of=DAY, part=DatePart.DAY)) is Way.RANKS
    assert way(where=All(of=(Everything(), Between(of=PRESSURE)))) is Way.RANKS
    assert way(where=Between(of=PRESSURE, lower=500, upper=600)) is Way.RANKS


@pytest.mark.parametrize(
    "where",
    [
        Between(of=PRESSURE, lower=501),
        Between(of=PRESSURE, upper=599),
        IsIn(of=col("code"), values=(0, 1, 2, 3, 4)),
        Not(of=Between(of=PRESSURE)),
        AnyOf(of=(Everything(),)),
    ],
)
def test_a_filter_is_streamed_before_bounding(where):
    assert not keeps_all_complete_rows(where, dataset=OF)
    assert way(where=where) is Way.CLUSTERED


def test_what_can_be_null_in_a_complete_row_is_streamed():
    outside = BinOf(of=PRESSURE, edges=(510, 590))
    assert not never_null(outside, dataset=OF)
    assert way(outside) is Way.CLUSTERED
    assert never_null(Holds(of=Not(of=Everything())), dataset=OF)
    assert never_null(BinOf(of=PRESSURE, edges=(500, 550, 600)), dataset=OF)


def test_calendar_parts_of_a_narrower_range_can_be_null_in_a_complete_row():
    whole = PartOf(of=DAY, part=DatePart.MONTH)
    assert never_null(whole, dataset=OF)
    since = PartOf(of=DAY, part=DatePart.MONTH, since=days(2020, 1, 1), until=days(2020, 12, 31))
    assert not never_null(since, dataset=OF)
    assert way(since) is Way.CLUSTERED


def test_other_tables_and_per_patient_values_need_a_sort():
    assert way(col("age", "person")) is Way.SORTED
    assert way(where=Between(of=val("first"))) is Way.SORTED


def test_many_rows_a_patient_leave_the_ranks_and_then_the_stream():
    assert way(bounds=RowBound(max_rows=101)) is Way.CLUSTERED
    assert way(bounds=RowBound(max_rows=2001)) is Way.SORTED


def test_without_copies_rows_are_sorted():
    assert way(copies=None) is Way.SORTED


def test_one_row_a_patient_is_a_stream():
    assert way(col("age", "person"), table="person") is Way.CLUSTERED


def test_cells_and_events_have_their_own_forms():
    assert way(bounds=CellBound(max_cells=2)) is Way.CELLS
    assert way(bounds=CellBound(max_cells=2, max_rows_per_cell=2)) is Way.SUMMED_CELLS
    assert way(bounds=CellBound(max_cells=2001)) is Way.SUMMED_CELLS
    assert way(bounds=OneEvent()) is Way.EVENTS
