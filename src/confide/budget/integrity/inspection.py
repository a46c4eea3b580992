"""The inspection of a ledger: every row, every copy, every signed head.

What is found is of two kinds.  *Differences* are what an officer may accept, because going on can
be made safe: an anchor that knows more than the ledger (an older copy was put back), a counter, an
entry whose events cost more than was charged.  *Damage* cannot be accepted: the chain, a request or
an answer was changed, so the ledger must be restored from a backup first.

*Privacy:* what the anchor saw spent stays spent, so a rollback never gives budget back.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from confide.budget.accountant import Accountant, is_unexplained
from confide.budget.accounts.account import Account
from confide.budget.accounts.book import Book
from confide.budget.accounts.held import Held
from confide.budget.accounts.lost_lineages import terms_told_before
from confide.budget.accounts.lost_terms import Told, changed_terms, told_terms
from confide.budget.chain.chain import Event, SignedHead, Signer
from confide.budget.chain.garbage import uncollected
from confide.budget.chain.identity import SiteFolder
from confide.budget.chain.signatures import Gathered, Signature
from confide.budget.entry import OVER
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.anchor_audit import (
    anchor_differences,
    keys_for,
    last_accepted,
    missing_anchor,
    unsigned_lines,
)
from confide.budget.integrity.anchor_line import Line
from confide.budget.integrity.book_head import is_head_signed, unsigned_head
from confide.budget.integrity.lost_rows import (
    NAMED_ROWS,
    Raised,
    awaited_policies,
    book_at,
    charged_again,
    granted_since,
    lost_branch,
    named_officers,
    signing_keys,
    units_in,
    unknown_adoptions,
    untold,
)
from confide.budget.policy.counters import group_of
from confide.budget.stores.store import Store
from confide.errors import ConfideError, LedgerFrozenError
from confide.privacy.amount import LARGEST, Amount
from confide.privacy.measure import Mixed

TOLD = 10_000
"""Rows after which somebody who waits is told."""


@dataclass(slots=True)
class Inspection:
    """What was found.

    Attributes:
        book: What the chain adds up to, as far as it is whole.
        damage: Needs a backup.
        differences: Needs an officer.
        raised: Grid units by lineage and scope that must count as spent to go on.
        anyone: What more must count against everybody, by lineage and group of counters.
        missing: Heads of the rows, unsigned, that the anchor does not have yet.
        unsigned: What is to be said of lines of the anchor that are not signed, if that was asked.
        lost: Hashes of the last rows that the anchor alone knows, oldest first.
        may_lack: Whether rows may be lost, named or not: the head or the anchor does not hold.
        named: Keys of the officers whom lost rows name, by policy.
        awaited: By lineage, versions of a policy that lost rows let hold, with their SHA-256.
        told: By lineage, what lost rows tell of its terms.
    """

    book: Book
    damage: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    raised: Raised = field(default_factory=dict)
    anyone: Raised = field(default_factory=dict)
    missing: list[SignedHead] = field(default_factory=list)
    unsigned: list[str] = field(default_factory=list)
    lost: tuple[str, ...] = ()
    may_lack: bool = False
    named: tuple[tuple[str, ...], ...] = ()
    awaited: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    told: dict[str, Told] = field(default_factory=dict)

    def findings(self) -> tuple[str, ...]:
        """Return everything found, damage first."""
        return (*self.damage, *self.differences)


@uncollected()
def inspect(
    store: Store,
    *,
    anchor: Anchor,
    public_key: str,
    recompute: Accountant,
    watch: Callable[[Book], None] = lambda _: None,
    signer: Signer | None = None,
) -> Inspection:
    """Check the whole ledger; the caller holds the write lock.

    Args:
        store: Where the rows are.
        anchor: Signed heads in a second place.
        public_key: Of the site, in hexadecimal.
        recompute: The loss of events.
        watch: Is shown the book after each row.
        signer: The site's key, if every line of the anchor is to be signed and not the last alone.
    """
    found = Inspection(book=Book())
    lines, hashes, accepted, counted = anchor.lines(), [""], set(), set()
    anchored = lines[-1].number if lines and lines[-1] is not None else 0
    unsigned: set[int] = set()
    asked = () if signer is None else lines
    try:
        with Gathered(signer=signer, held=len(asked)) as signatures:
            taken = _followed(store, found, watch=watch, signatures=signatures, lines=asked)
            for event in taken:
                hashes.append(event.hash)
                if found.book.kind == "unfrozen":
                    accepted.add(event.hash)
                    counted.update(event.fields().get("lost", ()))
                if event.number > anchored:
                    found.missing.append(unsigned_head(found.book, key=public_key))
            unsigned = _checked(found, signatures)
        if found.damage:
            return found
        found.damage.extend(store.damage(found.book))
        found.differences.extend(store.differences(found.book))
    except store.failures:
        found.damage.append("The ledger's tables cannot be read.")
        return found
    if found.book.number == 0 and lines:
        found.damage.append(
            "The ledger's tables are missing or empty, though the anchor knows them "
            f"({len(lines)} rows)."
        )
        return found
    copies = len(found.differences)  # what comes from here on is of the head and the anchor
    found.differences.extend(head_differences(store, found.book, public_key=public_key))
    start = last_accepted(lines, accepted=accepted)
    if signer is not None:
        found.unsigned.extend(
            unsigned_lines(lines, start=start, wrong=unsigned, book=found.book, key=public_key)
        )
    if not {line.hash for line in lines if line is not None} <= set(hashes):
        _take_lost(
            found,
            heads=_heads(lines),
            start=start,
            hashes=hashes,
            counted=counted,
            store=store,
            key=public_key,
        )
    found.differences.extend(
        anchor_differences(
            lines[start:],
            hashes=hashes,
            keys=keys_for(found.book, lines[-1] if lines else None, public_key=public_key),
            most=store.most_behind,
        )
    )
    found.may_lack = len(found.differences) > copies or bool(found.lost or found.unsigned)
    check_charges(found, found.book.requests.all(), recompute=recompute)
    return found


def against_folder(found: Inspection, site: SiteFolder, *, store: Store, anchor: Anchor) -> None:
    """Add what the folder of a ledger knows against it."""
    book, is_empty = found.book, anchor.is_empty()
    found.damage.extend(book.identity.damage(site, rows=book.number))
    lost = tuple(missing_anchor(site, book, is_empty=is_empty, most=store.most_behind))
    found.differences.extend((*book.identity.differences(site), *lost))
    found.may_lack = found.may_lack or bool(lost)


def told(
    watch: Callable[[Book], None], *, progress: Callable[[str], None]
) -> Callable[[Book], None]:
    """Return what watches a book, and says now and then how far it is."""

    def look(book: Book) -> None:
        watch(book)
        if book.number % TOLD == 0:
            progress(f"row {book.number}")

    return look


def _followed(
    store: Store,
    found: Inspection,
    *,
    watch: Callable[[Book], None],
    signatures: Gathered,
    lines: Sequence[Line | None],
) -> Iterator[Event]:
    """Take in every row, and yield it; what does not hold is damage, and ends it.

    The signatures of the lines are gathered first, so that those who help have them to check.
    """
    for place, line in enumerate(lines, 1):
        if line is not None:
            signatures(Signature(line.key, line.message, line.signature, "", place))
    try:
        for event in store.events_after(-1):
            found.book.follow(event, require=signatures)
            watch(found.book)
            yield event
    except LedgerFrozenError as error:
        found.damage.append(str(error))


def _checked(found: Inspection, signatures: Gathered) -> set[int]:
    """Take in what is not signed, and return which lines are not.

    A row that a person did not sign is known when all were taken in; it comes before any other that
    does not hold, since those after that were not taken in.
    """
    wrong = signatures.wrong()
    rows = [one.wrong for one in wrong if not one.line]
    found.damage[:] = [*rows, *found.damage][:1]
    return {one.line for one in wrong if one.line}


def _heads(lines: Sequence[Line | None]) -> tuple[SignedHead | None, ...]:
    return tuple(None if line is None else line.head() for line in lines)


def head_differences(store: Store, book: Book, *, public_key: str) -> Iterator[str]:
    """Yield what is to be said of a head that this site's key did not sign."""
    if is_head_signed(store, book, public_key=public_key):
        return
    held = store.head()
    if book.signing.current not in {"", public_key}:
        yield (
            "The signing key was rotated; this folder holds another one than "
            f"ed25519:{book.signing.current}."
        )
    if held is not None and not held[2]:
        yield "The head is not signed: the ledger was restored from a backup."
    else:
        yield "The head is not signed by this site's key."


