"""Choice of several quantiles at once, with probability ∝ exp(ε·u(v₁, …, v_m)/R), exactly.

*Law.*  Of the rows of a group, counted by public values, let Aᵢ = C(< vᵢ) − qᵢN and Bᵢ = C(≤ vᵢ) −
qᵢN: between them is how far vᵢ is from its quantile in ranks, as rows at vᵢ may be taken to either
side.  The utility of values v₁ ≤ … ≤ v_m is

    u(v) = −max over faces w of Σ (wᵢ⁺·Aᵢ − wᵢ⁻·Bᵢ),      (:mod:`confide.privacy.ranks`)

that is, how many rows may come or go at least before other values are the quantiles; or, where
others are, −(how many have to, at least, until these are).  It is kept in whole parts of a row.

*Lemma: one row moves u by 1 at most.*  Terms do, so their largest one does.  A row in gap j moves
all Aᵢ and Bᵢ by that of d_j.  A row at vᵢ moves Aᵢ by −qᵢ and Bᵢ by 1 − qᵢ: a term that takes Aᵢ
moves by w·d for the row above vᵢ, one that takes Bᵢ by that for the row up to it, both ≤ 1.
*Equal values:* where wᵢ = −a < 0 < b = w_k for vᵢ = v_k, i < k, and none but 0 between, a row there
may move the term by more, but others are as large.  Let t = min(a, b), δ = q_k − qᵢ; add t to wᵢ
and −t to w_k.  The term rises by t·(rows at vᵢ + δN); w·d_j rises by tδ for j ≤ i and j > k, to
1 + tδ at most, and falls by t(1 − δ) for other j, where it was w·d_i + a ≥ −1 + t.  As no term
exceeds N, dividing by 1 + tδ leaves it as large, of a w within bounds (where rows are replaced
w·d_j − w·d_l is within them undivided).  So where u < 0 faces without such pairs have the largest
term; else axes have, as corners have Σ|wᵢ|/cᵢ ≥ 1 with cᵢ those of axes.  ∎
One choice may rise by 1 as another falls, so R = 2 for each row that one privacy unit has.  For
several groups utilities add up and R is that of all rows of a unit: one choice for all groups.

*Sampling.*  Candidates of each quantile are cut into blocks, so choices into boxes of M each.  In a
box u is at most U, made of the least Aᵢ and the greatest Bᵢ, as both rise with vᵢ.  A box is drawn
with probability ∝ exp(k/4) ≥ M·exp(ηU), k an integer, as by :mod:`confide.noise.set_selection`, and
one of its M choices evenly, until they are in order and a coin of M·exp(ηu − k/4) ≤ 1 shows heads.
The product of the three is the law above, whatever blocks and k: nothing is rounded.  Blocks end
where a quantile by itself loses some nats more, and around heaps, so that few draws are refused
wherever rows are.

*Privacy:* it is the exponential mechanism over tuples: ε-DP of bounded range ε, hence ε²/8-zCDP,
with the proof in :mod:`confide.noise.set_selection`.  How many draws are refused depends on the
rows; they are made sixteen at a time.
*Utility:* T tuples: except with chance β, u is at least −(R/ε)·ln(T/β) [DR14, thm. 3.11].  Far from
heaps the ranks e have the density ∝ exp(−η·max_w w·e) of a K-norm mechanism [HT10].

References:
    [HT10] Hardt, Talwar. On the geometry of differential privacy. STOC 2010.
        https://arxiv.org/abs/0907.3754
    [GJK21] Gillenwater, Joseph, Kulesza. Differentially private quantiles. ICML 2021.
        https://arxiv.org/abs/2102.08244
    [AD20] Asi, Duchi. Near instance-optimality in differential privacy. 2020.
        https://arxiv.org/abs/2005.10630
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
"""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import bernoulli, exponential_times
from confide.noise.discrete_laplace import require_sensitivity
from confide.noise.entropy import Entropy
from confide.noise.set_selection import draw_sets
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP
from confide.privacy.ranks import faces, parts_of_row, require_quantiles

_AT_ONCE = 16
_SMALL = 2**60
_QUARTER = Fraction(1, 4)
_LEVELS = [0, 1, *range(2, 24, 2), 24, 28, 32, 40, 64, 128, 256, 512]  # nats
_FARTHEST, _MARGIN = 1000.0, 1e-6  # nats; more than floats are off

