"""Which ledger this is: a random id on its first row, and the hash key that it goes with.

A row may say ``ledger``, once, and ``order-key``, once or on a row by which an officer goes on.  A
ledger that an earlier version began gets both on its next row.  Beside the ledger, the workspace
folder remembers its id, and whether it may begin one at all: a folder of keys does so once.

*Privacy:* a ledger that was removed would begin anew at nothing spent, under the same signing key,
with certificates that verify.  Another hash key keeps other rows of a patient.  Both are found when
the ledger is opened, before anything is granted.  The fingerprint is a keyed hash of a constant
under the 32 secret bytes themselves, so it says nothing about them.
"""

import hashlib
import hmac
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from confide.errors import LedgerFrozenError

_ID = re.compile(r"[0-9a-f]{32}")
_DOMAIN = b"confide order key fingerprint 1"
_STOPS = (
    "per-patient budgets stop. Where anybody withdrew consent, nothing is released until everybody "
    "who did is listed again: confide patients forget --lists-lost REASON"
)


class SiteFolder(Protocol):
    """What the folder of a ledger knows of it, beside the ledger."""

    @property
    def ledger(self) -> str:
        """Id of the ledger that was opened here before; "" if none was, or it had no id yet."""

    @property
    def fresh(self) -> str:
        """Id for a ledger to begin here; "" where none may be begun."""

    @property
    def order_key(self) -> str:
        """Fingerprint of the hash key that is here; "" if it is missing."""

    def signs(self, public_key: str) -> bool:
        """Return whether the signing key that is here now is that one, in hexadecimal."""

    def begun(self, ledger: str) -> None:
        """Remember the id of the ledger that is durable here; no other may be begun."""

    @property
    def is_unanchored(self) -> bool:
        """Whether the ledger was to begin here, and no line of its anchor was ever written."""

    def anchored(self) -> None:
        """Remember that a line of the anchor is durable."""

    def make_order_key(self) -> str:
        """Make a new hash key in the place of a missing one; return its fingerprint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the rows of a ledger say of it; "" is what no row has said yet.

    Attributes:
        ledger: Random id, 32 hexadecimal digits.
        order_key: Fingerprint of the hash key under which rows are ordered.
    """

    ledger: str = ""
    order_key: str = ""

    def following(self, fields: Mapping[str, Any]) -> "Identity":
        """Return the identity once a row was taken in.

        Raises:
            LedgerFrozenError: If the row says that it is another ledger, or that it goes with
                another hash key although no officer accepted one.
        """
        ledger, order_key = fields.get("ledger", ""), fields.get("order-key", "")
        if not ledger and not order_key:
            return self
        may_change = fields["kind"] == "unfrozen" or not self.order_key
        if (ledger and (self.ledger or not _ID.fullmatch(ledger))) or (
            order_key and not (may_change and _ID.fullmatch(order_key))
        ):
            raise LedgerFrozenError(f"Row {fields['number']} gives the ledger another identity.")
        return replace(self, ledger=ledger or self.ledger, order_key=order_key or self.order_key)

    def unsaid(self, site: SiteFolder | None) -> dict[str, str]:
        """Return what the next row is to say, because none has said it yet."""
        said = {}
        if not self.ledger:
            known = "" if site is None else site.ledger or site.fresh
            said["ledger"] = known or new_ledger_id()
        if not self.order_key and site is not None and site.order_key:
            said["order-key"] = site.order_key
        return said

    def damage(self, site: SiteFolder, *, rows: int) -> Iterator[str]:
        """Yield why this is not the ledger of the folder; only a restore mends that."""
        if not rows and not site.fresh:
            named = f" ({site.ledger})" if site.ledger else ""
            yield (
                f"The ledger is missing or empty, though this folder had one{named}: a new one "
                "under the same keys would grant what was spent again."
            )
        if self.ledger and site.ledger not in {"", self.ledger}:
            yield (f"This is ledger {self.ledger}; the one of this folder is {site.ledger}.")

    def differences(self, site: SiteFolder) -> Iterator[str]:
        """Yield what an officer may accept."""
        if self.order_key and not site.order_key:
            yield (
                "hash.key is missing or empty: put it back from its offline copy. If it is lost "
                f"for good, unfreezing makes a new one, growing releases end, and {_STOPS}"
            )
        elif self.order_key not in {"", site.order_key}:
            yield (
                "hash.key is not the one that this ledger goes with: put that one back, because "
                "under another other rows of a patient are kept. Unfreezing accepts the one that "
                f"is here, growing releases end, and {_STOPS}"
            )

    def against(self, site: SiteFolder, *, rows: int) -> Iterator[str]:
        """Yield everything that the folder knows against this ledger."""
        yield from self.damage(site, rows=rows)
        yield from self.differences(site)

    def accepted(self, site: SiteFolder | None) -> dict[str, str]:
        """Return what a row by which an officer goes on is to say of the hash key."""
        if site is None:
            return {}
        present = site.order_key or site.make_order_key()
        return {} if present == self.order_key else {"order-key": present}


def new_ledger_id() -> str:
    """Return a fresh random id, 32 hexadecimal digits."""
    return uuid.uuid4().hex


def fingerprint(key: bytes) -> str:
    """Return 128 bits by which a secret key is known again, and nothing else.

    Example:
        >>> fingerprint(bytes(32))[:8]
        '533222a4'
    """
    return hmac.new(key, _DOMAIN, hashlib.sha256).hexdigest()[:32]
