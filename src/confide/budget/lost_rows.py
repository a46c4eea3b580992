"""Rows that the anchor saw and the ledger has no more: what they granted, and whom they name.

Such rows are a *branch*: they follow the *fork*, the last row that both know.  The ledger may have
gone on from the fork as well, as when another host accepted the loss and spent anew.  What the
branch granted comes on top of that: the larger of both would forget the smaller.

*Privacy:* spent never falls below what was ever granted.  A row of the branch counts once, however
many hosts saw it, because each row by which an officer goes on names the last rows that it counted.
A rolling window lets go in the branch what the ledger here has not let go of; so what the branch
added counts, and not where it ended.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from confide.budget.book import Book
from confide.budget.chain import SignedHead, is_signed
from confide.budget.counters import ROLLING, kind_of, window_of
from confide.budget.store import Store

NAMED_ROWS = 500
"""So many lost rows are named by the row that goes on without them, the newest."""

Granted = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Lines of the anchor whose rows are lost, oldest first.

    Attributes:
        fork: Number of the last row before them that the ledger has.
        heads: One at least.
    """

    fork: int
    heads: tuple[SignedHead, ...]


def lost_branch(lines: Sequence[SignedHead | None], *, hashes: Sequence[str]) -> Branch | None:
    """Return what the anchor alone knows since an officer last went on; None if that is nothing.

    A line that was there before does not count again.

    Args:
        lines: Of the anchor.
        hashes: Of the rows of the chain, by number.
    """
    place = {digest: number for number, digest in enumerate(hashes)}
    seen: set[str] = set()
    fork, lost = 0, []
    for head in lines:
        if head is None or head.hash in seen:
            continue
        seen.add(head.hash)
        if head.hash not in place:
            lost.append(head)
        elif not lost:
            fork = place[head.hash]
    if not lost:
        return None
    return Branch(fork=max(0, min(fork, lost[0].number - 1)), heads=tuple(lost))


def granted_since(branch: Branch, *, fork: Book, counted: Collection[str]) -> Granted:
    """Return in grid units what a branch added to each counter, by lineage and name.

    Args:
        branch: The rows that are lost.
        fork: What the ledger added up to where they begin.
        counted: Rows that somebody went on without, who counted what came up to them.
    """
    granted: Granted = {}
    last: Granted = {}
    for head in branch.heads:
        had = last.setdefault(head.lineage, {})
        more = granted.setdefault(head.lineage, {})
        for name, units in head.spent.items():
            before = had.get(name)
            if before is None:
                before = units_in(fork, lineage=head.lineage, name=name)
            more[name] = more.get(name, 0) + max(0, units - before)
            is_rolling = window_of(kind_of(name)) == ROLLING
            had[name] = units if is_rolling else max(units, before)
        if head.hash in counted:
            granted = {}
    return granted


def named_officers(
    heads: Sequence[SignedHead], *, signed: Callable[[SignedHead], Collection[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of officers whose word going on without some rows takes.

    Those of the newest line that a key of this ledger signed, and of newer ones, whoever signed
    them: a line of a stranger takes nobody's word away.

    Args:
        heads: Lines whose rows are lost, oldest first.
        signed: Returns the keys under which a line is accepted.
    """
    found: set[tuple[str, ...]] = set()
    for head in reversed(heads):
        if is_signed(head, keys={head.key}):
            found.update(group for group in head.officers if group)
        if is_signed(head, keys=signed(head)):
            break
    return tuple(sorted(found))


def awaited_policies(
    heads: Sequence[SignedHead], *, signed: Callable[[SignedHead], Collection[str]], book: Book
) -> dict[str, tuple[int, str]]:
    """Return the newest version of a policy that lost rows let hold, and its SHA-256, by lineage.

    Of lines that a key of this ledger signed, and of those newer than all of them; none that is no
    newer than the version in force.

    Args:
        heads: Lines whose rows are lost, oldest first.
        signed: Returns the keys under which a line is accepted.
        book: The ledger as it is.
    """
    found: dict[str, tuple[int, str]] = {}
    newer = True
    for head in reversed(heads):
        newer = newer and not is_signed(head, keys=signed(head))
        account = book.accounts.get(head.lineage)
        keys = {head.key} if newer else signed(head)
        if head.adopted is None or account is None or not is_signed(head, keys=keys):
            continue
        present = 0 if account.policy is None else account.policy.policy.version
        if head.adopted[0] > max(present, found.get(head.lineage, (0, ""))[0]):
            found[head.lineage] = head.adopted
    return found


def book_at(store: Store, *, number: int) -> Book:
    """Return what the rows up to one add up to."""
    book = Book()
    for event in store.events_after(0):
        if event.number > number:
            break
        book.follow(event)
    return book


def units_in(book: Book, *, lineage: str, name: str) -> int:
    """Return what a counter holds; 0 of one that a book does not know."""
    found = book.accounts.get(lineage)
    return 0 if found is None else found.holds(name).spent
