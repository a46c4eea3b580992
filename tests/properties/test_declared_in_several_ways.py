"""One column of a source, declared in several ways: each reads what it reads where it is alone.

The other worlds declare each column of a source once.  Here it is a number, a category, a date and
a text at a time, with a code that means missing, and its code says which rows there are.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from confide.rows.cells.build import own, select
from confide.rows.relational.table_rows import cleaned_rows
from confide.tables.by_code import Accepted
from confide.tables.schema import Column, Kind, Table
from properties.test_cells_of_every_type import named
from rows_world import KEY, dataset
from source_kinds import Kind as SourceKind
from source_kinds import Stored, opened

CELLS: dict[str, pa.Array] = {
    "flag": pa.array([True, False, None, True], pa.bool_()),
    "whole": pa.array([1, 0, None, 7], pa.int64()),
    "double": pa.array([1.0, 0.5, None, float("nan")], pa.float64()),
    "text": pa.array(["1", "true", None, "2020-01-01"], pa.string()),
    "day": pa.array([18262, 18263, None, 0], pa.date32()),
}
CODES = (("true", 0), ("1", 1), ("0.5", 2), ("2020-01-01", 3))
ONLY = {"flag": "true", "whole": "1", "double": "0.5", "text": "true", "day": "2020-01-01"}
QUICK = ("pandas, objects", "csv")
KINDS = (*QUICK, "arrow", "pandas", "pandas, Arrow", "polars", "parquet", "duckdb")


def ways(of: str) -> dict[str, Column]:
    """Return the ways in which a column is declared."""
    number = Column(name="number", kind=Kind.NUMBER, source=of, lower=0, upper=9)
    code = Column(
        name="code", kind=Kind.CATEGORY, source=of, keys=("a", "b", "c", "d", "rest"), codes=CODES,
        other=4,
    )  # fmt: skip
    return {
        "number": number,
        "number without": replace(number, name="number without", absent=("true", "1")),
        "code": code,
        "code without": replace(code, name="code without", absent=("true",)),
        "text": Column(name="text", kind=Kind.TEXT, source=of, absent=("1",)),
        "date": Column(name="date", kind=Kind.DATE, source=of, lower=0, upper=20000),
    }


def read(stored: Stored, table: Table) -> Any:
    """Return how the first column of a table is read and judged, patient by patient."""
    world = dataset(tables=(table,), per_patient=())
    with opened(stored, of=world, hash_key=KEY) as engine:
        if engine.problems():
            return None
        scope = replace(engine.scope, quality=frozenset({table.name}))
        rows = engine.run(select(own("p"), own("c0"), own("q0"), of=cleaned_rows(scope, table)))
        return sorted((str(p), value, word) for p, value, word in rows)


def differing(kind: SourceKind, folder: Path) -> Iterator[str]:
    """Yield what is read otherwise because a column is declared in another way too."""
    for of, cells in CELLS.items():
        place = folder / of
        place.mkdir()
        stored = kind.store(place, {"t": pa.table({"pid": pa.array(range(len(cells))), of: cells})})
        alone = {
            name: read(stored, Table(name="t", source="t", columns=(column,)))
            for name, column in ways(of).items()
        }
        readable = {name: way for name, way in ways(of).items() if alone[name] is not None}
        for name, column in readable.items():
            others = (way for other, way in readable.items() if other != name)
            table = Table(name="t", source="t", columns=(column, *others))
            if read(stored, table) != alone[name]:
                yield f"{of} as {name}"
        code = ways(of)["code"]
        only = Table(
            name="t", source="t", columns=(code,), only=(Accepted(source=of, codes=(ONLY[of],)),)
        )
        beside = replace(only, columns=(code, ways(of)["number"]))
        if alone["number"] is not None and read(stored, beside) != read(stored, only):
            yield f"rows by {of}"


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.audit) for n in KINDS]
)
def test_a_column_reads_alike_however_often_it_is_declared(name: str, tmp_path: Path) -> None:
    kind = named(name)
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert list(differing(kind, tmp_path)) == []
