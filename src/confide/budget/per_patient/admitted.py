"""Which entries are decided in a folder: each is noted there before it is recorded as being read.

An entry under way pays by a membership file that is not written yet; whoever decides after it reads
that file.  So all who decide must do it in one folder, under its lock.  Hosts that share a ledger
in PostgreSQL, or two folders of one host, do not: an entry that is being read and is not noted here
is decided elsewhere, and nothing is released from here beside it.

*Privacy:* noted comes before reading, and reading before the look at others, in the folder and in
the ledger.  So of two entries that are decided in two folders the later one finds the earlier, and
is refused; where both look at once, both are.  What is noted is the number and the hash of a row,
and the place of the folder on its disk and host: a note in a copy of the folder says nothing.
"""

import contextlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.budget.entry import Entry, State
from confide.budget.per_patient.sealed import read_sealed, rewrite_sealed
from confide.errors import LedgerFrozenError

KIND = "admitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The notes in a folder, sealed with a key."""

    folder: Path
    key: bytes

    def note(self, entry: Entry, *, under_way: Iterable[Entry]) -> None:
        """Note durably that an entry is decided here; notes of entries that are over go.

        Args:
            entry: That is reserved.
            under_way: All of its lineage that are reserved or reading.
        """
        kept = {self._path(each) for each in under_way}
        for path in self.folder.glob(f"*.{KIND}"):
            if path not in kept:
                path.unlink(missing_ok=True)
        rewrite_sealed(self._path(entry), key=self.key, fields=self._fields(entry), columns={})

    def require_all(self, under_way: Iterable[Entry]) -> None:
        """Refuse to decide beside an entry that is decided elsewhere.

        Raises:
            LedgerFrozenError: If one is being read that is not noted here.
        """
        for entry in under_way:
            pays = entry.filtered and bool(entry.amount.nano)  # a step was paid for when opened
            if pays and entry.state is State.READING and not self._is_noted(entry):
                raise LedgerFrozenError(
                    f"Entry {entry.number} is under way with records of patients in another "
                    "folder, or on another host.",
                    hint="Under a policy that leaves patients out, release from one folder of one "
                    "host: the one whose .confide/patients has the records.",
                )

    def _is_noted(self, entry: Entry) -> bool:
        with contextlib.suppress(LedgerFrozenError):
            found = read_sealed(self._path(entry), key=self.key, kind=KIND).fields
            return found == self._fields(entry)
        return False

    def _path(self, entry: Entry) -> Path:
        return self.folder / f"{entry.number:010d}.{KIND}"

    def _fields(self, entry: Entry) -> dict[str, Any]:
        place = self.folder.stat()
        return {
            "kind": KIND,
            "lineage": entry.lineage,
            "entry": entry.number,
            "hash": entry.hash,
            "folder": f"{place.st_dev}:{place.st_ino}",
            "host": platform.node(),
        }
