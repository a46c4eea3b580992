"""Withhold: decide that an answer is not delivered again; its charge stays."""

from dataclasses import dataclass
from pathlib import Path

from confide.release.site.keys import read_person_key
from confide.service.opening import open_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """An answer that is delivered to nobody.

    Attributes:
        entry: Of the ledger.
        withheld: Whether it is, which it is.
    """

    entry: int
    withheld: bool


def withhold(entry: int, *, dataset: Path, key: Path, reason: str) -> Withheld:
    """Decide that an answer is not delivered again; it stays in the ledger, and charged.

    Raises:
        PolicyError: If the person may not decide that.
    """
    signer = read_person_key(key)
    with open_ledger(dataset) as (held, _):
        held.desk.withhold(entry, signer=signer, reason=reason)
    return Withheld(entry=entry, withheld=True)
