"""Equal cells become one value wherever they stand: of its rows, a cell says what it says alone.

An engine reads 2,048 rows at a time into buffers that it uses again, and what it does not write
there is the cell of somebody else.  So tables are longer than that, and their cells stand at
random.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import parquet_bytes as files
from confide.rows.cells.build import own, select
from confide.rows.relational.table_rows import cleaned_rows
from confide.tables.schema import Column, Dataset, Table
from confide.tables.schema import Kind as ColumnKind
from confide.tables.source import Source, SourceKind
from native_types import NativeType
from properties.test_cells_of_every_type import IN_FILES, IN_MEMORY, column, named
from rows_world import KEY, dataset
from source_kinds import Kind, Stored, opened

ROWS = 5000
KINDS_OF_COLUMN = (ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.CATEGORY, ColumnKind.TEXT)
PLACE = Column(name="place", kind=ColumnKind.NUMBER, source="place", lower=0, upper=ROWS)


def drawn(cells: int) -> list[int]:
    """Return which cell each row has."""
    draw = random.Random(cells)
    return [draw.randrange(cells) for _ in range(ROWS)]


def became(
    stored: Stored, cells: Mapping[str, int]
) -> Iterator[tuple[str, dict[int, set[object]]]]:
    """Yield what each cell was read as, of each type as each kind of column and as an id.

    Args:
        stored: A table of :func:`drawn` cells for each type.
        cells: How many cells are drawn from, by type.
    """
    of_columns = [
        Table(name=each.name, source=of, columns=(each,))
        for of in cells
        for each in (_column(of, kind=kind) for kind in KINDS_OF_COLUMN)
    ]
    of_ids = [Table(name=f"{of} as id", source=of, columns=(PLACE,), id_column=of) for of in cells]
    for declared in (of_columns, of_ids):
        yield from _read(stored, declared, cells=cells, world=_world(declared))


def _column(of: str, *, kind: ColumnKind) -> Column:
    return column(kind, NativeType(name=of, of=None, plain=None, odd=()))


def _world(declared: list[Table]) -> Dataset:
    return dataset(tables=tuple(declared), per_patient=())


def _read(
    stored: Stored, declared: list[Table], *, cells: Mapping[str, int], world: Dataset
) -> Iterator[tuple[str, dict[int, set[object]]]]:
    with opened(stored, of=world, hash_key=KEY) as engine:
        refused = engine.problems()
        for table in (each for each in declared if each.name not in refused):
            query = select(own("p"), own("c0"), of=cleaned_rows(engine.scope, table))
            rows = engine.run(query)
            by_row = {row: p for p, row in rows} if table.id_column else dict(rows)
            found: dict[int, set[object]] = {}
            for row, cell in enumerate(drawn(cells[table.source])):
                found.setdefault(cell, set()).add(by_row.get(row))
            yield table.name, found


def differing(kind: Kind, types: tuple[NativeType, ...], folder: Path) -> Iterator[str]:
    """Yield the types of which two equal cells became two values."""
    tables, cells = {}, {}
    numbers = pa.array(range(ROWS), pa.int64())
    for of in types:
        each = of.array(of.odd)
        cells[of.name] = len(each)
        rows = pa.concat_arrays([each.slice(cell, 1) for cell in drawn(len(each))])
        tables[of.name] = pa.table({"pid": numbers, "place": numbers, of.name: rows})
    folder.mkdir(exist_ok=True)
    for name, found in became(kind.store(folder, tables), cells):
        if any(len(values) > 1 for values in found.values()):
            yield f"{name}: equal cells differ"


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


# -- bytes of files


def _cells(octets: int) -> list[bytes]:
    """Return cells of so many bytes: ends, neighbours, and what is equal but for its upper bits."""
    draw = random.Random(octets)
    whole = (0, 1, -1, 9999, 2**15 - 1, 2**16 + 1, 2**31 - 1, 2**32 + 1, 2**63 - 1, 2**127 - 1)
    known = {
        (n % 2 ** (8 * octets)).to_bytes(octets, order)
        for n in whole
        for order in ("little", "big")
    }
    ends = {b"\x80" + bytes(octets - 1), bytes(octets - 1) + b"\x80"}
    return sorted(known | ends | {draw.randbytes(octets) for _ in range(9)})


def by_hand() -> dict[str, files.Stored]:
    """Return columns of every type whose bytes a file does not keep within it, by name."""
    kinds: list[files.Stored] = []

    def add(name: str, physical: int, octets: int, converted: int | None, **of: int) -> None:
        kinds.append(
            files.Stored(
                name=name, physical=physical, cells=_cells(octets), converted=converted, **of
            )
        )

    short = {files.INT_8, files.INT_16, files.INT_32, files.UINT_8, files.UINT_16, files.UINT_32}
    for converted in (None, files.DATE, *sorted(short)):
        add(f"int32 of {converted}", files.INT32, 4, converted)
    for converted in (None, files.INT_64, files.UINT_64, files.TIMESTAMP_MICROS):
        add(f"int64 of {converted}", files.INT64, 8, converted)
    add("int96", files.INT96, 12, None)
    add("float", files.FLOAT, 4, None)
    add("double", files.DOUBLE, 8, None)
    for digits in (1, 4, 9):
        add(f"int32 of {digits} digits", files.INT32, 4, files.DECIMAL, precision=digits, scale=0)
    for digits in (4, 9, 18):
        add(f"int64 of {digits} digits", files.INT64, 8, files.DECIMAL, precision=digits, scale=1)
    for octets in (1, 2, 3, 4, 5, 8, 9, 16, 17, 40):
        for digits in (2, 4, 9, 18, 38, 39):
            name = f"{octets} bytes of {digits} digits"
            add(name, files.FIXED, octets, files.DECIMAL, precision=digits, scale=0, length=octets)
    return {each.name: each for each in kinds}


def in_bytes(folder: Path, kinds: Mapping[str, files.Stored]) -> Iterator[str]:
    """Yield the types of files of which two equal cells became two values, or two ids one
    person."""
    folder.mkdir(exist_ok=True)
    for name, kind in kinds.items():
        rows = [kind.cells[cell] for cell in drawn(len(kind.cells))]
        numbers = [files.integers(each, range(ROWS)) for each in ("pid", "place")]
        files.write(folder / f"{name}.parquet", *numbers, replace(kind, cells=rows))
    stored = Stored(source=Source(kind=SourceKind.PARQUET, path="."), base=folder)
    for name, found in became(stored, {name: len(kind.cells) for name, kind in kinds.items()}):
        if any(len(values) > 1 for values in found.values()):
            yield f"{name}: equal cells differ"
        people = [person for values in found.values() for person in values if person is not None]
        real = name.startswith(("float", "double"))  # 0 is written in two ways
        if name.endswith("as id") and not real and len(set(people)) < len(people):
            yield f"{name}: two persons are one"


def test_whatever_bytes_a_file_holds_no_cell_is_another_s_and_no_two_ids_are_one(
    tmp_path: Path,
) -> None:
    assert list(in_bytes(tmp_path, by_hand())) == []
