"""From a declared source to relations that SQL can name, and the files the engine may open.

Everything here looks at paths, headers and catalogues; no row is read.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from sqlglot import exp

from confide.errors import ContractError
from confide.regular_file import require_regular
from confide.rows.cells.layout import source_names
from confide.rows.sources.delimited import csv_scan
from confide.rows.sources.delta import latest_versions
from confide.rows.sources.exported.scan import exported_scan
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.frames import from_frames
from confide.rows.sources.omop import from_omop
from confide.rows.sources.opened import PATTERN, Found, Opened, Scan, from_scans
from confide.rows.sources.parquet import parquet_scan
from confide.tables.schema import Dataset, Table
from confide.tables.source import Source, SourceKind
from confide.tables.source_files import DELIMITED, EXPORTED, PARQUET, table_files, with_logs

_OF_PARQUET = (SourceKind.PARQUET, SourceKind.SPARK, SourceKind.MEDS, SourceKind.OMOP)
"""Kinds whose tables may be Delta tables."""


def prepared(
    source: Source, *, base: Path, dataset: Dataset, frames: Mapping[str, object] | None
) -> Opened:
    """Find the parts of a declared source.

    Raises:
        ContractError: If the source does not exist, or a table lies outside it.
    """

    def texts(parts: tuple[Path, ...], *, table: Table) -> Scan:
        return csv_scan(parts, table=table, declared=source_names(table, dataset=dataset))

    def exports(parts: tuple[Path, ...], *, table: Table) -> Scan:
        declared = source_names(table, dataset=dataset)
        return exported_scan(
            parts, table=table, dataset=dataset, declared=declared, kind=source.kind
        )

    if source.kind is SourceKind.FRAMES:
        return from_frames(frames or {}, dataset=dataset)
    if source.in_postgres:
        raise ContractError("A database has no files.", hint="Open it as what it is.")
    root = existing(source, base=base)
    attached = _attached(source, root=root)
    found = {} if attached else found_files(source, root=root, dataset=dataset)
    state = SourceState.of((root,) if attached else opened_files(found))
    match source.kind:
        case SourceKind.DUCKDB:
            opened = Opened(attach=root)
        case SourceKind.OMOP:
            opened = from_omop(found, attach=root if attached else None, dataset=dataset)
        case SourceKind.PARQUET | SourceKind.MEDS | SourceKind.SPARK:
            opened = from_files(
                found, root=root, dataset=dataset, read=parquet_scan, endings=PARQUET
            )
        case SourceKind.CSV:
            opened = from_files(found, root=root, dataset=dataset, read=texts, endings=DELIMITED)
        case (
            SourceKind.EXCEL | SourceKind.STATA | SourceKind.SPSS | SourceKind.SAS | SourceKind.FHIR
        ):
            opened = from_files(
                found, root=root, dataset=dataset, read=exports, endings=EXPORTED[source.kind]
            )
        case SourceKind.POSTGRES:
            raise ContractError("A database has no files.", hint="Open it as what it is.")
        case _:
            assert_never(source.kind)
    return replace(opened, state=state)


def state_of(source: Source, *, base: Path, dataset: Dataset) -> SourceState:
    """Return what the files of a source are like now; empty where it is in memory.

    These are the files that an engine would open.  Only their names and states are looked at.

    Raises:
        ContractError: If the source does not exist, or a table lies outside it.
    """
    if source.kind is SourceKind.FRAMES or source.in_postgres:
        return SourceState()
    root = existing(source, base=base)
    if _attached(source, root=root):
        return SourceState.of((root,))
    return SourceState.of(opened_files(found_files(source, root=root, dataset=dataset)))


def _attached(source: Source, *, root: Path) -> bool:
    return source.kind is SourceKind.DUCKDB or (source.kind is SourceKind.OMOP and root.is_file())


def found_files(source: Source, *, root: Path, dataset: Dataset) -> Found:
    """Return where each declared table lies in a folder, or is one file; resolved once, here.

    Raises:
        ContractError: If a table lies outside the source, or is a Delta table that is more than its
            files.
    """
    found: dict[str, tuple[tuple[Path, ...], ...]] = {}
    for table in dataset.tables:
        places: tuple[tuple[Path, ...], ...] = ()
        if root.is_file():
            places = ((root,),) if _is_of(root, table=table, kind=source.kind) else ()
        else:
            places = table_files(root, table.source, kind=source.kind)
            if source.kind in _OF_PARQUET:
                places = latest_versions(places, folder=root / table.source)
        found[table.name] = tuple(
            tuple(inside(part, root=root, table=table) for part in parts) for parts in places
        )
    return found


def _is_of(file: Path, *, table: Table, kind: SourceKind) -> bool:
    """Return whether a source of one file holds a table: of a workbook, each that names no file."""
    named = table.source != table.name
    return table.source in ("", file.name) or (kind is SourceKind.EXCEL and not named)


def opened_files(found: Found) -> tuple[Path, ...]:
    """Return the files of the tables that lie in one place: the others are not read."""
    parts = (path for places in found.values() if len(places) == 1 for path in places[0])
    return tuple(dict.fromkeys(parts))


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
    return path if path.is_dir() else readable(path)


def readable(path: Path) -> Path:
    """Return the path of a file that an engine will open by its name.

    Raises:
        ContractError: If it, or a log of a DuckDB file, is no regular file.
    """
    require_regular(path)
    for log in with_logs(path)[1:]:
        with contextlib.suppress(FileNotFoundError):
            require_regular(log)
    return path


def from_files(
    found: Found,
    *,
    root: Path,
    dataset: Dataset,
    read: Callable[..., Scan],
    endings: tuple[str, ...],
) -> Opened:
    """Return how the files of each declared table are read: one file, or one folder of parts."""
    scans: dict[str, Scan] = {}
    missing: dict[str, str] = {}
    for table in dataset.tables:
        if found[table.name]:
            (parts,) = found[table.name]
            scans[table.name] = read(parts, table=table)
            continue
        folder = not root.is_file() and (root / table.source).is_dir()
        what = f"no file ending in {' or '.join(endings)}" if folder else "no file"
        where = " of the source" if folder else " in the source"
        place = f"{what} in folder {table.source!r}" if folder else f"{what} {table.source!r}"
        missing[table.name] = f"Table {table.name!r}: {place}{where}."
    return from_scans(scans, missing=missing)


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
    if any(character in str(path) for character in PATTERN):
        raise ContractError(
            f"Table {table.name!r}: the path of a file may not contain *, ? or [.",
            hint="Such a name is a pattern, which could match other files.",
        )
    return readable(path)


def in_catalog(
    found: Iterable[tuple[str, str]],
    *,
    views: Iterable[tuple[str, str]],
    database: str,
    dataset: Dataset,
    fold_case: bool,
) -> tuple[dict[str, exp.Table], dict[str, str]]:
    """Find declared tables among (schema, table) of an attached file, by exact name.

    Views are not found: what a view computes need not be a table of rows of persons.
    """

    def same(name: str) -> str:
        return name.lower() if fold_case else name

    seen = {same(name) for view in views for name in (view[1], ".".join(view))}
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
            why = "was not found as a table in the source"
            if places:
                why = "is in several schemas in the source"
            elif same(table.source) in seen:
                why = "is a view in the source, and views are not read: store it as a table"
            missing[table.name] = f"Table {table.name!r}: {table.source!r} {why}."
    return relations, missing
