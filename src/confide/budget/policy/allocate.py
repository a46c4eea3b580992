"""Lexicographic max-min: every release is at least t times better than it asked, t as large as can.

A spend is max(f, t·w·f): f the floor, w the weight of the tier.  t grows for all until a cap is
full; the releases that this cap stops keep what they have, the others go on (progressive filling
[BG92, sec. 6.5.2]).  Rows grow with each spend, so no other division gives a release more without
taking from one that has no more, in terms of t.  All in exact fractions.

The level at which one row is full is found from above by Newton's method: what a row uses is convex
and piecewise linear in t, a tangent lies below it, so its root is never below the answer, and each
step moves to another piece.

*Privacy:* spends are rounded down to the policy's grid, but never below the floor, which is itself
no more than the unrounded spend; so no cap is passed by rounding.

References:
    [BG92] Bertsekas, Gallager. Data networks, 2nd ed. Prentice Hall, 1992.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.policy.policy import Policy
from confide.budget.policy.rows import Row
from confide.errors import ContractError
from confide.privacy.amount import NANO


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A division of the budget that keeps every cap and every floor.

    Attributes:
        spends: Of one run of each release, in 1e-9 of the measure.
        head_room: Unrounded spend ÷ floor; releases without a floor have none.
        stopped_by: The row that was full when the release was stopped.
    """

    spends: Mapping[str, int]
    head_room: Mapping[str, Fraction]
    stopped_by: Mapping[str, Row]


def allocate(policy: Policy, *, written: Sequence[Row], floors: Mapping[str, int]) -> Allocation:
    """Return the lexicographic max-min division; the floors must fit.

    Raises:
        ContractError: If no cap holds for some release.
    """
    weights = {tier.id: tier.weight for tier in policy.tiers}
    rates = {release.id: weights[release.tier] * floors[release.id] for release in policy.releases}
    fixed = {name: Fraction(0) for name, floor in floors.items() if not floor}
    stopped: dict[str, Row] = {}
    while len(fixed) < len(floors):
        filling = _Filling(floors=floors, rates=rates, fixed=fixed)
        tops = {
            i: filling.top(row)
            for i, row in enumerate(written)
            if not row.runs.keys() <= fixed.keys()
        }
        if not tops:
            raise _uncapped(sorted(floors.keys() - fixed.keys()))
        level = min(tops.values())
        point = filling.at(level)
        for i, top in tops.items():
            if top == level:
                for name in _stopped(written[i], point, free=floors.keys() - fixed.keys()):
                    stopped.setdefault(name, written[i])
        fixed |= {name: point[name] for name in stopped}
    grid = int(policy.round_down_to * NANO)
    return Allocation(
        spends={name: max(floors[name], int(x // grid) * grid) for name, x in fixed.items()},
        head_room={name: x / floors[name] for name, x in fixed.items() if floors[name]},
        stopped_by=stopped,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    """Spends as a function of the level t.

    Attributes:
        floors: f, in 1e-9.
        rates: w·f.
        fixed: Spends that no longer move.
    """

    floors: Mapping[str, int]
    rates: Mapping[str, Fraction]
    fixed: Mapping[str, Fraction]

    def at(self, level: Fraction) -> dict[str, Fraction]:
        """Return the spends at a level."""
        return {
            name: self.fixed.get(name, max(Fraction(floor), level * self.rates[name]))
            for name, floor in self.floors.items()
        }

    def top(self, row: Row) -> Fraction:
        """Return the highest level that keeps a row."""
        moving = [name for name in row.runs if name not in self.fixed]
        level = min((row.free + 1) / self.rates[name] for name in moving)
        while True:
            point = self.at(level)
            over = row.used(point) - row.free
            if over <= 0:
                return level  # a row over its limit rises: at the floors it was not
            slope = sum(
                (
                    times * self.rates[name]
                    for name, times in row.counted(point).items()
                    if name not in self.fixed and level * self.rates[name] >= self.floors[name]
                ),
                start=Fraction(0),
            )
            level -= over / slope


def _stopped(row: Row, point: Mapping[str, Fraction], *, free: set[str]) -> list[str]:
    """Return the releases that cannot grow when a row is full."""
    least = min(point[name] for name, times in row.counted(point).items() if times)
    return [name for name in row.runs if name in free and point[name] >= least]


def _uncapped(names: Sequence[str]) -> ContractError:
    return ContractError(
        f"No cap holds for release {names[0]!r}, so any amount would do.",
        hint="Add a cap of scope release, patient or dataset.",
    )
