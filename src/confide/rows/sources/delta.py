"""Delta tables: the Parquet files of the latest version, by the table's own log.

A folder with ``_delta_log`` holds files of versions before too: which of them are the table is said
by the log [Delta].  It is replayed here: from the last checkpoint that is whole, else from the
first commit, to the last one.  What is found are Parquet files, which every engine reads as others.

What a file alone does not say is refused by name: deletion vectors, mapped columns, partition
columns, files of other tables, and whatever feature a reader would have to know besides.

*Privacy:* the log's statistics of cells are not looked at; what is refused depends on features and
on which files there are, as it does for Parquet.

References:
    [Delta] Delta Lake. Delta transaction log protocol.
        https://github.com/delta-io/delta/blob/master/PROTOCOL.md
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from confide.errors import ContractError
from confide.regular_file import read_text, require_regular
from confide.tables.source_files import PARQUET, fits

DELTA_LOG = "_delta_log"
_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10}))?\.parquet")
_READERS = (1, 2, 3)
_KNOWN = frozenset({"columnMapping", "deletionVectors", "timestampNtz", "vacuumProtocolCheck"})
"""Features of readers that are known; the first two are refused where they are used."""
_ACTIONS = ("protocol", "metaData", "remove", "add")
"""Kinds of actions that say what a table is; within a commit, or a checkpoint, what is removed goes
first: a file that gets a deletion vector is removed without it, and added with it."""
_AS_PARQUET = "Write the table as Parquet files, and declare their folder."
_Action: TypeAlias = Mapping[str, Any]


def is_delta(folder: Path) -> bool:
    """Return whether a folder is a Delta table."""
    return (folder / DELTA_LOG).is_dir()


def latest_versions(
    places: tuple[tuple[Path, ...], ...], *, folder: Path
) -> tuple[tuple[Path, ...], ...]:
    """Return the places of a table, where a Delta table is the files of its latest version.

    Args:
        places: Each as the files that are found there.
        folder: What the table is called in the source, where it may have no file of its own.

    Raises:
        ContractError: As :func:`delta_files`.
    """
    whole = is_delta(folder)
    if not places and whole:
        places = ((folder / DELTA_LOG,),)
    found = []
    for files in places:
        kept: list[Path] = []
        for each in dict.fromkeys(
            folder if whole and file.is_relative_to(folder) else file.parent for file in files
        ):
            _require_top(each)
            kept += delta_files(each) if is_delta(each) else (f for f in files if f.parent == each)
        found.append(tuple(kept))
    return tuple(files for files in found if files)


def _require_top(folder: Path) -> None:
    """Refuse a folder within a Delta table, whose log may have removed files of it.

    Raises:
        ContractError: If it is one.
    """
    for above in folder.parents:
        if is_delta(above):
            raise _refused(
                above.name,
                f"holds the folder {folder.name!r} that is read",
                hint="Declare the folder of the Delta table itself, or write it as Parquet files.",
            )


def delta_files(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet files of the latest version of a Delta table, by name.

    Raises:
        ContractError: If the log lacks a part, or the table is more than its files.
    """
    protocol: _Action = {}
    about: _Action = {}
    live: dict[Path | str, _Action] = {}
    with _reading(folder.name):
        for kind, action in _actions(folder):
            match kind:
                case "protocol":
                    protocol = action
                case "metaData":
                    about = action
                case "remove":
                    live.pop(_place(action["path"]), None)
                case _:
                    live[_place(action["path"])] = action
        _require_readable(protocol, about=about, table=folder.name)
    if any(action.get("deletionVector") for action in live.values()):
        raise _refused(
            folder.name,
            "has deletion vectors: rows that stand in its files and are deleted",
            hint="Run REORG TABLE … APPLY (PURGE), or write the table as Parquet files.",
        )
    return tuple(sorted(_file(place, folder=folder) for place in live))


@contextlib.contextmanager
def _reading(table: str) -> Iterator[None]:
    """Refuse what stops the reading of a log.

    Raises:
        ContractError: If it cannot be read.
    """
    import pyarrow as pa

    odd = (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError)
    try:
        yield
    except ContractError:
        raise
    except (*odd, pa.ArrowException):
        raise _refused(table, "has a log that cannot be read", hint=_AS_PARQUET) from None


