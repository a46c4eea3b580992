"""What a declared source consists of, once its parts were found: the same for every kind.

Everything here was made of paths, headers and catalogues; no row is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from sqlglot import exp

from confide.rows.sources.fingerprint import SourceState
from confide.tables.dialect import AS_USUAL, Dialect
from confide.tables.encoding import Encoding

Found: TypeAlias = Mapping[str, tuple[tuple[Path, ...], ...]]
"""The places that may hold each declared table, each as its files."""

PATTERN = "*?["
"""Characters that make a path a pattern to the engine."""


class Export(Protocol):
    """What other programs write, as rows of texts; equal ones are the same."""

    def lines(self, path: Path) -> Iterator[Sequence[str]]:
        """Yield the names of all columns, then the cells of each row.

        A row that is cut short stands for one that cannot be read.

        Raises:
            OSError: If the file cannot be read as what it should be.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """How the files of one table are read.

    Attributes:
        relation: How SQL names them.
        types: Our own names of types that the engine calls otherwise, by column.
        octets: In how many bytes the files keep a number, by column.
        broken: What the reader writes for bytes that are no text; "" where there are none.
        lines: All records of the files, of which some may be no rows; None where all are.
        parts: Its files, where they are text or become some.
        encoding: Of that text.
        dialect: Of that text.
        export: What makes text of its files; None where they are some.
        numbers: Columns that are another one where a number is read of them, and which.
        dates: The same where a date is read.
    """

    relation: exp.Table
    types: Mapping[str, str] = field(default_factory=dict)
    octets: Mapping[str, int] = field(default_factory=dict)
    broken: str = ""
    lines: exp.Table | None = None
    parts: tuple[Path, ...] = ()
    encoding: Encoding = Encoding.UTF_8
    dialect: Dialect = AS_USUAL
    export: Export | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What a source consists of.

    Attributes:
        state: The only files that the engine may open, as they were before a header was read.
        attach: A DuckDB file, whose catalogue is read once it is attached.
        frames: Arrow tables to register, by our own names.
        relations: How SQL names a declared table, by declared name.
        scans: How the files of a declared table are read, by declared name.
        numbers: Of a declared table the columns that are another one where a number is read of
            them, and which.
        missing: Why a declared table was not found, by declared name.
        fold_case: Whether names of tables and columns are matched without regard to case.
    """

    state: SourceState = field(default_factory=SourceState)
    attach: Path | None = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    relations: Mapping[str, exp.Table] = field(default_factory=dict)
    scans: Mapping[str, Scan] = field(default_factory=dict)
    numbers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    fold_case: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """The only files that the engine may open."""
        return self.state.files


def from_scans(scans: Mapping[str, Scan], *, missing: Mapping[str, str]) -> Opened:
    """Return what a source of files consists of."""
    return Opened(
        relations={name: scan.relation for name, scan in scans.items()},
        scans=scans,
        missing=missing,
    )
