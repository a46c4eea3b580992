"""What an officer accepts so that a frozen ledger goes on, as its row says it.

*Privacy:* what the anchor saw spent stays spent, and what lost rows may have answered is burned, so
going on gives nothing back.  Where rows may be lost that nobody can name, as without an anchor,
what they may have used or ended is over all the same: approvals, lists of withdrawn patients.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from confide.budget.accounts.book import Book
from confide.budget.chain.identity import SiteFolder
from confide.budget.integrity.inspection import Inspection
from confide.budget.integrity.lost_rows import Raised
from confide.budget.ledger import Entry, State
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import NAMED


def under_way(book: Book) -> tuple[Entry, ...]:
    """Return the entries that are reserved or reading, which lost rows may have answered."""
    return tuple(book.requests[number].entry for number in sorted(book.open))


def acceptance(
    found: Inspection, *, book: Book, lost: Iterable[Entry], site: SiteFolder | None, key: str
) -> dict[str, Any]:
    """Return what the row says by which an officer goes on.

    Args:
        found: What was found.
        book: The ledger as it is.
        lost: Entries that end here.
        site: What the folder knows of its ledger.
        key: That signs from here on, in hexadecimal.
    """
    awaited = {
        lineage: [{"version": str(version), "sha256": digest} for version, digest in versions]
        for lineage, versions in found.awaited.items()
    }
    terms = {lineage: told.to_fields() for lineage, told in found.told.items()}
    return {
        "findings": list(found.differences),
        "raised": _texts(found.raised),
        "anyone": _texts(found.anyone),
        "burned": [str(entry.number) for entry in lost],
        "key": key,
        **({"lost": list(found.lost)} if found.lost else {}),
        **({"approvals": "lapsed", "consent": "ended"} if found.may_lack else {}),
        **({NAMED: [list(group) for group in found.named]} if found.named else {}),
        **({"awaited": awaited} if awaited else {}),
        **({"terms": terms} if terms else {}),
        **book.identity.accepted(site),
    }


def _texts(units: Raised) -> dict[str, dict[str, str]]:
    return {
        lineage: {name: str(each) for name, each in held.items()}
        for lineage, held in units.items()
        if lineage
    }


def burn(lost: Iterable[Entry], *, store: Store) -> None:
    """Write that entries are burned; the tables know no way there but through reading."""
    for entry in lost:
        if entry.state is State.RESERVED:
            store.write_state(replace(entry, state=State.READING))
        store.write_state(replace(entry, state=State.BURNED))
