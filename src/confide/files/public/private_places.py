"""Files that are never public: the source's, and those of the workspace folder.

A study may take public numbers from a file beside it, and whoever writes the study need not be who
may read the data.  So such a file is compared with what is private, once it is open and before a
byte of it is read: by the path it resolves to (``..``, symbolic links, ``/proc``), and by device
and inode (hard links, file systems that ignore case).  A copy of data under another name cannot be
told from a public file.

Private are the workspace folder with ledger, keys and prepared copies; the anchor; the source's
file with its logs, or the files of its declared tables; and to a study the whole folder of a
source, unless that folder also holds dataset.yaml.  The files of a table are those that the engine
would open, by its own finder, and more: whatever else lies in the folder of a table, or has its
name.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from confide.errors import ContractError
from confide.tables.source import Source
from confide.tables.source_files import table_files, with_logs

WORKSPACE = ".confide"
_ENDINGS = ("", ".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlaces:
    """What no public number may come from.

    Attributes:
        folders: Resolved; with all that lies in them.
        files: Device and inode of every private file.
    """

    folders: tuple[Path, ...]
    files: frozenset[tuple[int, int]]

    def refuse(self, file: IO[Any], *, path: Path) -> None:
        """Refuse an open file that is private.

        Raises:
            ContractError: If it is; the message names the file alone.
        """
        status = os.fstat(file.fileno())
        resolved = path.resolve()
        inside = any(resolved.is_relative_to(folder) for folder in self.folders)
        if inside or (status.st_dev, status.st_ino) in self.files:
            raise ContractError(
                f"{path.name} belongs to the data or to the workspace folder: it is not public.",
                hint="Name a public file that lies outside the folder of the data.",
            )


def declared_places(
    *, base: Path, source: Source, tables: Iterable[str], anchor: Path | None = None
) -> PrivatePlaces:
    """Return what is private as dataset.yaml declares it, for the files that it names itself.

    Args:
        base: Folder of dataset.yaml.
        source: Its path is relative to ``base``.
        tables: What the declared tables are called in the source.
        anchor: File of signed heads, where it is not in the workspace folder.
    """
    workspace, root = (base / WORKSPACE).resolve(), (base / source.path).resolve()
    found = [*_beneath(workspace), *([] if anchor is None else [anchor])]
    if source.path and root.is_dir():
        for table in tables:
            found += [
                part for parts in table_files(root, table, kind=source.kind) for part in parts
            ]
            found += _of_table(root, table)
    elif source.path:
        found += with_logs(root)
    return PrivatePlaces(folders=(workspace,), files=frozenset(_identities(found)))


def with_source(places: PrivatePlaces, *, base: Path, source: Source) -> PrivatePlaces:
    """Add the whole folder of a source, for the files that a study names.

    A folder that holds dataset.yaml stays as it is: public files may lie beside it.
    """
    root = (base / source.path).resolve()
    if not source.path or not root.is_dir() or base.resolve().is_relative_to(root):
        return places
    files = places.files.union(_identities(_beneath(root)))
    return PrivatePlaces(folders=(*places.folders, root), files=files)


def _of_table(root: Path, table: str) -> Iterator[Path]:
    """Yield what else may be rows of a table: by its name in any case, or beneath its folder.

    Where the folder of a table is that of the source, there may be other folders in it, and other
    tables: then only what tools leave behind beside its parts is yielded.
    """
    places = [root / f"{table}{ending}" for ending in _ENDINGS]
    places += [place for place in root.iterdir() if _called(place, table)]
    for place in places:
        yield place
        if not place.is_dir():
            continue
        if root.is_relative_to(place.resolve()):
            yield from (part for part in place.iterdir() if _left_behind(part))
        else:
            yield from _beneath(place)


def _called(place: Path, table: str) -> bool:
    name = place.name.lower()
    held = place.is_dir() or name.endswith(_ENDINGS[1:])
    return held and name.split(".")[0] == table.lower()


def _left_behind(place: Path) -> bool:
    return place.name.startswith((".", "_")) and place.name.lower().endswith(_ENDINGS[1:])


def _beneath(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            yield Path(place) / name


def _identities(paths: Iterable[Path]) -> Iterator[tuple[int, int]]:
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        yield status.st_dev, status.st_ino
