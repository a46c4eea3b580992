"""Deliberately broken ways to read rows, each of which a check of the suite must reject.

The checks: agreement with the algebra in plain Python; additivity over patients; one sum for every
row order; the guard in the query.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import EngineError
from confide.rows.cells import bounding, stream
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational import sorted_once
from confide.tables.aggregates.value import CentredSquare, Plain
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.filter import Between, IsIn
from confide.tables.source import Source, SourceKind
from reference_engine import Reference
from rows_world import (
    DB,
    EVENTS,
    KEY,
    PERSON,
    ask,
    asked_of_codes,
    col,
    dataset,
    random_database,
)

pytestmark = pytest.mark.mutant

OF = dataset()
DATABASE = random_database(21)
ASKED = (
    ask(axes=[DB, col("code")], bounds=CellBound(max_cells=1)),
    ask(axes=[DB], value=Plain(of=col("pressure")), bounds=RowBound(max_rows=1)),
    ask(axes=[DB], where=IsIn(of=col("code"), values=(2,)), bounds=RowBound(max_rows=1)),
    ask(axes=[DB, col("sex", "person")], bounds=RowBound(max_rows=2)),
    ask(
        value=CentredSquare(of=col("big")),
        bounds=RowBound(max_rows=1),
        where=Between(of=col("big")),
    ),
    *asked_of_codes(),
)
FLAWS = [
    "NaN passes",
    "NULL becomes the upper bound",
    "int64 wrap",
    "no bound",
    "bound after the sum",
    "bound before the filter",
    "fan-out",
    "NFC and NFD twins",
    "rows in load order",
    "rows of other codes",
    "rows of other units",
    "rows of no concept",
    "units as they are",
    "codes of nothing",
    "codes of nothing as they are spelled",
]


def answers(frames, asked=ASKED, of=OF):
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames=frames) as engine:
        return engine.aggregate(asked, dataset=of).reveal_to_gate()


@pytest.fixture(scope="module")
def truth():
    return answers(DATABASE.frames)


def test_the_unbroken_evaluator_agrees(truth):
    assert Reference(OF, DATABASE.rows, KEY).aggregate(ASKED) == truth


@pytest.mark.parametrize("flaw", FLAWS)
def test_agreement_rejects(truth, flaw):
    broken = Reference(OF, DATABASE.rows, KEY, flaw=flaw)
    assert any(
        broken.aggregate((asked,)) != (right,) for asked, right in zip(ASKED, truth, strict=True)
    )


def test_row_order_rejects_the_load_order_as_order():
    rng = np.random.default_rng(3)
    shuffled = {}
    for name, rows in DATABASE.rows.items():
        shuffled[name] = [rows[i] for i in rng.permutation(len(rows))]
    asked = ASKED[1:2]
    for flaw, same in (("", True), ("rows in load order", False)):
        before = Reference(OF, DATABASE.rows, KEY, flaw=flaw).aggregate(asked)
        after = Reference(OF, shuffled, KEY, flaw=flaw).aggregate(asked)
        assert (before == after) is same


@pytest.mark.parametrize("change", [1, 1999])
@pytest.mark.parametrize("asked", ASKED[:4])
def test_the_guard_rejects_a_stream_that_keeps_more(monkeypatch, change, asked):
    exact = bounding.stream_totals

    def more(rows, *, most, **given):
        return exact(rows, most=most + change, **given)

    monkeypatch.setattr(bounding, "stream_totals", more)
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        answers(DATABASE.frames, asked=(asked,))


def test_the_guard_rejects_a_stream_that_keeps_a_cell_of_a_person_twice(monkeypatch):
    def every_row(rows, columns, apart):
        del columns, apart
        return rows

    monkeypatch.setattr(stream, "_first_of_each", every_row)
    bounds = CellBound(max_cells=500)  # so many cells that rows alone do not pass the bound
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        answers(DATABASE.frames, asked=(ask(axes=[DB, col("code")], bounds=bounds),))


@pytest.mark.parametrize("bounds", [RowBound(max_rows=1), CellBound(max_cells=1)])
def test_the_guard_of_a_window_rejects_a_query_that_does_not_bound(monkeypatch, bounds):
    """Bounds too large for a stream are windows; here every bound is."""

    def unbounded(rows, most, *, order, by=("p",)):
        del most, order, by
        return rows

    monkeypatch.setattr(bounding, "FARTHEST", 0)
    monkeypatch.setattr(bounding, "_first", unbounded)
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        answers(DATABASE.frames, asked=(ask(axes=[DB, col("code")], bounds=bounds),))


def test_additivity_over_patients_rejects_a_unit_that_the_rows_of_all_choose():
    """A table that reads the unit of the most rows: one patient's rows decide about everybody's."""
    asked = asked_of_codes()[1:2]
    rows = {name: each[:400] for name, each in DATABASE.rows.items()}
    parts = [
        {
            n: [r for r in each if r["pid"] is not None and r["pid"] % 2 == k]
            for n, each in rows.items()
        }
        for k in (0, 1)
    ]
    for flaw, same in (("", True), ("unit of the most rows", False)):
        whole, left, right = (
            Reference(OF, each, KEY, flaw=flaw).aggregate(asked)[0] for each in (rows, *parts)
        )
        assert (whole == tuple(a + b for a, b in zip(left, right, strict=True))) is same


def test_additivity_over_patients_rejects_an_order_that_others_can_shift():
    """With rows ranked over the whole table, one patient's rows move another's."""
    half = {}
    for name, table in DATABASE.frames.items():
        ids = table.column("pid").to_pylist()
        half[name] = table.filter(pa.array([i is not None and i % 2 == 0 for i in ids]))
    other = {}
    for name, table in DATABASE.frames.items():
        ids = table.column("pid").to_pylist()
        other[name] = table.filter(pa.array([i is not None and i % 2 == 1 for i in ids]))
    asked = ASKED[1:2]
    whole, left, right = (
        answers(frames, asked=asked)[0] for frames in (DATABASE.frames, half, other)
    )
    assert whole == tuple(a + b for a, b in zip(left, right, strict=True))

    def shifted(frames):
        """A patient keeps the row at place (number of rows of the table) mod (own rows)."""
        rows = [r for r in frames["events"].to_pylist() if r["pid"] is not None]
        own = {}
        for row in rows:
            own.setdefault(row["pid"], []).append(row["whole"])
        return sum(int(r[len(rows) % len(r)] or 0) for r in own.values())

    assert shifted(DATABASE.frames) != shifted(half) + shifted(other)


def test_the_world_is_the_one_the_mutants_need():
    assert PERSON.one_row_per_patient
    assert not EVENTS.one_row_per_patient


def test_the_guard_rejects_rows_that_were_sorted_once_in_another_order(monkeypatch):
    def as_they_come(rows, *, by):
        del by
        return rows

    monkeypatch.setattr(sorted_once, "in_order", as_they_come)
    asked = (ask(bounds=RowBound(max_rows=1)), ask(axes=[DB], bounds=RowBound(max_rows=1)))
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        answers(DATABASE.frames, asked=asked)
