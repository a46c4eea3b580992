"""The dense number of each patient: by the keyed hash of their id, once and for all.

Numbers count up in the order in which patients were met, through snapshots and preparations of one
lineage, and are never given again.  New patients come in a segment of their own, a sealed file that
is durable before any record names them.  Each segment names its lineage and those before it, and
records name the segments that they number by, so that one of another history is not taken for it.
Segments are written anew when somebody is forgotten, and put back by whoever restores the folder.
Each says which lists of withdrawn patients it forgot; before a release those that lack one forget
again.  And each names its editions, one for each time that it forgot somebody, and records name the
one that they were made under.  So segments of before are never in use unseen: they would give back
the number of somebody who was met anew since, and what that one paid would be nobody's.

*Privacy:* numbers and hashes are for the store alone.  The same id is the same patient as long as
the hash key is; under another key every patient would look new, so it is refused.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.budget.per_patient.sealed import (
    Sealed,
    changed,
    read_sealed,
    rewrite_sealed,
    write_sealed,
)
from confide.errors import InvalidParameterError, LedgerFrozenError
from confide.regular_file import sync_folder

KIND = "people"
UNKNOWN = -1
_NONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSegment:
    """Patients who were met at once.

    Attributes:
        start: The first number.
        after: After which row of the ledger they were met.
        forgot: Tags of the lists whose patients it forgot.
        editions: A random name for each time that somebody was forgotten, in order.
        anew: A row of the ledger from which on they count as met anew; 0 of none.
    """

    start: int
    after: int
    forgot: frozenset[str]
    editions: tuple[str, ...]
    anew: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Whom segments shall forget.

    Attributes:
        identities: The two words of each keyed hash; shape (persons, 2).
        lists: Tags of the lists that they stand in.
        row: The last one of the ledger.
    """

    identities: NDArray[np.uint64]
    lists: frozenset[str]
    row: int


