"""Rows that the anchor saw and the ledger has no more: what they granted, and whom they name.

Such rows are a *branch*: they follow the *fork*, the last row that both know.  The ledger may have
gone on from the fork as well, as when another host accepted the loss and spent anew.  What the
branch granted comes on top of that: the larger of both would forget the smaller.

*Privacy:* spent never falls below what was ever granted.  A row of the branch counts once, however
many hosts saw it, because each row by which an officer goes on names the last rows that it counted.
A rolling window lets go in the branch what the ledger here has not let go of; so what the branch
added counts, and not where it ended.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from confide.budget.accounts.book import Book
from confide.budget.accounts.held import Held
from confide.budget.accounts.lost_lineages import UNKNOWN
from confide.budget.chain.chain import SignedHead, is_signed
from confide.budget.entry import State
from confide.budget.integrity.unnamed import unnamed
from confide.budget.policy.counters import (
    LIFETIME,
    group_of,
    is_pure,
    year_of,
)
from confide.budget.stores.store import Store
from confide.privacy.amount import LARGEST
from confide.privacy.measure import measure_of

NAMED_ROWS = 500
"""So many lost rows are named by the row that goes on without them, the newest."""

_REPLACE = frozenset({"key-rotated", "unfrozen"})  # kinds of rows that may replace the key
_READ = frozenset({"reading", "unfrozen"})  # and under which a charge that was reserved is kept

Raised = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Lines of the anchor whose rows are lost, oldest first.

    Attributes:
        fork: Number of the last row before them that the ledger has.
        heads: One at least.
        before: For each, the line right before it.
        known: The last line of a row that the ledger has; None if there is none.
        since: Place of the first of them after that line.
    """

    fork: int
    heads: tuple[SignedHead, ...]
    before: tuple[SignedHead | None, ...]
    known: SignedHead | None
    since: int


@dataclass(frozen=True, slots=True)
class Granted:
    """What lost rows charged, in grid units by lineage.

    Attributes:
        named: By counter, as far as a line names it.
        anyone: By group of counters: what the lines do not tell whose it was.
    """

    named: Raised = field(default_factory=dict)
    anyone: Raised = field(default_factory=dict)


def lost_branch(
    lines: Sequence[SignedHead | None],
    *,
    hashes: Sequence[str],
    ours: Collection[str],
    earlier: Sequence[SignedHead | None] = (),
) -> Branch | None:
    """Return what the anchor alone knows since an officer last went on; None if that is nothing.

    A line that was there before does not count again.  One of a row that the ledger has tells that
    it went on after the lost ones only where a key of ours signed it and its row follows the fork:
    a stranger may append a line of any row.

    Args:
        lines: Of the anchor.
        hashes: Of the rows of the chain, by number.
        ours: Keys of the ledger now.
        earlier: Lines of before an officer last went on.
    """
    place = {digest: number for number, digest in enumerate(hashes)}
    seen = {head.hash for head in earlier if head is not None}
    fork, since, known = 0, 0, None
    lost: list[tuple[SignedHead, SignedHead | None]] = []
    for before, head in pairwise((None, *lines)):
        if head is None or head.hash in seen:
            continue
        seen.add(head.hash)
        if head.hash not in place:
            lost.append((head, before))
            continue
        if not lost:
            fork, known = place[head.hash], head
        elif place[head.hash] > fork and is_signed(head, keys=ours):
            since, known = len(lost), head
    if not lost:
        return None
    heads, follow = zip(*lost, strict=True)
    fork = max(0, min(fork, heads[0].number - 1))
    return Branch(fork=fork, heads=heads, before=follow, known=known, since=since)


def signing_keys(branch: Branch, *, current: str, key: str) -> tuple[frozenset[str], ...]:
    """Return for each line of a branch the keys of this ledger under which it is accepted.

    What counts is where it stands, not the number that it names: a key that was replaced may have
    been copied, and dates its lines as it likes.  A row of the branch may have replaced the key;
    then its line is of the newer key, right after one of the older, which signs what stands before.
    Before the site's own key signed any, those do that the rows name last and their last line has.
    None of what stands before a line of a row that the ledger has: it was written there later.

    Args:
        branch: Lines whose rows are lost.
        current: The key that the rows of the ledger name last; "" if none.
        key: That of the site.
    """
    mine, places = frozenset({key}), range(len(branch.heads))
    begun = next((at for at in places if is_signed(branch.heads[at], keys=mine)), len(places))
    last = () if branch.known is None else (branch.known,)
    first = {current, *(head.key for head in last if is_signed(head, keys={head.key}))} - {""}
    keys, found = mine, []
    for place in reversed(places):
        head, before = branch.heads[place], branch.before[place]
        if place < begun:
            keys |= first
        found.append(keys if place >= branch.since else frozenset())
        if head.kind in _REPLACE and is_signed(head, keys=keys):
            keys |= _replaced(head, before)
    return tuple(reversed(found))


