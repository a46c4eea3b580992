"""The signing keys of a ledger in their order, and the row by which one follows another.

A rotation is a row of the chain that names the old and the new key and holds a signature *by the
old key* of both and of its place.  The head of that row is signed by the new key.  So whoever
trusts the newest key trusts the row, and by it that each earlier head is to be signed by the key of
its time; and nobody who lacks the old key can bring in another.

*Privacy:* heads are what shows a rollback.  A head is accepted under the key of its row or a later
one, never under an earlier one, so a key that was stolen and replaced signs no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confide.budget.chain.chain import Event, canonical, is_valid
from confide.errors import LedgerFrozenError

_DOMAIN = b"confide ledger key rotation 1\n"  # such a signature is a signature of nothing else


def rotation_message(*, number: int, previous: str, old: str, new: str) -> bytes:
    """Return the bytes by which the old key names the new one, at one place of one chain."""
    fields = {"number": str(number), "previous": previous, "old": old, "new": new}
    return _DOMAIN + canonical(fields).encode("utf-8")


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """Which key signs heads from which row on, oldest first; "" is a key that no row names.

    Attributes:
        changes: Row number and public key in hexadecimal.
    """

    changes: tuple[tuple[int, str], ...] = ()

    @property
    def current(self) -> str:
        """The key that signs now; "" while no row has named one."""
        return self.changes[-1][1] if self.changes else ""

    def since(self, number: int) -> frozenset[str]:
        """Return the keys under which a head of row ``number`` is accepted, as far as known.

        Example:
            >>> history = KeyHistory(((0, "aa"), (7, "bb"), (9, "cc")))
            >>> sorted(history.since(6)), sorted(history.since(8))
            (['aa', 'bb', 'cc'], ['bb', 'cc'])
        """
        starts = [start for start, _ in self.changes if start <= number]
        first = starts[-1] if starts else 0
        return frozenset(key for start, key in self.changes if start >= first and key)

    def retired(self) -> tuple[str, ...]:
        """Return the keys that sign no more, oldest first."""
        return tuple(key for _, key in self.changes[:-1] if key)

    def rotated(self, fields: Mapping[str, Any], event: Event) -> "KeyHistory":
        """Return the history after a row that replaces the key.

        Raises:
            LedgerFrozenError: If it is not the key in force that names the new one.
        """
        old, new = fields["old"], fields["new"]
        message = rotation_message(number=event.number, previous=event.previous, old=old, new=new)
        known = self.current
        if (known and known != old) or not is_valid(
            old, message=message, signature=fields["proof"]
        ):
            raise LedgerFrozenError(
                f"Row {event.number} replaces the signing key without the old key's word."
            )
        before = self.changes if known else (*self.changes[:-1], (self._unnamed_from(), old))
        return KeyHistory((*before, (event.number, new)))

    def accepted(self, number: int, *, key: str) -> "KeyHistory":
        """Return the history after a row by which an officer went on, under ``key``."""
        if key == self.current:
            return self
        return KeyHistory((*self.changes, (number, key)))

    def _unnamed_from(self) -> int:
        return self.changes[-1][0] if self.changes else 0