class People:
    """The patients of one lineage, in a folder of segments."""

    def __init__(self, folder: Path, *, lineage: str, key: bytes) -> None:
        self.folder, self._lineage, self._key = folder, lineage, key
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
            sync_folder(folder.parent)
        self._order: NDArray[np.int64] | None = None
        self.read_anew()

    @property
    def count(self) -> int:
        """How many patients there are."""
        return int(self._high.size)

    def rolled(self, count: int) -> str:
        """Return a digest over the segments of the first so many; "" where none of them ends."""
        return self._rolled.get(count, "")

    @property
    def version(self) -> str:
        """The last edition of all segments when their patients were read; "" of none.

        By those numbers is decided, whichever files came in their place since.
        """
        return self._version

    def descends(self, version: str, *, count: int) -> bool:
        """Return whether the segments of the first so many come after a version, or are it."""
        return not version or all(
            version in each.editions for each in self._segments if each.start < count
        )

    def forgot(self, lists: frozenset[str]) -> bool:
        """Return whether all segments forgot whoever stands in some lists, and are of one edition.

        One edition names all of them then, so a record that names it tells of each.
        """
        last = {each.editions[-1:] for each in self._segments}
        return len(last) <= 1 and all(lists <= each.forgot for each in self._segments)

    def require_newest(self, versions: frozenset[str]) -> None:
        """Refuse segments that do not come after every version that a record names.

        Raises:
            LedgerFrozenError: If there is one.
        """
        if not all(versions - {""} <= {*each.editions} for each in self._segments):
            raise of_before(self.folder)

    def segments(self) -> tuple[PeopleSegment, ...]:
        """Return what is known of each segment, oldest first."""
        return tuple(self._segments)

    def read_anew(self) -> None:
        """Read all segments, whatever was read of them before.

        Raises:
            LedgerFrozenError: If one is missing or was changed.
        """
        self._high = self._low = np.empty(0, dtype=np.uint64)
        self._rolled = {0: ""}  # over the segments up to so many patients
        self._segments: list[PeopleSegment] = []
        self._version, self._read = "", list[tuple[str, ...]]()  # editions, as they were read
        self._knew: frozenset[str] | None = None  # lists that all forgot when they were read
        self._files: dict[Path, tuple[int, ...]] = {}  # as their patients were read
        self._told: dict[Path, tuple[int, ...]] = {}  # as their headers were
        self.refresh()

    @property
    def is_of_before(self) -> bool:
        """Whether a segment that was read is another file now, or gone.

        Somebody was forgotten since, or a copy of the folder was put back.
        """
        return any(_file(path) != read for path, read in self._files.items())

    def refresh(self) -> None:
        """Read the segments that other processes added; those that were read stay as they were.

        A release that reads already goes on with whom it was admitted with; what a segment says of
        itself is as it is now.

        Raises:
            LedgerFrozenError: If one is missing or was changed.
        """
        while (path := self._path(self.count)).exists():
            file = _file(path)
            found = read_sealed(path, key=self._key, kind=KIND)
            place = tuple(map(found.fields.get, ("start", "lineage", "before")))
            if place != (self.count, self._lineage, self._rolled[self.count]):
                raise changed(path)
            self._segments.append(each := _header(found))
            self._read.append(each.editions)
            self._knew = each.forgot if self._knew is None else self._knew & each.forgot
            self._files[path] = self._told[path] = file
            self._add(found.columns["high"], found.columns["low"], named=_name(found))
        self._version = self._version or _common(self._read)
        for number, path in enumerate(self._files):
            if self._told[path] != (file := _file(path)):
                self._segments[number] = _header(read_sealed(path, key=self._key, kind=KIND))
                self._told[path] = file
        known = {*self._files, self._path(self.count)}
        for path in self.folder.glob("*.people"):
            if path not in known:
                is_later = path.stem.isdecimal() and int(path.stem) > self.count
                raise changed(self._path(self.count)) if is_later else _stray(path)

    def numbers(self, identities: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of each identity; -1 of one that was never met.

        The newest, of one that has two: a segment of before they were forgotten was put back since.
        The newest begins with the most that they may have paid (:mod:`.met_anew`).

        Args:
            identities: Shape (persons, 2): the two words of each keyed hash.
        """
        if not self.count:
            return np.full(len(identities), UNKNOWN, dtype=np.int64)
        order = self._sorted()
        high, low = self._high[order], self._low[order]
        at = np.searchsorted(high, identities[:, 0], side="right") - 1
        found = np.full(len(identities), UNKNOWN, dtype=np.int64)
        pending = np.flatnonzero(at >= 0)
        while pending.size:  # once, but for equal first words
            place = at[pending]
            same = high[place] == identities[pending, 0]
            hit = same & (low[place] == identities[pending, 1])
            found[pending[hit]] = order[place[hit]]
            pending = pending[same & ~hit]
            at[pending] -= 1
            pending = pending[at[pending] >= 0]
        return found

    def met(self, identities: NDArray[np.uint64], *, after: int) -> NDArray[np.int64]:
        """Return the number of each identity; new ones get theirs, durably.

        Args:
            identities: Shape (persons, 2).
            after: The last row of the ledger.

        Raises:
            InvalidParameterError: If a new identity occurs twice.
        """
        found = self.numbers(identities)
        new = np.flatnonzero(found == UNKNOWN)
        if not new.size:
            return found
        high, low = identities[new, 0], identities[new, 1]
        order = _order(high, low)
        twin = np.zeros(new.size, dtype=bool)
        twin[1:] = (np.diff(high[order]) == 0) & (np.diff(low[order]) == 0)
        if np.any(twin):
            raise InvalidParameterError("Expected each patient once.")
        found[new] = self.count + np.arange(new.size)  # neighbours stay neighbours: fewer misses
        columns = {"high": high, "low": low}
        fields: dict[str, Any] = {"kind": KIND, "start": self.count, "lineage": self._lineage}
        fields |= {"before": self._rolled[self.count], "named": os.urandom(_NONCE).hex()}
        editions = self._segments[0].editions if self._segments else ()
        anew = max((each.anew for each in self._segments), default=0)  # so may they have been
        fields |= {"after": after, "anew": anew}
        knew = sorted(self._knew or ())  # who withdrew since may be among them
        fields |= {"forgot": knew, "editions": [*editions]}
        path = self._path(self.count)
        write_sealed(path, key=self._key, fields=fields, columns=columns)
        self._segments.append(_header(Sealed(fields=fields, columns=columns, tag="")))
        self._files[path] = self._told[path] = _file(path)
        self._add(columns["high"], columns["low"], named=fields["named"])
        return found

    def forget(self, left: Forgetting, *, seen: Callable[[], frozenset[str]]) -> None:
        """Put random words in the place of the hashes of some patients; their numbers stay.

        So what stands under a number, in membership files of which the ledger holds the tags, is of
        nobody any more, and nobody else gets that number.  Of a patient with two numbers both go.
        In a segment of before what a record knows of anybody may have another number since, and is
        taken to be met anew at this row.

        Args:
            left: Whom.
            seen: Returns which versions records name.
        """
        edition = os.urandom(_NONCE).hex()
        for path in list(self._files):
            found = read_sealed(path, key=self._key, kind=KIND)
            each = _header(found)
            columns = {name: column.copy() for name, column in found.columns.items()}
            inside = _places(columns["high"], columns["low"], of=left.identities)
            for column in columns.values():
                column[inside] = np.frombuffer(os.urandom(8 * inside.size), dtype=np.uint64)
            missed = sorted(seen() - {*each.editions})
            fields = {**found.fields, "named": _name(found)}  # records name it so
            fields["forgot"] = sorted(each.forgot | left.lists)
            fields["editions"] = [*each.editions, *missed, edition]
            fields["anew"] = left.row if missed else each.anew
            rewrite_sealed(path, key=self._key, fields=fields, columns=columns)
        self.read_anew()

    def _add(self, high: NDArray[np.uint64], low: NDArray[np.uint64], *, named: str) -> None:
        before = self._rolled[self.count]
        self._high = np.concatenate([self._high, high])
        self._low = np.concatenate([self._low, low])
        self._order = None
        self._rolled[self.count] = hashlib.sha256(f"{before}{named}".encode("ascii")).hexdigest()

    def _sorted(self) -> NDArray[np.int64]:
        if self._order is None:
            self._order = _order(self._high, self._low)
        return self._order

    def _path(self, start: int) -> Path:
        return self.folder / f"{start:010d}.people"


def _common(editions: Sequence[tuple[str, ...]]) -> str:
    """Return the last edition that all segments had; "" of none."""
    first, *others = editions or [()]
    return next((name for name in reversed(first) if all(name in each for each in others)), "")


def _header(found: Sealed) -> PeopleSegment:
    """Return what the header of a segment says."""
    return PeopleSegment(
        start=int(found.fields["start"]),
        after=int(found.fields["after"]),
        forgot=frozenset(found.fields.get("forgot", ())),  # earlier versions said none of these
        editions=tuple(found.fields.get("editions", ())),
        anew=int(found.fields.get("anew", 0)),
    )


def _places(
    high: NDArray[np.uint64], low: NDArray[np.uint64], *, of: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return where some identities stand, each as often as it does."""
    wanted = set(map(tuple, of.tolist()))
    near = np.flatnonzero(np.isin(high, of[:, 0]))
    words = zip(high[near].tolist(), low[near].tolist(), strict=True)
    return near[[each in wanted for each in words]] if near.size else near


def of_before(folder: Path) -> LedgerFrozenError:
    """Return the refusal of a folder of who is who that is older than a record that names it."""
    return LedgerFrozenError(
        f"The patients' records in {folder.name} are of before somebody withdrew consent, and "
        "releases came after that.",
        hint="Put .confide/patients back from its newest copy. If there is none: confide patients "
        "forget, after which everybody in them counts as charged in full for all releases so far.",
    )


def _stray(path: Path) -> LedgerFrozenError:
    """Return the refusal of a file that is no segment."""
    return LedgerFrozenError(
        f"{path.name} is none of the patients' records.",
        hint="Move it out of .confide/patients.",
    )


def _name(segment: Sealed) -> str:
    """Return what a segment is called, also after it forgot somebody; once, that was its tag."""
    return str(segment.fields.get("named", segment.tag))


def _file(path: Path) -> tuple[int, ...]:
    """Return what tells a file from every other that had its name; () where there is none."""
    with contextlib.suppress(OSError):
        found = path.stat()
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return ()


def _order(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the order by both words; the second is looked at where first ones are equal."""
    order = np.argsort(high)
    ranked = high[order]
    if np.any(ranked[1:] == ranked[:-1]):
        return np.lexsort((low, high))
    return order