def _replaced(head: SignedHead, before: SignedHead | None) -> frozenset[str]:
    """Return the key of the line right before one whose row may have replaced it; else none."""
    if before is None or head.number != before.number + 1:
        return frozenset()
    return frozenset({before.key}) if is_signed(before, keys={before.key}) else frozenset()


def granted_since(branch: Branch, *, fork: Book, counted: Collection[str]) -> Granted:
    """Return what a branch charged.  What it gave back counts too: another may have had it since.

    A line names the counters of those kinds alone that its own ledger kept, and another may be
    missing; so what a line says of the lifetime, and of nobody's counter, may have been anyone's.

    Args:
        branch: The rows that are lost.
        fork: What the ledger added up to where they begin.
        counted: Rows that somebody went on without, who counted what came up to them.
    """
    granted, last, number = Granted(), Granted(), branch.fork
    followed: set[str] | None = None  # lineages told of since a line was missing; None if none was
    for head in branch.heads:
        if head.number != number + 1:
            followed = set()
        number = head.number
        for told in head.told():
            follows = followed is None or told.lineage in followed
            _count(granted, told, last=last.named, fork=fork, follows=follows)
            if followed is not None:
                followed.add(told.lineage)
            if head.hash in counted:
                _forget(granted, told)
    return granted


def _count(granted: Granted, head: SignedHead, *, last: Raised, fork: Book, follows: bool) -> None:
    """Add what a line tells that its row charged to a lineage.

    Args:
        granted: Added to.
        head: The line.
        last: What lines before it told.
        fork: What the ledger added up to where they begin.
        follows: Whether it is of the next row of the lineage after what is known.
    """
    had = last.setdefault(head.lineage, {})
    named = granted.named.setdefault(head.lineage, {})
    anyone = granted.anyone.setdefault(head.lineage, {})
    more = {}
    for name, units in head.spent.items():
        before = had.get(name)
        if before is None:
            before = units_in(fork, lineage=head.lineage, name=name)
            before += anyone.get(group_of(name), 0)
        more[name] = max(0, units - before)
        had[name] = units
    full = {name for name, units in head.spent.items() if is_pure(name) and units >= LARGEST}
    measure = measure_of(head.terms[-1]) if head.terms else None
    found = unnamed(
        more, full=full, says_whose=head.kind != "unfrozen", follows=follows, measure=measure
    )
    for group, units in found.items():
        anyone[group] = anyone.get(group, 0) + units
        if head.kind == "unfrozen":
            inside = [name for name in more if group_of(name) == group]
            more |= {name: max(0, more[name] - units) for name in inside}
    for name, units in more.items():
        named[name] = named.get(name, 0) + units


def _forget(granted: Granted, head: SignedHead) -> None:
    """Leave out what whoever went on without a row counted: as much as its line tells.

    It tells all that was spent on one lineage, and in which of the years that it names.
    """
    if not _tells_all(head):
        return
    years = {None, *map(year_of, head.spent)}
    for held in (granted.named, granted.anyone):
        kept = held.get(head.lineage, {}).items()
        held[head.lineage] = {name: units for name, units in kept if year_of(name) not in years}


def _tells_all(head: SignedHead) -> bool:
    """Return whether a line tells what was spent on its lineage; none does of every lineage."""
    return LIFETIME in head.spent


def charged_again(
    branch: Branch, *, fork: Book, book: Book, counted: Collection[str]
) -> Iterator[Held]:
    """Yield charges that the fork held, and that count once more than they do in the ledger.

    Rows of the branch may have answered under them, and so did the ledger since, or gave them back,
    as on a host that did not know of the lost rows:

    - *given back*: reserved at the fork, and what had it seemed dead;
    - *published twice*: the same periods of a growing release, each with noise of their own, which
      is as much as was charged for it once more.  A step changes no counter, so a lost row that
      charged nobody may be a step of any release of its lineage that could grow at the fork; or
      one that was reserved there was read.
    """
    read, free = _lineages(branch, fork=fork, counted=counted)
    for number in sorted(fork.open):
        held = fork.requests[number]
        given_back = book.requests[number].entry.state is State.CANCELLED
        if given_back and held.entry.lineage in read:
            yield held
    stepped = {
        held.entry.continues for held in book.requests.all() if held.entry.number > fork.number
    }
    for number in fork.growths.that_may_grow():
        growth = fork.growths[number]
        if number in stepped and growth.lineage in (read | free if growth.busy else free):
            yield book.requests[number]