_Integers: TypeAlias = NDArray[Any]
"""Integers: of 64 bits where they fit, else Python's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileSet:
    """Choice of the values of some quantiles, group by group, by the rows of each public value.

    Attributes:
        epsilon: In nats.
        reach: Most by which one privacy unit raises one choice over another, in parts of a row.
        at: The quantiles, ascending.
        candidates: Public values, ascending; at least two.
        moves: By which moves of a row utilities are judged.
        groups: How many groups have values of their own.

    Raises:
        InvalidParameterError: If a parameter is out of range.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> quartiles = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
        >>> law = QuantileSet(epsilon=Fraction(1), reach=2 * parts_of_row(quartiles), at=quartiles,
        ...                   candidates=6)
        >>> law.select((0, 300, 200, 50, 400, 0), entropy=SystemEntropy())  # rows of 0 to 5 days
        (1, 2, 4)
    """

    epsilon: Fraction
    reach: int
    at: tuple[Fraction, ...]
    candidates: int
    moves: Adjacency = Adjacency.ADD_REMOVE
    groups: int = 1

    def __post_init__(self) -> None:
        PureDP(epsilon=self.epsilon)
        require_sensitivity(self.reach, name="reach")
        require_quantiles(self.at)
        if self.candidates < 2 or self.groups < 1:
            raise InvalidParameterError("Expected two candidates or more, and a group.")

    @property
    def size(self) -> int:
        """How many values are published."""
        return self.groups * len(self.at)

    @property
    def tuples(self) -> int:
        """How many choices there are for one group."""
        return math.comb(self.candidates + len(self.at) - 1, len(self.at))

    @property
    def slope(self) -> Fraction:
        """Return η = ε/R, per part of a row."""
        return Fraction(self.epsilon) / self.reach

    @property
    def per_row(self) -> float:
        """Return η for a whole row."""
        return float(self.slope * parts_of_row(self.at, moves=self.moves))

    def select(self, counts: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return the positions of the values, group by group, quantile by quantile.

        Args:
            counts: Rows of each candidate, group by group.
            entropy: Source of the coins.

        Raises:
            InvalidParameterError: If there are not so many.
        """
        if len(counts) != self.groups * self.candidates:
            raise InvalidParameterError("Expected a count for each candidate of each group.")
        found: list[int] = []
        for start in range(0, len(counts), self.candidates):
            found += self._of_group(counts[start : start + self.candidates], entropy=entropy)
        return tuple(found)

    def _of_group(self, counts: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        scores = RankScores(counts=tuple(counts), at=self.at, moves=self.moves)
        boxes = scores.boxes(slope=float(self.slope))
        while True:
            drawn = draw_sets(
                boxes.quarters, size=1, slope=_QUARTER, count=_AT_ONCE, entropy=entropy
            )
            for box in drawn[:, 0].tolist():
                first, sizes = boxes.first[box].tolist(), boxes.sizes[box].tolist()
                places = tuple(a + entropy.below(n) for a, n in zip(first, sizes, strict=True))
                if list(places) != sorted(places):
                    continue
                below = self.slope * (boxes.most - scores.of(places))
                kept = exponential_times(
                    _QUARTER * boxes.quarters[box] + below, times=math.prod(sizes)
                )
                if bernoulli(kept, count=1, entropy=entropy)[0]:
                    return places

    def lead(self, chance: float) -> float:
        """Return the lead over all other choices of a group that is enough for this chance."""
        return max(0.0, math.log((self.tuples - 1) * chance / (1 - chance)) / float(self.slope))

    def shortfall(self, failure: float) -> float:
        """Return how far below the best one the choice of a group is, except with this chance."""
        return (math.log(self.tuples) + math.log(1 / failure)) / float(self.slope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Sets of choices with a bound of their utilities, which hold every choice in order.

    Attributes:
        first: Least place of each quantile; shape (boxes, quantiles).
        sizes: How many places it may have; the same shape.
        quarters: k, of each box, in quarters of a nat above ``most``.
        most: A bound of all utilities.
    """

    first: NDArray[np.intp]
    sizes: NDArray[np.intp]
    quarters: list[int]
    most: int


@dataclass(frozen=True, kw_only=True)
class RankScores:
    """Utilities of values for quantiles, in whole parts of a row.

    Attributes:
        counts: Rows of each candidate.
        at: The quantiles.
        moves: By which moves of a row they are judged.
    """

    counts: tuple[int, ...]
    at: tuple[Fraction, ...]
    moves: Adjacency = Adjacency.ADD_REMOVE

    def of(self, places: Sequence[int]) -> int:
        """Return the utility of one choice."""
        return -max(
            sum(int(term[place]) for term, place in zip(terms, places, strict=True))
            for terms in self._terms
        )

    def alone(self, index: int) -> _Integers:
        """Return the utility of each candidate for one quantile by itself."""
        found: _Integers = -np.max([terms[index] for terms in self._axes[index]], axis=0)
        return found

    def boxes(self, *, slope: float) -> Boxes:
        """Return boxes of choices that a utility of about the same weight bounds.

        Args:
            slope: η; where blocks end hangs on it, and no more.
        """
        own = [self.alone(i) for i in range(len(self.at))]
        best = min(each.max() for each in own)
        heap = slope * parts_of_row(self.at, moves=self.moves) * np.array(self.counts, float) > 1
        starts = []
        for each in own:
            lost = slope * (best - np.minimum(each, best)).astype(np.float64)
            new = np.diff(np.searchsorted(_LEVELS, lost)) != 0
            alone = heap & (lost <= 1)  # else heaps at both ends would be as good as one of both
            cuts = np.flatnonzero(new | alone[1:] | alone[:-1]) + 1
            starts.append(np.concatenate([[0], cuts]))
        ends = [np.append(each[1:], len(self.counts)) for each in starts]
        bound = -functools.reduce(np.maximum, self._least_terms(starts, ends))
        firsts, lasts = np.meshgrid(*starts, indexing="ij"), np.meshgrid(*ends, indexing="ij")
        ordered = np.ones(bound.shape, dtype=bool)
        for i, k in itertools.combinations(range(len(self.at)), 2):
            ordered &= firsts[i] < lasts[k]
        first = np.stack([each[ordered] for each in firsts], axis=1)
        sizes = np.stack([each[ordered] for each in lasts], axis=1) - first
        most, bound = int(bound[ordered].max()), bound[ordered]
        lost = np.minimum(slope * (most - bound).astype(np.float64), _FARTHEST)
        quarters = np.ceil(4 * (np.log(sizes).sum(axis=1) - lost + _MARGIN)).astype(np.int64)
        return Boxes(first=first, sizes=sizes, quarters=quarters.tolist(), most=most)

    def _least_terms(
        self, starts: Sequence[_Integers], ends: Sequence[_Integers]
    ) -> Iterator[_Integers]:
        """Yield for each face the least sum of its terms in each box."""
        for face, terms in zip(faces(self.at, adjacency=self.moves), self._terms, strict=True):
            least = [
                term[start] if w > 0 else term[end - 1]
                for w, term, start, end in zip(face, terms, starts, ends, strict=True)
            ]
            yield functools.reduce(np.add.outer, least)

    @cached_property
    def _axes(self) -> list[list[list[_Integers]]]:
        """Return for each quantile the terms of faces of it alone."""
        weights = faces(self.at, adjacency=self.moves)
        return [
            [
                terms
                for w, terms in zip(weights, self._terms, strict=True)
                if not any(x for k, x in enumerate(w) if k != i)
            ]
            for i in range(len(self.at))
        ]

    @cached_property
    def _terms(self) -> list[list[_Integers]]:
        """Return wᵢ⁺·Aᵢ − wᵢ⁻·Bᵢ for each face, quantile and candidate."""
        parts = parts_of_row(self.at, moves=self.moves)
        rows = sum(self.counts)
        counts = np.array(self.counts, dtype=np.int64 if rows * parts * parts < _SMALL else object)
        up_to = np.cumsum(counts)

        def term(w: Fraction, q: Fraction) -> _Integers:
            ranks = up_to - counts if w > 0 else up_to
            return int(w * parts) * ranks - int(w * q * parts) * rows

        return [
            [term(w, q) for w, q in zip(face, self.at, strict=True)]
            for face in faces(self.at, adjacency=self.moves)
        ]
