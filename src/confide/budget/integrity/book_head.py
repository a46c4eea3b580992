"""The head of a book, as a line of the anchor tells it: what was spent, whose word it takes.

*Privacy:* what a line does not tell is forgotten where its row is lost.  So the line of a row by
which an officer goes on tells of every lineage what was spent and what bounds it: the row may have
raised any of them, rows before it may stand in no other line, as in an anchor that was put back,
and what earlier lost rows let hold stands in no row but those by which an officer went on.
"""

from collections.abc import Iterator
from dataclasses import replace

from confide.budget.accounts.account_record import caps_json
from confide.budget.accounts.awaited import guards
from confide.budget.accounts.book import Book
from confide.budget.accounts.lost_terms import SETS_CAPS
from confide.budget.chain.chain import Holding, SignedHead, is_signed
from confide.budget.policy.counters import DELTA, LIFETIME, ROLLING, YEAR, kind_of, without_pure
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import officer_keys

_GOES_ON = "unfrozen"
_EVERYBODYS = frozenset({YEAR, LIFETIME, DELTA, ROLLING})  # whose else is what these grew by
"""Their twins of pure events are everybody's as well."""


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
    """Yield what was spent on everybody, in every year, and what bounds it, of each lineage."""
    for name, account in sorted(book.accounts.items()):
        policy, awaited = account.policy, account.awaited.versions
        present = () if policy is None else ((policy.policy.version, policy.digest),)
        yield from _holding(
            Holding(
                lineage=name,
                spent={each: counter.spent for each, counter in account.counters.items()},
                terms=account.terms.names,
                caps=caps_json(account.terms.caps) if policy is None else None,
                adopted=(*present, *awaited),
                others=account.disputed,
            )
        )
    for name, lost in sorted(book.lost.items()):
        told = lost.told
        yield from _holding(
            Holding(
                lineage=name,
                spent={scope: lost.holds(scope) for scope in lost.raised},
                terms=told.newest,
                caps=caps_json(told.caps) if told.newest else None,
                adopted=lost.awaited.versions,
                others=told.others(told.newest),
            )
        )


def _holding(holds: Holding) -> Iterator[Holding]:
    spent = {
        name: units
        for name, units in holds.spent.items()
        if without_pure(kind_of(name)) in _EVERYBODYS
    }
    if any(spent.values()) or holds.adopted or holds.others:
        yield replace(holds, spent=spent)


def current_head(store: Store, book: Book, *, key: str) -> SignedHead:
    """Return the head of ``book`` with the signature that the store holds."""
    held = store.head()
    return replace(unsigned_head(book, key=key), signature="" if held is None else held[2])


def is_head_signed(store: Store, book: Book, *, public_key: str) -> bool:
    """Return whether the head is ours; an empty ledger has none."""
    return book.number == 0 or is_signed(
        current_head(store, book, key=public_key), keys={public_key}
    )