def _actions(folder: Path) -> Iterator[tuple[str, _Action]]:
    """Yield what the log says of the latest version, in the order in which it holds."""
    commits, checkpoints = _parts_of_log(folder / DELTA_LOG)
    start = max(checkpoints, default=-1)
    last = max(commits, default=start)
    missing = [number for number in range(start + 1, last + 1) if number not in commits]
    if missing or last < 0:
        raise _refused(
            folder.name,
            f"lacks version {missing[0] if missing else 0} in its log",
            hint=f"Copy the whole folder {DELTA_LOG}, or write the table as Parquet files.",
        )
    held = (row for part in checkpoints.get(start, ()) for row in _rows(part))
    yield from _in_order(held)
    for number in range(start + 1, last + 1):
        yield from _in_order(_lines(commits[number]))


def _parts_of_log(log: Path) -> tuple[dict[int, Path], dict[int, tuple[Path, ...]]]:
    """Return the commits by version, and of each version the checkpoint, if it is whole."""
    commits: dict[int, Path] = {}
    parts: dict[tuple[int, int], list[Path]] = {}
    for path in sorted(log.iterdir()):
        if found := _COMMIT.fullmatch(path.name):
            commits[int(found[1])] = path
        elif found := _CHECKPOINT.fullmatch(path.name):
            parts.setdefault((int(found[1]), int(found[3] or 1)), []).append(path)
    whole = {
        version: tuple(paths) for (version, number), paths in parts.items() if len(paths) == number
    }
    return commits, whole


def _lines(commit: Path) -> Iterator[_Action]:
    for line in read_text(commit, largest=None).split("\n"):
        if line.strip():
            yield json.loads(line)


def _rows(checkpoint: Path) -> Iterator[_Action]:
    import pyarrow.parquet as pq

    require_regular(checkpoint)
    file = pq.ParquetFile(checkpoint)
    kept = [name for name in _ACTIONS if name in file.schema_arrow.names]
    for batch in file.iter_batches(columns=kept):
        yield from batch.to_pylist()


def _in_order(rows: Iterable[_Action]) -> list[tuple[str, _Action]]:
    """Return the actions of one commit: what is removed before what is added."""
    found = [
        (kind, dict(row[kind])) for row in rows for kind in _ACTIONS if row.get(kind) is not None
    ]
    return sorted(found, key=lambda each: _ACTIONS.index(each[0]))


def _place(written: str) -> Path | str:
    """Return where a file lies in its table, however it is written; one of another table as it is.

    Raises:
        ValueError: If it is no path.
    """
    url = urlsplit(written)
    path = Path(unquote(url.path, errors="strict"))
    if url.query or url.fragment or path == Path() or "\0" in str(path):
        raise ValueError
    other = url.scheme or url.netloc or path.is_absolute() or ".." in path.parts
    return written if other else path


def _file(place: Path | str, *, folder: Path) -> Path:
    """Return the path of a file of the log.

    Raises:
        ContractError: If it is one of another table, or not every engine would read it.
    """
    if isinstance(place, str):
        raise _refused(
            folder.name, "names files of another table (a shallow clone)", hint=_AS_PARQUET
        )
    hidden = any(part.startswith((".", "_")) for part in place.parts)
    if hidden or not fits(place, endings=PARQUET):
        raise _refused(
            folder.name,
            "has files whose names begin with . or _, or do not end in .parquet",
            hint=_AS_PARQUET,
        )
    return folder / place


def _require_readable(protocol: _Action, *, about: _Action, table: str) -> None:
    """Refuse a table that is more than its Parquet files.

    Raises:
        ContractError: If it is.
    """
    version = protocol.get("minReaderVersion")
    if version not in _READERS or not about:
        raise _refused(table, f"asks for reader version {version}", hint=_AS_PARQUET)
    unknown = sorted(set(protocol.get("readerFeatures") or ()) - _KNOWN)
    if unknown:
        raise _refused(table, f"needs the reader feature {unknown[0]!r}", hint=_AS_PARQUET)
    if (about.get("format") or {}).get("provider", "parquet") != "parquet":
        raise _refused(table, "is not stored as Parquet", hint=_AS_PARQUET)
    settings = dict(about.get("configuration") or {})
    if settings.get("delta.columnMapping.mode", "none") != "none":
        raise _refused(table, "maps its columns to other names (columnMapping)", hint=_AS_PARQUET)
    if about.get("partitionColumns"):
        raise _refused(
            table,
            "has partition columns, which stand in no file",
            hint="Write it without PARTITIONED BY, or as Parquet files with all columns.",
        )


def _refused(table: str, why: str, *, hint: str) -> ContractError:
    return ContractError(f"The Delta table {table!r} {why}.", hint=hint)
