"""Lines of a Table 1 as their noisy vectors say: cells of the last round, ranks of the first.

*Lemma:* given the noisy counts of all first rounds, the cells of every second round are fixed, and
the noises of second rounds and of lines of one round are independent of them and of known laws.  So
least squares over those (:mod:`confide.plans.estimation.consistency`), without the counts of first
rounds, have the errors that they state, whatever the first rounds were; and an interval of them at
ℓ + (1 − ℓ)/10, cut with the first round's own at 1 − (1 − ℓ)/10, holds with ℓ at least
(:mod:`confide.plans.cuts.found`).  ∎

*Utility:* first rounds have a quarter of a line's charge, over more cells: what they know of totals
is next to nothing beside the second.
*Privacy:* post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from confide.noise.mechanism import Mechanism
from confide.plans.cuts.found import RoundCounts, levels_of_rounds, ranks_together, two_rounds
from confide.plans.cuts.quantiles import AdditiveNoise
from confide.plans.estimation.cumulative import Ranked
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy
from confide.statistics.table_one.lines import MeasuredLine
from confide.tables.aggregates.shapes import Measured, Refined


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRound:
    """Noisy counts of a line's first round, where a second followed.

    Attributes:
        counts: One for each group, in the same cells.
        noise: Of each cell.
    """

    counts: tuple[RoundCounts, ...]
    noise: AdditiveNoise

    def ranked(self, groups: slice, *, q: float, level: float) -> Ranked:
        """Return the ranks of some groups together, for an interval at ``level`` of both rounds."""
        of_first, _ = levels_of_rounds(level)
        return ranks_together(self.counts[groups], self.noise, q=q, level=of_first)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """A line with its noisy counts.

    Attributes:
        line: With the cells that were asked for last.
        numbers: Noisy counts in them, group by group.
        first: What was counted before; None where one round was enough.
    """

    line: MeasuredLine
    numbers: Sequence[int]
    first: FirstRound | None = None


def as_read(
    line: MeasuredLine, noisy: Noisy, *, asked: Measured, mechanism: Mechanism, groups: int
) -> ReadLine:
    """Return a line as its noisy vector says."""
    if not isinstance(asked, Refined):
        return ReadLine(line=line, numbers=vector(noisy))
    noise = additive(mechanism)
    found = two_rounds(asked, vector(noisy), mechanism=noise, groups=groups)
    lasts = [each.last for each in found]
    numbers: list[int] = []
    for last in lasts:
        numbers += [*last.counts, *([last.missing] if line.missing else [])]
    first = FirstRound(counts=tuple(each.first for each in found), noise=noise)
    return ReadLine(
        line=replace(line, edges=tuple(lasts[0].edges), row=lasts[0].weight),
        numbers=numbers,
        first=None if found[0].second is None else first,
    )
