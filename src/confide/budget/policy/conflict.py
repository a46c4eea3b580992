"""Why a policy cannot be met: an irreducible set of lines that contradict each other.

The set is found by a deletion filter [CD91]: take a broken cap and the floors it adds up; leave out
one line after the other, the smallest floor first; keep it out if the rest still contradict.  What
remains contradicts, and any part of it can be met.

The proof is a sum (Farkas' lemma): the cap says Σ mᵢ·xᵢ ≤ C, each floor xᵢ ≥ fᵢ; floor i taken mᵢ
times gives Σ mᵢ·fᵢ ≤ C, and the left side is larger.

References:
    [CD91] Chinneck, Dravnieks. Locating minimal infeasible constraint sets in linear programs.
        ORSA J. Computing 3(2), 1991. https://doi.org/10.1287/ijoc.3.2.157
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.budget.policy.rows import Row, broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A cap and floors that cannot hold together; without any one of them the rest can.

    Attributes:
        row: The cap, written out.
        weights: How often each floor is taken in the sum.
        floors: The floors themselves, in 1e-9 of the measure.
    """

    row: Row
    weights: Mapping[str, int]
    floors: Mapping[str, int]

    @property
    def needs(self) -> int:
        """What the floors add up to."""
        return sum(times * self.floors[name] for name, times in self.weights.items())

    @property
    def excess(self) -> int:
        """By how much the sum passes what is left of the cap; > 0."""
        return self.needs - self.row.free


def conflicts(written: Sequence[Row], floors: Mapping[str, int]) -> tuple[Conflict, ...]:
    """Return an irreducible conflict for each cap that the floors break, the widest gap first."""
    found: dict[str, Conflict] = {}
    for row in broken(written, floors):
        if row.cap not in found:
            found[row.cap] = conflict_of(row, floors=floors)
    return tuple(found.values())


def conflict_of(row: Row, *, floors: Mapping[str, int]) -> Conflict:
    """Return the irreducible conflict of one broken row."""
    kept = dict(floors)
    for name in sorted(row.runs, key=lambda name: kept[name]):
        without = kept | {name: 0}
        if row.used(without) > row.free:
            kept = without
    weights = {name: times for name, times in row.counted(kept).items() if times and kept[name]}
    ordered = {name: weights[name] for name in row.runs if name in weights}
    return Conflict(row=row, weights=ordered, floors={name: kept[name] for name in ordered})
