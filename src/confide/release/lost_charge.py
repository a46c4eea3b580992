"""A release of which rows were lost, as the row says by which an officer went on without them.

That row names the hashes of the rows that the anchor alone knew, and the requests under way that
it ended.  So the ledger still vouches that such a release was charged, though not for what it
answered: the row that held the digest of its answer is gone.

*Privacy:* reads rows of the chain; what lost rows charged counts, whatever this says.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from confide.budget.chain.chain import Event
from confide.budget.ledger import Entry, Ledger
from confide.plans.canonical import Json

WENT_ON = "unfrozen"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostCharge:
    """The row by which an officer went on without rows of a release.

    Attributes:
        row: Its number.
        day: Its ledger time, the day alone.
        whole: Whether the row that charged the release is lost as well, not its answer's alone.
    """

    row: int
    day: str
    whole: bool

    def told(self) -> str:
        """Return what a check says of it."""
        what, rest = (
            ("its rows were", "charges, dates, approvals and answer")
            if self.whole
            else ("the row of its answer was", "the answer")
        )
        return (
            f"{what} lost; the ledger went on without, in row {self.row} on {self.day}. What it "
            f"charged counts; {rest} cannot be compared, and stand on the issuer's signature"
        )


def lost_in_rows(rows: Iterable[Event], *, entry: Json, digest: Json) -> LostCharge | None:
    """Return how a ledger went on without rows of a release; None if it did not.

    Args:
        rows: Of the chain.
        entry: Number of the row that charged the release.
        digest: Its hash, as the certificate says.
    """
    kept = False
    for row in rows:
        if row.number == entry and row.hash == digest:
            kept = True
        if WENT_ON not in row.body:
            continue
        fields = row.fields()
        if fields.get("kind") != WENT_ON:
            continue
        if digest in fields.get("lost", ()) or (kept and str(entry) in fields.get("burned", ())):
            return LostCharge(row=row.number, day=str(fields["at"])[:10], whole=not kept)
    return None


def lost_in_ledger(
    entry: Entry | None, *, number: Json, digest: Json, ledger: Ledger
) -> LostCharge | None:
    """Return how a ledger went on without rows of a release; None where it has them all.

    Args:
        entry: That the ledger holds under its number; None if none.
        number: Of the row that charged the release.
        digest: Its hash, as the certificate says.
        ledger: That was charged.
    """
    if entry is not None and entry.hash == digest and entry.payload_sha256:
        return None
    return lost_in_rows(ledger.chain().events, entry=number, digest=digest)