def _take_lost(
    found: Inspection,
    *,
    heads: Sequence[SignedHead | None],
    start: int,
    hashes: Sequence[str],
    counted: Collection[str],
    store: Store,
    key: str,
) -> None:
    """Remember what rows that the anchor alone knows had spent, and whom they name.

    ``start`` is the place of the line by which an officer last went on.
    """
    current = found.book.signing.current
    known = {key, current} - {""}
    branch = lost_branch(heads[start:], hashes=hashes, ours=known, earlier=heads[:start])
    if branch is None:
        _note_lost(found, heads=heads, hashes=hashes)
        return
    keys = signing_keys(branch, current=current, key=key)
    found.lost = tuple(head.hash for head in branch.heads[-NAMED_ROWS:])
    found.named = named_officers(branch.heads, keys=keys)
    found.awaited = awaited_policies(branch.heads, keys=keys, book=found.book)
    news, ours = untold(branch, keys=keys, counted=counted)
    found.told = {
        lineage: terms_told_before(found.book.lost, lineage).followed_by(each)
        for lineage, each in told_terms(news, keys=ours).items()
    }
    found.differences.extend(changed_terms(found.told, heads=news, accounts=found.book.accounts))
    for lineage, versions in found.awaited.items():
        version, digest = versions[-1]
        found.differences.append(
            f"Version {version} of the policy of lineage {lineage!r} was adopted in rows that are "
            f"lost (sha256 {digest[:16]}): nothing is spent until it is adopted again."
        )
    found.differences.extend(
        f"A lost row names version {version} of the policy of lineage {lineage!r} (sha256 "
        f"{digest[:16]}) under a key that is not known here. If it was this site's, and is lost "
        "since: adopt that version before anything is spent."
        for lineage, version, digest in unknown_adoptions(branch.heads, keys=keys)
    )
    fork = found.book if branch.fork == found.book.number else book_at(store, number=branch.fork)
    granted = granted_since(branch, fork=fork, counted=counted)
    for held in charged_again(branch, fork=fork, book=found.book, counted=counted):
        named = granted.named.setdefault(held.entry.lineage, {})
        account = found.book.account(held.entry.lineage)
        for scope, units in account.shares(held.entry.amount, when=held.when).items():
            named[scope] = named.get(scope, 0) + units
    found.anyone = granted.anyone
    _note_lost(found, heads=heads, hashes=hashes)
    for lineage, scopes in granted.named.items():
        for scope, units in scopes.items():
            spent = units_in(found.book, lineage=lineage, name=scope) + units
            _note(found, lineage=lineage, scope=scope, spent=spent)


