"""From a declared source to relations that SQL can name, and the files the engine may open.

Everything here looks at paths, headers and catalogues; no row is read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from sqlglot import exp

from confide.errors import ContractError
from confide.tables.schema import Dataset, Table
from confide.tables.source import Source, SourceKind

PARQUET = (".parquet",)
DELIMITED = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """How the files of one table are read.

    Attributes:
        relation: How SQL names them.
        types: Our own names of types that the engine calls otherwise, by column.
        mended: Whether the reader writes "?" for what is no text.
    """

    relation: exp.Table
    types: Mapping[str, str] = field(default_factory=dict)
    mended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What a source consists of.

    Attributes:
        files: The only files that the engine may open.
        attach: A DuckDB file, whose catalogue is read once it is attached.
        frames: Arrow tables to register, by our own names.
        relations: How SQL names a declared table, by declared name.
        scans: How the files of a declared table are read, by declared name.
        missing: Why a declared table was not found, by declared name.
        fold_case: Whether names of tables and columns are matched without regard to case.
        integer_ids: Whether person ids are integers by specification.
    """

    files: tuple[Path, ...] = ()
    attach: Path | None = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    relations: Mapping[str, exp.Table] = field(default_factory=dict)
    scans: Mapping[str, Scan] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    fold_case: bool = False
    integer_ids: bool = False


def prepared(
    source: Source, *, base: Path, dataset: Dataset, frames: Mapping[str, object] | None
) -> Opened:
    """Find the parts of a declared source.

    Raises:
        ContractError: If the source does not exist, or a table lies outside it.
    """
    from confide.rows.sources.delimited import csv_scan
    from confide.rows.sources.frames import from_frames
    from confide.rows.sources.omop import from_omop
    from confide.rows.sources.parquet import parquet_scan

    match source.kind:
        case SourceKind.FRAMES:
            return from_frames(frames or {}, dataset=dataset)
        case SourceKind.DUCKDB:
            path = existing(source, base=base)
            return Opened(files=(path,), attach=path)
        case SourceKind.OMOP:
            return from_omop(existing(source, base=base), dataset=dataset)
        case SourceKind.PARQUET:
            root = existing(source, base=base)
            return from_files(root, dataset=dataset, read=parquet_scan, endings=PARQUET)
        case SourceKind.CSV:
            root = existing(source, base=base)
            return from_files(root, dataset=dataset, read=csv_scan, endings=DELIMITED)
        case _:
            assert_never(source.kind)


def existing(source: Source, *, base: Path) -> Path:
    """Return the absolute path of a source.

    Raises:
        ContractError: If nothing is there.
    """
    path = (base / source.path).resolve()
    if not path.exists():
        raise ContractError(
            f"Source {source.path!r} does not exist.",
            hint="The path is relative to the folder of dataset.yaml.",
        )
    return path


def from_files(
    root: Path, *, dataset: Dataset, read: Callable[..., Scan], endings: tuple[str, ...]
) -> Opened:
    """Find one file, or one folder of part files, for each declared table.

    A table named ``visits`` may be the file ``visits.csv``: its name with one of ``endings``.
    """
    scans: dict[str, Scan] = {}
    missing: dict[str, str] = {}
    files: list[Path] = []
    for table in dataset.tables:
        parts = part_files(root, table, endings=endings)
        if not parts:
            folder = not root.is_file() and (root / table.source).is_dir()
            what = f"no file ending in {' or '.join(endings)}" if folder else "no file"
            where = " of the source" if folder else " in the source"
            place = f"{what} in folder {table.source!r}" if folder else f"{what} {table.source!r}"
            missing[table.name] = f"Table {table.name!r}: {place}{where}."
            continue
        scans[table.name] = read(parts, table=table)
        files.extend(parts)
    return from_scans(scans, files=files, missing=missing)


def from_scans(
    scans: Mapping[str, Scan], *, files: Sequence[Path], missing: Mapping[str, str]
) -> Opened:
    """Return what a source of files consists of."""
    return Opened(
        files=tuple(dict.fromkeys(files)),
        relations={name: scan.relation for name, scan in scans.items()},
        scans=scans,
        missing=missing,
    )


def part_files(root: Path, table: Table, *, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of a table, in the order of their names.

    Raises:
        ContractError: If they lie outside the source.
    """
    if root.is_file():
        named = table.source in ("", root.name)
        return (inside(root, root=root, table=table),) if named else ()
    path = root / table.source
    if not path.exists():
        path = next((p for e in endings if (p := root / f"{table.source}{e}").is_file()), path)
    if not path.exists():
        return ()
    parts = files_in(path, endings=endings) if path.is_dir() else (path,)
    return tuple(inside(part, root=root, table=table) for part in parts)


def files_in(folder: Path, *, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of a folder that can be parts of a table, in the order of their names.

    What begins with "." or "_" is what tools and editors leave behind, as are other endings.
    """
    return tuple(sorted(p for p in folder.iterdir() if p.is_file() and fits(p, endings=endings)))


def fits(path: Path, *, endings: tuple[str, ...]) -> bool:
    """Return whether a name can be that of rows."""
    return not path.name.startswith((".", "_")) and path.name.lower().endswith(endings)


def inside(path: Path, *, root: Path, table: Table) -> Path:
    """Return the absolute path of a file of a source.

    Raises:
        ContractError: If it lies outside, or its name is a pattern to the engine.
    """
    path = path.resolve()
    if not path.is_relative_to(root):
        raise ContractError(
            f"Table {table.name!r} lies outside its source.",
            hint="Declare the folder that holds it as the source.",
        )
    if any(character in str(path) for character in "*?["):
        raise ContractError(
            f"Table {table.name!r}: the path of a file may not contain *, ? or [.",
            hint="Such a name is a pattern, which could match other files.",
        )
    return path


def in_catalog(
    found: Iterable[tuple[str, str]], *, database: str, dataset: Dataset, fold_case: bool
) -> tuple[dict[str, exp.Table], dict[str, str]]:
    """Find declared tables among (schema, table) of an attached file, by exact name.

    Views are not found: what a view computes need not be a table of rows of persons.
    """

    def same(name: str) -> str:
        return name.lower() if fold_case else name

    names: dict[str, list[tuple[str, str]]] = {}
    for place in found:
        names.setdefault(same(place[1]), []).append(place)
        names.setdefault(same(".".join(place)), []).append(place)
    relations: dict[str, exp.Table] = {}
    missing: dict[str, str] = {}
    for table in dataset.tables:
        places = names.get(same(table.source), [])
        if len(places) == 1:
            schema, name = places[0]
            relations[table.name] = exp.table_(name, db=schema, catalog=database, quoted=True)
        else:
            why = "is in several schemas" if places else "was not found as a table"
            missing[table.name] = f"Table {table.name!r}: {table.source!r} {why} in the source."
    return relations, missing
