"""Whether files are still those that were read, without reading them.

A file that is written again with the size and the time of before is another file: what it holds may
be other patients.  Its time can be set by anybody, the time of its last change of state (``ctime``)
by the file system alone, and a file put in its place has another number (``inode``).

*Utility:* a file that is copied, moved or given other rights counts as changed, though its bytes
may be the same; what was made from it is then made once more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from confide.tables.source_files import with_logs

Fingerprint: TypeAlias = tuple[str, int, int, int, int, int]
"""Path, device, number, bytes, time of writing and time of change (both in nanoseconds)."""


def fingerprints(files: Iterable[Path]) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of files, with the logs that DuckDB files may have beside them."""
    found = []
    for path in files:
        for part in with_logs(path):
            if part.exists():
                of = part.stat()
                found.append(
                    (str(part), of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns)
                )
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """The files of a source, and what they were like when somebody looked.

    What is read, copied and committed to is of one state: it is taken once, before anything is
    opened, and asked again afterwards whether it holds.

    Attributes:
        files: Resolved; empty for tables in memory.
        fingerprints: Of the files, at that time.
    """

    files: tuple[Path, ...] = ()
    fingerprints: tuple[Fingerprint, ...] = ()

    @classmethod
    def of(cls, files: Iterable[Path]) -> Self:
        """Return what files are like now."""
        files = tuple(files)
        return cls(files=files, fingerprints=fingerprints(files))

    def holds(self) -> bool:
        """Return whether the files are still what they were."""
        return fingerprints(self.files) == self.fingerprints
