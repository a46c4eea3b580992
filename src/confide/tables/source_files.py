"""Which files a declared table means in the folder of a source, and which sheet of a workbook.

By names alone: nothing is opened.  Where a table stands in a workbook is declared, because a reader
that looks for its header lets cells of patients decide what is read.

One finder for everybody who asks: the engine opens these files and no other, a release is committed
to the state in which it opened them, and none of them is public.  Of a Delta table the engine opens
those of the latest version alone.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from confide.errors import ContractError
from confide.tables.source import SourceKind

PARQUET = (".parquet",)
DELIMITED = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
WORKBOOKS = (".xlsx", ".xlsm")
STATA = (".dta",)
SPSS = (".sav", ".zsav")
SAS = (".sas7bdat", ".xpt")
NDJSON = (".ndjson", ".ndjson.gz")
LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB writes beside a file, and reads rows from where it is still there: what was written
since the last checkpoint, during one that did not end, and while both were put together."""
EXPORTED = {
    SourceKind.EXCEL: WORKBOOKS,
    SourceKind.STATA: STATA,
    SourceKind.SPSS: SPSS,
    SourceKind.SAS: SAS,
    SourceKind.FHIR: NDJSON,
}
"""Of the files that other programs write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: Of the sheet; "" where the workbook has one alone.
        header: Number of the row that names the columns.
        rows_from: Number of the first row below that is one of the table; None for the next.
    """

    name: str = ""
    header: int = 1
    rows_from: int | None = None

    def __post_init__(self) -> None:
        if self.rows_from is not None and self.rows_from <= self.header:
            raise ContractError(
                f"sheet → rows-from: expected a row below {self.header}, got {self.rows_from}.",
                hint="Rows have the numbers that the spreadsheet shows.",
            )

    @property
    def first(self) -> int:
        """Return the number of the first row of the table."""
        return self.header + 1 if self.rows_from is None else self.rows_from


FIRST_ROW = Sheet()
"""The only sheet, with its names in the first row."""


def table_files(root: Path, table: str, *, kind: SourceKind) -> tuple[tuple[Path, ...], ...]:
    """Return the places that may hold a table in the folder ``root``, each as its files.

    Paths are as they are found: symbolic links are not followed, and a name may lead outside.  Two
    places are one too many, unless the table may be written twice.

    Args:
        root: Folder of the source.
        table: What the table is called in the source.
        kind: Kind of the source; one of frames, or of a DuckDB file, holds nothing in a folder.
    """
    match kind:
        case SourceKind.FRAMES | SourceKind.DUCKDB | SourceKind.POSTGRES:
            return ()
        case SourceKind.MEDS:
            shards = _below(root / table, endings=PARQUET)
            return (shards,) if shards else ()
        case SourceKind.PARQUET | SourceKind.SPARK:
            return _parts(root, table, endings=PARQUET)
        case SourceKind.CSV:
            return _parts(root, table, endings=DELIMITED)
        case SourceKind.EXCEL | SourceKind.STATA | SourceKind.SPSS | SourceKind.SAS:
            return _parts(root, table, endings=EXPORTED[kind])
        case SourceKind.FHIR:
            parts = _of_resource(root, table)
            return (parts,) if parts else ()
        case SourceKind.OMOP:
            return _in_any_case(root, table)
        case _:
            assert_never(kind)


def with_logs(path: Path) -> tuple[Path, ...]:
    """Return a file and what may be its logs, whether they are there or not.

    Example:
        >>> [each.name for each in with_logs(Path("rows.duckdb"))][:2]
        ['rows.duckdb', 'rows.duckdb.wal']
    """
    return (path, *(path.with_name(f"{path.name}{ending}") for ending in LOGS))


def fits(path: Path, *, endings: tuple[str, ...]) -> bool:
    """Return whether a name can be that of rows.

    What begins with "." or "_" is what tools and editors leave behind, as are other endings.
    """
    return not path.name.startswith((".", "_")) and path.name.lower().endswith(endings)


def _parts(root: Path, table: str, *, endings: tuple[str, ...]) -> tuple[tuple[Path, ...], ...]:
    """Return one file, or the files of one folder; ``visits`` may be the file ``visits.csv``."""
    path = root / table
    if not path.exists():
        path = next((p for e in endings if (p := root / f"{table}{e}").is_file()), path)
    if path.is_dir():
        parts = _files_in(path, endings=endings)
        return (parts,) if parts else ()
    return ((path,),) if path.exists() or path.is_symlink() else ()


def _of_resource(root: Path, resource: str) -> tuple[Path, ...]:
    """Return the files of a bulk export that hold a resource: ``1.Observation.ndjson``.

    Their names have the resource between signs; it is one, whatever else they say.
    """
    return tuple(
        path
        for path in _files_in(root, endings=NDJSON)
        if resource in re.split(r"[^A-Za-z]+", path.name)
    )


def _below(folder: Path, *, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of a folder and of the folders in it: shards of splits, ``train/0.parquet``.

    A link to a folder is not followed: it could lead in a circle.
    """
    if not folder.is_dir():
        return ()
    splits = (p for p in sorted(folder.iterdir()) if p.is_dir() and not p.is_symlink())
    kept = (p for p in splits if not p.name.startswith((".", "_")))
    return (
        *_files_in(folder, endings=endings),
        *(part for each in kept for part in _below(each, endings=endings)),
    )


def _in_any_case(root: Path, table: str) -> tuple[tuple[Path, ...], ...]:
    """Return the files and folders of a table of the CDM, whose names ignore case."""
    found = []
    for place in root.iterdir():
        if place.is_dir():
            called = place.name.lower() == table.lower()
            parts = _files_in(place, endings=PARQUET) or _files_in(place, endings=DELIMITED)
        else:
            called = place.name.lower().split(".")[0] == table.lower()
            parts = (place,) if fits(place, endings=PARQUET + DELIMITED) else ()
        if called and parts:
            found.append(parts)
    return tuple(found)


def _files_in(folder: Path, *, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of a folder that can be parts of a table, in the order of their names."""
    return tuple(sorted(p for p in folder.iterdir() if not p.is_dir() and fits(p, endings=endings)))
