"""Unit, adjacency, measure and caps of a lineage, as rows that are lost had set them.

A lineage may take other terms until its first charge.  An older copy of the ledger, put back, then
knows earlier ones than those under which the lost rows charged: ρ of 0.2 is no ε of 0.2.  So each
line of the anchor tells of what its amounts are, and going on takes the terms of the newest.

*Privacy:* amounts of other terms are never added.  Where lost rows charged under others than the
lineage goes on with, as another history or a stranger's line may say, nothing more is spent of it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.budget.accounts.account import Account
from confide.budget.accounts.account_record import caps_json, caps_of
from confide.budget.accounts.file_caps import is_raised, tightest
from confide.budget.chain.chain import SignedHead, is_signed
from confide.budget.ledger import Caps, LedgerTerms
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import measure_of
from confide.privacy.unit import Entity

REGISTERED = "registered"
SETS_CAPS = frozenset({REGISTERED, "caps-amended"})
"""Kinds of rows that set the caps of dataset.yaml."""

Names = tuple[str, ...]
"""Unit, adjacency and measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What lines of lost rows tell of one lineage.

    Attributes:
        newest: Terms in the newest line that a key of this ledger signed; () if none tells.
        caps: Those set last under these terms; None if no line tells, or a policy's were to hold.
        charged: All terms under which lost rows spent anything, whoever signed their lines.
    """

    newest: Names = ()
    caps: Caps | None = None
    charged: tuple[Names, ...] = ()

    def replaced_by(self, newer: "Told") -> "Told":
        """Return it once a row says more; as :meth:`followed_by` says what a row is to say."""
        both = tuple(sorted({*self.charged, *newer.charged}))
        return replace(newer if newer.newest else self, charged=both)

    def followed_by(self, newer: "Told") -> "Told":
        """Return what the row says by which an officer goes on once more rows are lost.

        Terms under which something was charged change no more: others, of lines under which nothing
        was, are of before, as in an older anchor that is put back.  So may higher caps be, and of
        each cap under the same terms the lower holds.
        """
        of_before = (
            newer.newest not in {self.newest, *newer.charged} and self.newest in self.charged
        )
        last = self.replaced_by(newer)
        if of_before:
            return replace(last, newest=self.newest, caps=self.caps)
        same = self.newest == newer.newest
        return replace(last, caps=_lower(self.caps, newer.caps)) if same else last

    def terms(self, lineage: str, *, caps: Caps | None) -> LedgerTerms:
        """Return the newest terms with some caps."""
        unit, adjacency, measure = self.newest
        return LedgerTerms(
            lineage=lineage,
            unit=Entity(unit),
            adjacency=Adjacency(adjacency),
            measure=measure_of(measure),
            caps=caps,
        )

    def allows(self, terms: LedgerTerms) -> bool:
        """Return whether a lineage may begin with terms: those told, and no higher caps."""
        if self.newest and terms.names != self.newest:
            return False
        return self.caps is None or (
            terms.caps is not None and not is_raised(self.caps, terms.caps)
        )

    def others(self, names: Names) -> tuple[Names, ...]:
        """Return the terms under which lost rows spent, other than some."""
        return tuple(each for each in self.charged if each != names)

    def to_fields(self) -> dict[str, Any]:
        """Return it as it stands in the chain."""
        return {
            "newest": list(self.newest),
            "caps": caps_json(self.caps),
            "charged": [list(each) for each in self.charged],
        }


NOTHING_TOLD = Told()


def told_of(fields: Mapping[str, Any]) -> Told:
    """Return what :meth:`Told.to_fields` wrote."""
    return Told(
        newest=tuple(map(str, fields["newest"])),
        caps=caps_of(fields["caps"]),
        charged=tuple(tuple(map(str, each)) for each in fields["charged"]),
    )


def told_terms(heads: Sequence[SignedHead], *, keys: Sequence[Collection[str]]) -> dict[str, Told]:
    """Return by lineage what lines of lost rows tell of its terms.

    Args:
        heads: Lines whose rows are lost, oldest first.
        keys: For each the keys under which it is accepted.
    """
    found: dict[str, Told] = {}
    lines = reversed([*zip(heads, keys, strict=True)])
    for head, ours, of in [(line, mine, each) for line, mine in lines for each in line.told()]:
        if not of.terms:
            continue  # of no lineage
        told = found.get(of.lineage, NOTHING_TOLD)
        if any(of.spent.values()):
            told = replace(told, charged=tuple(sorted({*told.charged, of.terms})))
        tells_caps = of.kind in SETS_CAPS or of.caps is not None
        sets = tells_caps and told.caps is None and told.newest in {(), of.terms}
        if (sets or not told.newest) and is_signed(head, keys=ours):
            caps = None if of.caps is None or not sets else caps_of(of.caps)
            told = replace(told, newest=of.terms, caps=caps)
        found[of.lineage] = told
    for holds in [each for head in heads for each in head.held if each.others]:
        told = found.get(holds.lineage, NOTHING_TOLD)
        found[holds.lineage] = replace(told, charged=tuple(sorted({*told.charged, *holds.others})))
    return found


def _lower(one: Caps | None, other: Caps | None) -> Caps | None:
    """Return the lower of each cap, as far as they are known."""
    return tightest(one, other) if one is not None and other is not None else one or other


def is_fixed(account: Account) -> bool:
    """Return whether the rows that are there let the terms of a lineage change no more."""
    spent = any(counter.spent for counter in account.counters.values())
    return account.charged or account.policy is not None or spent


def go_on_with(account: Account, told: Told) -> None:
    """Take the terms that lost rows had set, before what they charged is counted.

    Where the rows that are there fix the terms, lost rows of the same history had them too, and may
    have lowered caps; any others are of another history, and are disputed.
    """
    present = account.terms
    if told.newest and not is_fixed(account):
        kept = present.caps if told.newest == present.names else None
        account.set_terms(told.terms(present.lineage, caps=told.caps or kept))
    elif told.newest == present.names and told.caps is not None and present.caps is not None:
        account.set_terms(replace(present, caps=tightest(present.caps, told.caps)))
    account.dispute(told.others(account.terms.names))


def changed_terms(
    told: Mapping[str, Told], *, heads: Sequence[SignedHead], accounts: Mapping[str, Account]
) -> Iterator[str]:
    """Yield what an officer is to know of the terms of lineages before going on.

    Args:
        told: By lineage, what lines of lost rows tell.
        heads: Those lines.
        accounts: Of lineages that the ledger knows.
    """
    for lineage in sorted({of.lineage for head in heads for of in head.told()} - {""}):
        account, said = accounts.get(lineage), told.get(lineage, NOTHING_TOLD)
        if account is None:
            goes_on, text = said.newest, _registered_again(lineage, said)
        elif is_fixed(account) or said.newest in {(), account.terms.names}:
            goes_on, text = account.terms.names, ""
        else:
            goes_on, text = said.newest, _changed(lineage, said.newest)
        if text:
            yield text
        if goes_on and said.others(goes_on):
            yield _disputed(lineage, said.others(goes_on))


def _registered_again(lineage: str, told: Told) -> str:
    under = "under the terms of its dataset.yaml, because these rows do not tell theirs"
    if told.newest:
        under = f"under {_text(told.newest)}"
    return (
        f"Lineage {lineage!r} is in lost rows alone: what they charged counts once it is "
        f"registered again, {under}."
    )


def _changed(lineage: str, names: Names) -> str:
    return f"Lost rows gave lineage {lineage!r} other terms: it goes on under {_text(names)}."


def _disputed(lineage: str, others: Sequence[Names]) -> str:
    return (
        f"Lost rows charged lineage {lineage!r} under other terms than those it would go on with "
        f"({'; '.join(map(_text, others))}): nothing more would be spent of it. If a signing key "
        "came with these rows, put it back first; or restore a newer backup."
    )


def _text(names: Names) -> str:
    unit, adjacency, measure = names
    return f"unit {unit}, adjacency {adjacency}, measure {measure}"
