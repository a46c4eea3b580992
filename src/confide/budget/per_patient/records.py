"""The membership files of a lineage against its ledger: which charge is told by what.

*Privacy:* a file that is missing, was changed or belongs to no entry stops everything, by its name
alone; nothing of what it says is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from confide.budget.entry import Entry, State
from confide.budget.per_patient.members import SUFFIX, Members, members_path, read_members
from confide.budget.per_patient.people import People, of_before
from confide.budget.per_patient.sealed import changed, read_tag
from confide.budget.per_patient.tally import CountedCharge
from confide.errors import LedgerFrozenError
from confide.privacy.amount import NANO
from confide.privacy.individual import ANYTHING, FEMTO
from confide.privacy.measure import LedgerMeasure, Mixed

_HELD = frozenset({State.COMMITTED, State.PUBLISHED})
_PENDING = frozenset({State.RESERVED, State.READING})
_OVER = frozenset({State.CANCELLED, State.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipFiles:
    """The membership files in a folder, sealed with a key."""

    folder: Path
    key: bytes

    def counted(self, entries: Sequence[Entry]) -> dict[int, CountedCharge]:
        """Return the charges among some entries; what everybody paid by a file stands in the file.

        Raises:
            LedgerFrozenError: If a committed entry lacks its file.
        """
        found: dict[int, CountedCharge] = {}
        for entry in entries:
            if not entry.amount.nano or entry.state in _OVER:
                continue
            path = members_path(self.folder, number=entry.number)
            tag = read_tag(path) if entry.filtered else ""
            if entry.filtered and entry.state in _HELD and (not tag or tag != entry.members):
                raise changed(path)
            if tag:
                found[entry.number] = CountedCharge(
                    everybody=0, tag=tag, stamp=self.stamp(entry.number)
                )
            elif not (entry.filtered and entry.state in _PENDING):  # that one will pay by its file
                found[entry.number] = CountedCharge(everybody=whole(entry))
        return found

    def require_explained(self, entries: Sequence[Entry]) -> None:
        """Refuse files that no entry explains.

        Raises:
            LedgerFrozenError: If there is one.
        """
        explained = {
            members_path(self.folder, number=entry.number)
            for entry in entries
            if entry.filtered and entry.state not in _OVER
        }
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path not in explained:
                raise unexplained(path)

    def require_none(self, entry: Entry) -> None:
        """Refuse an entry of whose number there is a file already, before anything is read for it.

        Raises:
            LedgerFrozenError: If there is one: of a lost entry, when an older ledger was put back.
        """
        path = members_path(self.folder, number=entry.number)
        if path.exists():
            raise unexplained(path)

    def read(self, entry: Entry, *, people: People) -> Members:
        """Return a membership that is what the ledger says and names patients that are known.

        Raises:
            LedgerFrozenError: If it is not.
        """
        members, tag = read_members(self.folder, entry=entry, key=self.key)
        if (entry.state in _HELD and tag != entry.members) or members.people > people.count:
            raise changed(members_path(self.folder, number=entry.number))
        if members.rolled and members.rolled != people.rolled(members.people):
            raise changed(people.folder)
        if not people.descends(members.version, count=members.people):
            raise of_before(people.folder)
        return members

    def paid(self, entry: Entry, *, patient: int, people: People) -> int | None:
        """Return what one patient paid for a charge, in 1e-15; None where they were left out."""
        if not entry.filtered or not read_tag(members_path(self.folder, number=entry.number)):
            return whole(entry)
        members = self.read(entry, people=people)
        if np.any(members.left_out == patient):
            return None
        return members.everybody + int(members.spends[members.paid == patient].sum())

    def stamp(self, number: int) -> tuple[int, int]:
        """Return size and time of a file; 0 and 0 where there is none."""
        try:
            found = members_path(self.folder, number=number).stat()
        except OSError:
            return (0, 0)
        return (found.st_size, found.st_mtime_ns)


def unexplained(path: Path) -> LedgerFrozenError:
    """Return the refusal of a file that belongs to no entry; names the file alone."""
    return LedgerFrozenError(
        f"The patients' record {path.name} belongs to no entry of the ledger.",
        hint="Restore ledger and .confide/patients from the same backup.",
    )


def lost_whole(units: int, *, measure: LedgerMeasure) -> int:
    """Return what everybody paid for rows that are lost, in 1e-15.

    Of a mixed ledger it is told at the orders of its own caps, so it may be anything.
    """
    if isinstance(measure, Mixed):
        return ANYTHING if units else 0
    return units * (FEMTO // NANO)


def whole(entry: Entry) -> int:
    """Return the whole loss of a charge, in 1e-15."""
    return entry.amount.of_patients * (FEMTO // NANO)