def _lineages(branch: Branch, *, fork: Book, counted: Collection[str]) -> tuple[set[str], set[str]]:
    """Return of which lineages a branch read something, and of which it charged nothing for it."""
    read, free, had = set[str](), set[str](), dict[str, int]()
    for head, told in [(line, each) for line in branch.heads for each in line.told()]:
        before = had.get(told.lineage, units_in(fork, lineage=told.lineage, name=LIFETIME))
        had[told.lineage] = told.spent.get(LIFETIME, before)
        if head.kind == "reserved" and had[told.lineage] <= before:
            free.add(told.lineage)
        if head.kind in _READ:
            read |= {told.lineage} if told.lineage else fork.accounts.keys()
        if head.hash in counted and _tells_all(told):
            read.discard(told.lineage)
            free.discard(told.lineage)
    return read, free


def named_officers(
    heads: Sequence[SignedHead], *, keys: Sequence[Collection[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of officers whose word going on without some rows takes.

    Those of the newest line that a key of this ledger signed, and of newer ones, whoever signed
    them: a line of a stranger takes nobody's word away.

    Args:
        heads: Lines whose rows are lost, oldest first.
        keys: For each the keys under which it is accepted.
    """
    found: set[tuple[str, ...]] = set()
    for head, ours in reversed([*zip(heads, keys, strict=True)]):
        if is_signed(head, keys={head.key}):
            found.update(group for group in head.officers if group)
        if is_signed(head, keys=ours):
            break
    return tuple(sorted(found))


def untold(
    branch: Branch, *, keys: Sequence[Collection[str]], counted: Collection[str]
) -> tuple[tuple[SignedHead, ...], tuple[Collection[str], ...]]:
    """Return the lines of a branch without those that somebody counted, with their keys.

    What these tell of terms and caps, the ledger has taken; what came since is newer.
    """
    news = [each for each in zip(branch.heads, keys, strict=True) if each[0].hash not in counted]
    return tuple(head for head, _ in news), tuple(ours for _, ours in news)


def awaited_policies(
    heads: Sequence[SignedHead], *, keys: Sequence[Collection[str]], book: Book
) -> dict[str, tuple[tuple[int, str], ...]]:
    """Return the versions of a policy that lost rows let hold, with their SHA-256, by lineage.

    Of lines that a key of this ledger signed, since a stranger could name what nobody can adopt;
    none that is no newer than the version in force.

    Args:
        heads: Lines whose rows are lost, oldest first.
        keys: For each the keys under which it is accepted.
        book: The ledger as it is.
    """
    found: dict[str, set[tuple[int, str]]] = {}
    for head, ours in zip(heads, keys, strict=True):
        adopted = _adopted(head)
        if not adopted or not is_signed(head, keys=ours):
            continue
        for lineage, version in adopted:
            account = book.accounts.get(lineage)
            policy = None if account is None else account.policy
            if policy is None or version[0] > policy.policy.version:
                found.setdefault(lineage, set()).add(version)
    return {lineage: tuple(sorted(versions)) for lineage, versions in found.items()}


def unknown_adoptions(
    heads: Sequence[SignedHead], *, keys: Sequence[Collection[str]]
) -> tuple[tuple[str, int, str], ...]:
    """Return lineage, version and SHA-256 of policies that lost rows name under unknown keys.

    Such a key is a stranger's, or one of this site that came with lost rows and is lost itself.
    """
    found = {
        (lineage, *version)
        for head, ours in zip(heads, keys, strict=True)
        if head.key not in ours and is_signed(head, keys={head.key})
        for lineage, version in _adopted(head)
    }
    return tuple(sorted(found))


def _adopted(head: SignedHead) -> list[tuple[str, tuple[int, str]]]:
    """Return the lineages and versions of a policy that a line says held, or were waited for."""
    return [(of.lineage, of.adopted) for of in head.told() if of.adopted is not None]


def book_at(store: Store, *, number: int) -> Book:
    """Return what the rows up to one add up to."""
    book = Book()
    for event in store.events_after(0):
        if event.number > number:
            break
        book.follow(event)
    return book


def units_in(book: Book, *, lineage: str, name: str) -> int:
    """Return what a counter holds; of a lineage that is not registered what lost rows say."""
    found = book.accounts.get(lineage)
    if found is None:
        return book.lost.get(lineage, UNKNOWN).holds(name)
    return found.holds(name).spent