def _note_lost(
    found: Inspection, *, heads: Sequence[SignedHead | None], hashes: Sequence[str]
) -> None:
    """Remember what rows that are lost had spent, signed or not: more is safer.

    What counts against everybody comes on top of it, and so is not counted here.
    """
    in_chain = frozenset(hashes)
    for head in heads:
        for told in () if head is None or head.hash in in_chain else head.told():
            anyone = found.anyone.get(told.lineage, {})
            for scope, units in told.spent.items():
                spent = max(0, units - anyone.get(group_of(scope), 0))
                _note(found, lineage=told.lineage, scope=scope, spent=spent)
            found.raised.setdefault(told.lineage, {})


def _note(found: Inspection, *, lineage: str, scope: str, spent: int) -> None:
    scopes = found.raised.setdefault(lineage, {})
    scopes[scope] = min(LARGEST, max(scopes.get(scope, 0), spent))


def check_charges(found: Inspection, requests: Iterable[Held], *, recompute: Accountant) -> None:
    """Recompute the loss of requests since an officer last looked."""
    for held in requests:
        entry = held.entry
        if entry.state in OVER or entry.number < found.book.accepted:
            continue
        try:
            cost = _recomputed(held, account=found.book.account(entry.lineage), by=recompute)
        except ConfideError:
            found.differences.append(f"The events of entry {entry.number} cannot be recomputed.")
            continue
        if is_unexplained(entry.amount, cost=cost):
            found.differences.append(f"Entry {entry.number} was charged, and has no events.")
            continue
        if entry.amount.covers(cost):
            continue
        found.differences.append(f"Entry {entry.number} costs more than was charged.")
        account = found.book.account(entry.lineage)
        had = account.shares(entry.amount, when=held.when)
        for scope, units in account.shares(cost, when=held.when).items():
            short = max(0, units - had[scope])
            _add(found, lineage=entry.lineage, scope=scope, units=short)


def _recomputed(held: Held, *, account: Account, by: Accountant) -> Amount:
    """Return what the events of a request cost its lineage."""
    measure, entry = account.terms.measure, held.entry
    if isinstance(measure, Mixed) and entry.amount.nano:
        return by(held.events_json, measure=entry.measure, mixed=measure)
    return by(held.events_json, measure=entry.measure)


def _add(found: Inspection, *, lineage: str, scope: str, units: int) -> None:
    spent = units_in(found.book, lineage=lineage, name=scope)
    scopes = found.raised.setdefault(lineage, {})
    scopes[scope] = min(LARGEST, max(scopes.get(scope, 0), spent) + units)
