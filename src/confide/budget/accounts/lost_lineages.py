"""Lineages that only lost rows knew: what these charged counts once they are registered again.

The lines of lost rows say what was spent, under which terms, and which policy held; nothing is open
until somebody registers it.

*Privacy:* a name that is registered anew after a loss begins where the lost rows left it.  Signed
or not, what a line says was spent counts; of a policy only lines by a key of this ledger speak.
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from confide.budget.accounts.account import Account
from confide.budget.accounts.awaited import NOTHING, Awaited
from confide.budget.accounts.lost_terms import NOTHING_TOLD, Told, go_on_with, told_of
from confide.budget.policy.counters import group_of, year_of
from confide.budget.workflow.acts import NAMED
from confide.errors import LedgerFrozenError
from confide.privacy.amount import LARGEST


@dataclass(frozen=True, slots=True)
class LostLineage:
    """What lost rows tell of one lineage, in grid units.

    Attributes:
        raised: What each counter holds at least.
        anyone: What comes on top of that for everybody, by group of counters.
        awaited: Policies that are adopted again.
        told: What lines tell of its terms.
    """

    raised: Mapping[str, int] = field(default_factory=dict)
    anyone: Mapping[str, int] = field(default_factory=dict)
    awaited: Awaited = NOTHING
    told: Told = NOTHING_TOLD

    @property
    def binds(self) -> bool:
        """Whether it was charged, or has a policy to come: then it keeps its terms."""
        spent = any((*self.raised.values(), *self.anyone.values()))
        return spent or bool(self.awaited.versions)

    def holds(self, name: str) -> int:
        """Return what a counter will begin with."""
        return self.raised.get(name, 0) + self.anyone.get(group_of(name), 0)

    def year(self, now: int) -> int:
        """Return the calendar year that is open when it is registered: none ends by the clock."""
        years = {year_of(name) for name in (*self.raised, *self.anyone)}
        return max((year for year in years if year is not None and year <= now), default=now)

    def raised_by(self, raised: Mapping[str, str], anyone: Mapping[str, str]) -> "LostLineage":
        """Return it once more rows are lost; see :meth:`Account.take_lost`."""
        least, more = dict(self.raised), dict(self.anyone)
        for name, units in raised.items():
            over = int(units) - self.anyone.get(group_of(name), 0)
            least[name] = min(LARGEST, max(least.get(name, 0), over))
        for group, units in anyone.items():
            more[group] = min(LARGEST, more.get(group, 0) + int(units))
        return replace(self, raised=least, anyone=more)

    def begin(self, account: Account) -> None:
        """Let a new account begin with it.

        Raises:
            LedgerFrozenError: If its terms are not those that lost rows tell.
        """
        if self.binds and not self.told.allows(account.terms):
            raise LedgerFrozenError(
                f"Lineage {account.terms.lineage!r} got other terms than lost rows gave it."
            )
        texts = ({name: str(units) for name, units in each.items()} for each in self._units())
        raised, anyone = texts
        account.take_lost(raised, anyone=anyone)
        account.awaited = self.awaited
        account.dispute(self.told.others(account.terms.names))

    def to_json(self) -> list[Any]:
        """Return all that it holds, as JSON."""
        return [*map(dict, self._units()), self.told.to_fields(), *self.awaited.to_json()]

    def _units(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        return self.raised, self.anyone


UNKNOWN = LostLineage()


def terms_told_before(lost: Mapping[str, LostLineage], lineage: str) -> Told:
    """Return what rows that were lost earlier tell of the terms of a lineage."""
    return lost.get(lineage, UNKNOWN).told


def lost_lineage_of(fields: list[Any]) -> LostLineage:
    """Return what :meth:`LostLineage.to_json` wrote."""
    raised, anyone, told, *awaited = fields
    return LostLineage(
        raised=raised, anyone=anyone, told=told_of(told), awaited=Awaited.of_json(*awaited)
    )


def go_on_without(
    fields: Mapping[str, Any],
    *,
    accounts: Mapping[str, Account],
    lost: MutableMapping[str, LostLineage],
) -> None:
    """Take terms of lost rows, count what they charged, and wait for policies that they let hold.

    Args:
        fields: Of the row by which an officer goes on.
        accounts: Of lineages that the ledger knows.
        lost: Of those that it does not; changed.
    """
    for lineage, said in fields.get("terms", {}).items():
        told = told_of(said)
        if lineage in accounts:
            go_on_with(accounts[lineage], told)
        else:
            known = lost.get(lineage, UNKNOWN)
            lost[lineage] = replace(known, told=known.told.replaced_by(told))
    for lineage, raised in fields["raised"].items():
        more = fields["anyone"].get(lineage, {})
        if lineage in accounts:
            accounts[lineage].take_lost(raised, anyone=more)
        elif raised or more:
            lost[lineage] = lost.get(lineage, UNKNOWN).raised_by(raised, more)
    for lineage, held in fields.get("awaited", {}).items():
        versions = [(int(each["version"]), str(each["sha256"])) for each in held]
        officers, account = fields.get(NAMED, ()), accounts.get(lineage)
        if account is None:
            known = lost.get(lineage, UNKNOWN)
            waits = known.awaited.lost(versions, officers=officers, present=None)
            lost[lineage] = replace(known, awaited=waits)
        else:
            present = account.in_force
            account.awaited = account.awaited.lost(versions, officers=officers, present=present)
