"""The keyed order: fair to every code, different for every patient and key."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from confide.rows.cells.keyed_order import MASK, coefficients
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind, Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, ask, category, col, dataset

PATIENTS, CODES = 10_000, 20
EVENTS = Table(
    name="events",
    source="events",
    columns=(
        category("code", {f"c{i}": i for i in range(CODES)}, CODES),
        Column(name="word", kind=Kind.TEXT, source="code"),
    ),
)
OF = dataset(tables=(EVENTS,), per_patient=())


def everyone_has_every_code(ids) -> pa.Table:
    pids = [i for i in ids for _ in range(CODES)]
    return pa.table({"pid": pids, "code": [f"c{j}" for _ in ids for j in range(CODES)]})


def counted(frame, *asked, key=KEY):
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(source, base=Path(), dataset=OF, hash_key=key, frames={"events": frame}) as e:
        return e.aggregate(asked, dataset=OF).reveal_to_gate()


ASKED = (
    ask(axes=[col("code")], bounds=CellBound(max_cells=5)),
    ask(axes=[col("code")], bounds=RowBound(max_rows=1)),
    KeyedAggregate(
        relation=Relation(table="events"), key=col("word"), bounds=CellBound(max_cells=3)
    ),
)


@pytest.mark.parametrize(
    "ids", [range(PATIENTS), [f"p{i}" for i in range(PATIENTS)]], ids=["int", "text"]
)
def test_every_code_is_kept_equally_often(ids):
    """Binomial within five standard deviations; one point for all patients would give 0 or all."""
    cells, rows, keys = counted(everyone_has_every_code(ids), *ASKED)
    for found, most in ((cells, 5), (rows, 1), (tuple(keys.values()), 3)):
        share = most / CODES
        expected, spread = PATIENTS * share, (PATIENTS * share * (1 - share)) ** 0.5
        assert sum(found) == most * PATIENTS
        assert all(abs(count - expected) < 5 * spread for count in found), found


def test_another_key_keeps_other_rows():
    frame = everyone_has_every_code(range(50))
    kept = {counted(frame, ASKED[0], key=bytes([i]) * 16)[0] for i in range(4)}
    assert len(kept) == 4


def test_coefficients_are_never_zero_and_differ():
    found = coefficients(b"0123456789abcdef")
    assert all(0 < value < MASK for value in found.values())
    assert max(Counter(found.values()).values()) == 1
