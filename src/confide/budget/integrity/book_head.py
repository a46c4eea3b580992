"""The head of a book, as a line of the anchor tells it: what was spent, whose word it takes.

*Privacy:* what a line does not tell is forgotten where its row is lost.  So the line of a row by
which an officer goes on tells what was spent on every lineage: the row may have raised any of them,
and an anchor that was lost begins anew with it.
"""

from collections.abc import Iterator
from dataclasses import replace

from confide.budget.accounts.account_record import caps_json
from confide.budget.accounts.awaited import guards
from confide.budget.accounts.book import Book
from confide.budget.accounts.lost_terms import SETS_CAPS
from confide.budget.chain.chain import Holding, SignedHead, is_signed
from confide.budget.policy.counters import DELTA, LIFETIME, ROLLING, YEAR, kind_of
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import officer_keys

_GOES_ON = "unfrozen"
_EVERYBODYS = frozenset({YEAR, LIFETIME, DELTA, ROLLING})  # whose else is what these grew by


def unsigned_head(book: Book, *, key: str) -> SignedHead:
    """Return the head of ``book``, to be signed by ``key``."""
    officers = tuple(sorted({*officer_keys(book.policies()), *guards(book.awaited())}))
    account = book.accounts.get(book.lineage)
    policy = account.policy if account is not None and book.kind == "policy-adopted" else None
    caps = account.terms.caps if account is not None and book.kind in SETS_CAPS else None
    return SignedHead(
        number=book.number,
        hash=book.hash,
        kind=book.kind,
        lineage=book.lineage,
        spent=book.touched(book.lineage),
        key=key,
        officers=officers,
        adopted=None if policy is None else (policy.policy.version, policy.digest),
        terms=() if account is None else account.terms.names,
        caps=caps_json(caps),
        held=tuple(_holdings(book)) if book.kind == _GOES_ON else (),
    )


def _holdings(book: Book) -> Iterator[Holding]:
    """Yield what was spent on everybody, of each lineage of which anything was."""
    for name, account in sorted(book.accounts.items()):
        spent = account.touched_spent()
        yield from _holding(name, spent, terms=account.terms.names)
    for name, lost in sorted(book.lost.items()):
        spent = {scope: lost.holds(scope) for scope in lost.raised}
        yield from _holding(name, spent, terms=lost.told.newest)


def _holding(lineage: str, spent: dict[str, int], *, terms: tuple[str, ...]) -> Iterator[Holding]:
    everybodys = {name: units for name, units in spent.items() if kind_of(name) in _EVERYBODYS}
    if any(everybodys.values()):
        yield Holding(lineage=lineage, spent=everybodys, terms=terms)


def current_head(store: Store, book: Book, *, key: str) -> SignedHead:
    """Return the head of ``book`` with the signature that the store holds."""
    held = store.head()
    return replace(unsigned_head(book, key=key), signature="" if held is None else held[2])


def is_head_signed(store: Store, book: Book, *, public_key: str) -> bool:
    """Return whether the head is ours; an empty ledger has none."""
    return book.number == 0 or is_signed(
        current_head(store, book, key=public_key), keys={public_key}
    )
