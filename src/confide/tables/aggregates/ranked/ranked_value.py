"""Values of a number, of which the one that is nearest to a quantile is published.

The utility of a value v for the quantile q = a/b of N rows is how many ranks qN is from those of
the rows at v, times −b, in whole numbers:

    u(v) = −max(0, b·C(<v) − a·N, a·N − b·C(≤v)),

C(<v) and C(≤v) being the rows below v and up to v.  The least v with C(≤v) ≥ qN has u(v) = 0, so
the best value is a quantile however the rows heap: a score of C(<v) alone is far from qN at every
value around a heap.  Where the grid has more values than may be chosen among, v is a step of it.

*Lemma* (one row at x more).  A = b·C(<v) − aN and B = aN − b·C(≤v) move by −a and a where v < x,
by b − a and −(b − a) where v > x, and by −a and −(b − a) at v = x.  max(0, A, B)
moves by no more than its largest argument, so u(v) moves by at most D = max(a, b − a), in either
direction: values on one side of the quantile come nearer to it as those on the other side go away.
So the reach, how far one value may rise over another, is 2D; that all *counts* move in one
direction does not halve it, and it is attained: with the median below x, values below the median
lose a, and values between it and x gain a.

*Lemma* (a row at x replaced by one at y).  N stays, and C(<v) and C(≤v) move by at most 1 and not
in different directions: A and B by at most b each, so u(v) by at most b, the reach is 2b, less than
that of one row removed and one added.  A row that is only added or removed reaches 2D ≤ 2b.

*Lemma* (all values together; D is b where a row is replaced). A row moves n values by at most (n −
1)·D together, and by (n − 1)·D² in squares. It is enough that one value stays, or that two move by
D together. Of a row x more: if x is a quantile, it stays one. Else let x be above all quantiles
(below is alike), v the greatest of them, and H = C(≤v): v stays one if H ≥ q(N + 1). If not, with g
= q(N + 1) − H it loses b·g, and the next value w ≤ x with rows, off by b(q − g), becomes one: a ≤ D
together. Of a row x replaced by y > x: a quantile below x, or from y on, stays one. Else v, the
greatest, stays one if H − 1 ≥ qN; if not, with g = qN − H + 1 it loses b·g, and the next value w ≤
y with rows, off by b(1 − g), becomes one: b together. So where there are two values, one reaches
over the other by D alone.

All of these add up over the rows of a patient: m rows, m times as far, and m² in squares.  ∎

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011, sec. 3. https://doi.org/10.1145/1993636.1993743
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Ones, Step
from confide.tables.bound_contributions import ContributionBounds, rows_per_unit
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DaysOf,
    Expression,
    ValueOf,
)
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset

MOST_VALUES = 2**16
"""Most values that are chosen among; a finer grid is taken in so many even steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedValue:
    """Values of a number, of which the one nearest to a quantile is chosen.

    Attributes:
        relation: Which rows.
        of: The number.
        lower: Its least value, in canonical integers.
        upper: Its greatest.
        steps: Even steps below the greatest value, which is a candidate of its own; one for each
            value where there are few enough.
        q: Which quantile, in (0, 1).
        bounds: What one privacy unit keeps.
        axes: None in a release; the databases of a sensitivity search, each of which has scores.
    """

    relation: Relation
    of: "ColumnOf | ValueOf | DaysOf"
    lower: int
    upper: int
    steps: int
    q: Fraction
    bounds: ContributionBounds
    axes: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= min(MOST_VALUES, self.upper - self.lower):
            raise InvalidParameterError("Expected some steps between the bounds.")
        if not 0 < self.q < 1:
            raise InvalidParameterError("Expected a quantile strictly between 0 and 1.")

    @property
    def size(self) -> int:
        """How many values are chosen."""
        return 1

    @property
    def edges(self) -> tuple[int, ...]:
        """Where candidates begin, in canonical integers, and where the last one ends."""
        return edges_of_steps(self.lower, self.upper, steps=self.steps)

    def value(self, place: int) -> int:
        """Return the value of a candidate: of several, the middle one or the lower of two."""
        return middle_of_step(self.edges, place)

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (self.of,)

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts of the candidates that an engine answers."""
        axes = (*self.axes, BinOf(of=self.of, edges=self.edges))
        return (Aggregate(relation=self.relation, axes=axes, value=Ones(), bounds=self.bounds),)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the utilities from the exact counts."""
        (counts,) = sums
        each = self.coordinates(dataset)
        starts = range(0, len(counts), each)
        return tuple(u for at in starts for u in utilities(counts[at : at + each], q=self.q))

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of candidates."""
        del dataset
        return self.steps + 1

    def check(self, dataset: Dataset) -> None:
        """Refuse bounds that are not declared, what is undeclared or could overflow."""
        within = domain(self.of, dataset=dataset)
        if (within.lower, within.upper) != (self.lower, self.upper):
            raise ContractError("Expected the declared bounds of the number.")
        for part in self.parts():
            part.check(dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the utilities, and one over another."""
        one = rows_per_unit(self.bounds) * move_of_row(self.q, adjacency=dataset.adjacency)
        candidates = self.coordinates(dataset)
        reach = min(2, candidates - 1) * one
        return Sensitivity(
            l1=(candidates - 1) * one,
            l2_squared=(candidates - 1) * one * one,
            linf=one,
            entity=dataset.unit.entity,
            unit=counted,
            because=f"the distance of a value from the quantile {self.q}, in ranks times "
            f"{self.q.denominator}, moves by at most {one}; of two values, one may come nearer and "
            "the other go away [DMNS06, def. 3].",
            reach=reach,
            set_reach=reach,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of a utility is worth, in ranks."""
        del dataset
        return Step(size=Fraction(1, self.q.denominator))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return (
            f"the value of {say.of(self.of)} whose ranks are nearest to its quantile {self.q}, of "
            f"{say.rows(self.relation)}"
        )

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))


def edges_of_steps(lower: int, upper: int, *, steps: int) -> tuple[int, ...]:
    """Return where so many even steps, and the greatest value by itself, begin and end.

    Example:
        >>> edges_of_steps(0, 10, steps=2)
        (0, 5, 10, 11)
    """
    inner = (lower + (upper - lower) * place // steps for place in range(steps))
    return (*inner, upper, upper + 1)


def middle_of_step(edges: Sequence[int], place: int) -> int:
    """Return the value of a step: the middle one, or the lower of two.

    Example:
        >>> middle_of_step((0, 5, 10, 11), 1)
        7
    """
    low, above = edges[place : place + 2]
    return (low + above - 1) // 2


def utilities(counts: Sequence[int], *, q: Fraction) -> Iterator[int]:
    """Yield the utility of each candidate, in its order, from the rows of each.

    Example:
        Days in hospital of four patients: 0, 1, 1, 3; the median is 1.

        >>> list(utilities([1, 2, 0, 1], q=Fraction(1, 2)))
        [-2, 0, -2, -2]
    """
    a, b = q.numerator, q.denominator
    wanted = a * sum(counts)
    for below, up_to in itertools.pairwise(itertools.accumulate(counts, initial=0)):
        yield -max(0, b * below - wanted, wanted - b * up_to)


def move_of_row(q: Fraction, *, adjacency: Adjacency) -> int:
    """Return how far one row that comes, goes or is replaced moves a utility.

    Example:
        >>> move_of_row(Fraction(1, 4), adjacency=Adjacency.ADD_REMOVE)
        3
        >>> move_of_row(Fraction(1, 4), adjacency=Adjacency.SUBSTITUTE)
        4
    """
    match adjacency:
        case Adjacency.ADD_REMOVE:
            return max(q.numerator, q.denominator - q.numerator)
        case Adjacency.SUBSTITUTE:
            return q.denominator
        case _:
            assert_never(adjacency)
