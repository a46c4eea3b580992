"""Noisy votes: teachers vote on public queries, and each query's counts get exact noise.

*Law.*  A query has integer counts of votes n₁ … n_c over public classes; noise is added to each,
and the label is the class with the largest noisy count, the first of equals.  With a *consensus*
check, a query is answered only if max n + Z ≥ T for fresh noise Z, and at most ``answers`` of them
are; the others are refused, and that they were is public [PSMRTE18, alg. 1].

*Sensitivity.*  A privacy unit that decides one teacher's vote takes it from one class to another:
counts move by (−1, +1), so Δ₁ = 2 and Δ₂ = √2, and the largest count moves by at most 1.  In full:

=========================================  =====  =====  =============
what one privacy unit does                 Δ₁     Δ₂²    largest count
=========================================  =====  =====  =============
a patient comes, goes, or changes rows     2      2      1
a patient gives way to one of another id   4      8      2
a hospital comes or goes, with its teacher 1      1      1
a hospital gives way to another            2      2      1
=========================================  =====  =====  =============

A patient is in one shard, whose teacher always votes; another id may be in another shard, and both
teachers may leave one class for another.  Each number is reached (exhaustive search, in the tests).

*Privacy:* the noisy counts cost what their arg max costs in the worst case, so they are released.

- discrete Laplace noise of scale b: Δ₁/b a query, 2/b for one vote [PAEGT17, sec. 3.2];
- discrete Gaussian noise: ρ = Δ₂²/(2σ²) a query, 1/σ² for one vote, whose Rényi curve α/σ² is that
  of [PSMRTE18, prop. 8];
- a check: ρ = Δ²/(2σ₁²), whether its query is then answered or not.

Q queries cost Q checks and ``answers`` noisy counts.  Earlier outputs decide which queries are
answered, but never more than ``answers``, so the sum of ρ is bounded beforehand and adaptive
composition holds [WRRW23, thm. 1].  The bill depends on public numbers alone.  Bills that depend on
votes are smaller, and private themselves; they are not offered.

*Utility:* with a lead of d votes over one rival the label is wrong with chance Φ̄(d/(σ√2)).

References:
    [PAEGT17] Papernot, Abadi, Erlingsson, Goodfellow, Talwar. Semi-supervised knowledge transfer
        for deep learning from private training data. ICLR 2017. https://arxiv.org/abs/1610.05755
    [PSMRTE18] Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson. Scalable private learning
        with PATE. ICLR 2018. https://arxiv.org/abs/1802.08908
    [WRRW23] Whitehouse, Ramdas, Rogers, Wu. Fully-adaptive composition in differential privacy.
        ICML 2023. https://arxiv.org/abs/2203.05481
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.privacy.accounting.concentrated import pure_within
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.unit import Entity

Counts: TypeAlias = tuple[int, ...]
"""Noisy counts of the votes for one query, by class."""

Target: TypeAlias = PureDP | ZeroConcentratedDP


class Aggregation(enum.Enum):
    """Which noise votes get, and whether consensus is checked first."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    CONFIDENT = "confident"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """How far one privacy unit moves the votes on one query.

    Attributes:
        l1: Of the counts, in votes.
        l2_squared: Of the counts.
        largest: Of the largest count.
        because: Why, in one sentence.
    """

    l1: int
    l2_squared: int
    largest: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """A query is answered only where teachers agree.

    Attributes:
        threshold: T, in votes; public.
        noise: What is added to the largest count before it is compared with T.
    """

    threshold: int
    noise: DiscreteGaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyVotes:
    """Noise for the votes of teachers on a public number of queries.

    Attributes:
        noise: What is added to each count of an answered query.
        queries: How many are asked.
        answers: How many are answered at most; all, where there is no check.
        consensus: The check; None where every query is answered.
    """

    noise: DiscreteGaussian | DiscreteLaplace
    queries: int
    answers: int
    consensus: Consensus | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.answers <= self.queries:
            raise ContractError(
                f"Expected 1 ≤ answers ≤ queries, got {self.answers} and {self.queries}."
            )
        if self.consensus is None and self.answers != self.queries:
            raise ContractError(
                f"Expected answers={self.queries}: without a check every query is answered.",
                hint="Ask fewer queries, or check for consensus.",
            )

    def answer(self, votes: NDArray[np.int64], *, entropy: Entropy) -> tuple[Counts | None, ...]:
        """Return the noisy counts of each query in order; None where it was refused.

        Args:
            votes: Exact counts; shape (queries, classes).
            entropy: Source of the coins.

        Raises:
            ContractError: If the shape is not that of the queries.
        """
        if votes.ndim != 2 or len(votes) != self.queries:
            raise ContractError(f"Expected counts of {self.queries} queries.")
        asked = self._asked(votes, entropy=entropy)
        noisy = self.noise.randomize(votes[asked], entropy=entropy)
        found: list[Counts | None] = [None] * self.queries
        for place, counts in zip(np.flatnonzero(asked).tolist(), noisy.tolist(), strict=True):
            found[place] = tuple(counts)
        return tuple(found)

    def wrong(self, lead: int) -> float:
        """Return the chance that one rival outdoes a class that leads by ``lead`` votes.

        Example:
            With σ = 50 and a lead of 100 votes:

            >>> noise = DiscreteGaussian(sigma_squared=Fraction(2500))
            >>> round(NoisyVotes(noise=noise, queries=9, answers=9).wrong(100), 3)
            0.079
        """
        match self.noise:
            case DiscreteGaussian(sigma_squared=variance):
                return math.erfc(lead / (2 * math.sqrt(variance))) / 2
            case DiscreteLaplace(scale=scale):
                ratio = lead / float(scale)  # the difference of two Laplace draws
                return (2 + ratio) * math.exp(-ratio) / 4
            case _:
                assert_never(self.noise)

    def _asked(self, votes: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.bool_]:
        """Return which queries are answered."""
        if self.consensus is None:
            return np.ones(self.queries, dtype=np.bool_)
        noise, threshold = self.consensus.noise, self.consensus.threshold
        largest = np.ascontiguousarray(votes.max(axis=1))
        passed = noise.randomize(largest, entropy=entropy) >= threshold
        return np.asarray(passed & (np.cumsum(passed) <= self.answers))


def moved_by(entity: Entity, *, adjacency: Adjacency) -> Moved:
    """Return how far one privacy unit moves the votes on one query.

    Raises:
        ContractError: If the unit is neither a patient nor a hospital.

    Example:
        >>> moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE).l2_squared  # Δ₂ = √2
        2
    """
    match entity, adjacency:
        case Entity.PATIENT, Adjacency.ADD_REMOVE:
            why = "a patient is in one shard, and changes the vote of its teacher"
            return Moved(l1=2, l2_squared=2, largest=1, because=why)
        case Entity.PATIENT, Adjacency.SUBSTITUTE:
            why = "a patient and their substitute are in at most two shards, of a teacher each"
            return Moved(l1=4, l2_squared=8, largest=2, because=why)
        case Entity.HOSPITAL, Adjacency.ADD_REMOVE:
            why = "a hospital comes or goes with its teacher, who has one vote"
            return Moved(l1=1, l2_squared=1, largest=1, because=why)
        case Entity.HOSPITAL, Adjacency.SUBSTITUTE:
            why = "a hospital gives way to another: one vote goes and one comes"
            return Moved(l1=2, l2_squared=2, largest=1, because=why)
        case _:
            raise ContractError(
                f"With the {entity.value} as privacy unit, one unit may move many teachers.",
                hint="Protect patients, or hospitals.",
            )


def calibrated(
    target: Target,
    *,
    aggregation: Aggregation,
    moved: Moved,
    queries: int,
    answers: int | None = None,
    threshold: int | None = None,
    check_share: Fraction = Fraction(1, 4),
) -> NoisyVotes:
    """Return the least noise that meets ``target``.

    Args:
        target: What all queries may cost together; an ε for Laplace noise alone.
        aggregation: Which noise, and whether consensus is checked.
        moved: What one privacy unit does.
        queries: How many are asked.
        answers: How many are answered at most; all by default.
        threshold: T of the consensus check, in votes.
        check_share: Share of ρ for the checks.

    Raises:
        UnsupportedError: If Gaussian noise is asked for under pure ε.
        ContractError: If a number is out of range, or a check has no threshold.

    Example:
        ε = 1 at δ = 1e-6 is ρ = 0.0243, so 200 labels need σ = 91 votes:

        >>> votes = calibrated(
        ...     ZeroConcentratedDP(rho=Fraction("0.0243")), aggregation=Aggregation.GAUSSIAN,
        ...     moved=moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE), queries=200,
        ... )
        >>> round(votes.noise.standard_deviation())
        91
    """
    confident = aggregation is Aggregation.CONFIDENT
    if confident != (threshold is not None):
        raise ContractError(
            f"Aggregation {aggregation.value!r} "
            + ("needs a threshold." if confident else "has no threshold."),
            hint="Write aggregation='confident' and threshold=60: as many votes are agreement.",
        )
    if not 0 < check_share < 1:
        raise ContractError(f"Expected 0 < check_share < 1, got {float(check_share):g}.")
    if queries < 1 or (answers is not None and answers < 1):
        raise ContractError("Expected at least one query, and one answer.")
    answers = queries if answers is None else answers
    consensus = None
    if threshold is not None:
        check = _gaussian(_share(target, check_share / queries), l2_squared=moved.largest**2)
        consensus = Consensus(threshold=threshold, noise=check)
    each = _share(target, (1 - check_share if confident else Fraction(1)) / answers)
    noise = (
        _laplace(each, l1=moved.l1)
        if aggregation is Aggregation.LAPLACE
        else _gaussian(each, l2_squared=moved.l2_squared)
    )
    return NoisyVotes(noise=noise, queries=queries, answers=answers, consensus=consensus)


def _share(target: Target, share: Fraction) -> Target:
    match target:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=epsilon * share)
        case ZeroConcentratedDP(rho=rho):
            return ZeroConcentratedDP(rho=rho * share)
        case _:
            assert_never(target)


def _laplace(each: Target, *, l1: int) -> DiscreteLaplace:
    pure = each if isinstance(each, PureDP) else pure_within(each)
    return DiscreteLaplace.calibrate(pure, l1=l1)


def _gaussian(each: Target, *, l2_squared: int) -> DiscreteGaussian:
    if isinstance(each, PureDP):
        raise UnsupportedError(
            "Gaussian noise has no pure loss.", hint="Use Laplace noise, or account in zcdp."
        )
    return DiscreteGaussian.calibrate(each, l2_squared=l2_squared)
