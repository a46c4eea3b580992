"""Equal cells become one value wherever they stand: of its rows, a cell says what it says alone.

An engine reads 2,048 rows at a time into buffers that it uses again, and what it does not write
there is the cell of somebody else.  So tables are longer than that, and their cells stand at random.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from confide.rows.build import own, select
from confide.rows.table_rows import cleaned_rows
from confide.tables.schema import Column, Table
from confide.tables.schema import Kind as ColumnKind
from native_types import NativeType
from properties.test_cells_of_every_type import IN_FILES, IN_MEMORY, column, named
from rows_world import KEY, dataset
from source_kinds import Kind, opened

ROWS = 5000
KINDS_OF_COLUMN = (ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.CATEGORY, ColumnKind.TEXT)
PLACE = Column(name="place", kind=ColumnKind.NUMBER, source="place", lower=0, upper=ROWS)


def differing(kind: Kind, types: tuple[NativeType, ...], folder: Path) -> Iterator[str]:
    """Yield the types of which two equal cells became two values, or two ids one person."""
    draw = random.Random(4)
    places = [draw.randrange(2 + max(len(of.odd) for of in types)) for _ in range(ROWS)]
    tables: dict[str, pa.Table] = {}
    for of in types:
        cells = of.array(of.odd)
        each = [cells.slice(place % len(cells), 1) for place in places]
        numbers = pa.array(range(ROWS), pa.int64())
        tables[of.name] = pa.table(
            {"pid": numbers, "place": numbers, of.name: pa.concat_arrays(each)}
        )
    of_columns = [_as_column(of, kind=each) for of in types for each in KINDS_OF_COLUMN]
    of_ids = [_as_id(of) for of in types]
    folder.mkdir(exist_ok=True)
    stored = kind.store(folder, tables)
    for declared in (of_columns, of_ids):
        world = dataset(tables=tuple(declared), per_patient=())
        with opened(stored, of=world, hash_key=KEY) as engine:
            refused = engine.problems()
            for table in (each for each in declared if each.name not in refused):
                of = next(each for each in types if each.name == table.source)
                query = select(own("p"), own("c0"), of=cleaned_rows(engine.scope, table))
                rows = engine.run(query)
                by_row = dict(rows) if declared is of_columns else {row: p for p, row in rows}
                became: dict[int, set[object]] = {}
                for row, place in enumerate(places):
                    became.setdefault(place % (2 + len(of.odd)), set()).add(by_row.get(row))
                if any(len(values) > 1 for values in became.values()):
                    yield f"{table.name}: equal cells differ"


def _as_column(of: NativeType, *, kind: ColumnKind) -> Table:
    each = column(kind, of)
    return Table(name=each.name, source=of.name, columns=(each,))


def _as_id(of: NativeType) -> Table:
    return Table(name=f"{of.name} as id", source=of.name, columns=(PLACE,), id_column=of.name)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("arrow", IN_MEMORY),
        ("parquet", IN_FILES),
        pytest.param("parquet, parts", IN_FILES, marks=pytest.mark.audit),
        pytest.param("pandas, Arrow", IN_MEMORY, marks=pytest.mark.audit),
    ],
)
def test_equal_cells_are_read_as_one_wherever_they_stand(
    name: str, types: tuple[NativeType, ...], tmp_path: Path
) -> None:
    kind = named(name)
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert list(differing(kind, types, tmp_path)) == []
