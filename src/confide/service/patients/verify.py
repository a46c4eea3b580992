"""Verify the records of who was in which release; nothing is told of them."""

from dataclasses import dataclass
from pathlib import Path

from confide.service.opening import open_site


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRecords:
    """Records that are whole.

    Attributes:
        holds: Whether they are, which they are.
        charges: Of how many.
    """

    holds: bool
    charges: int


def verify_patients(dataset: Path) -> WholeRecords:
    """Check every membership file against its tag and the ledger.

    Raises:
        LedgerFrozenError: If one is not whole.
    """
    with open_site(dataset, spends=False) as site:
        return WholeRecords(holds=True, charges=site.patients().verify(site.ledger))
