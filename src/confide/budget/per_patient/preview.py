"""What leaving patients out would do to counts, from a public table of how often patients come.

A cap C holds for the n releases of a year.  In worst-case accounting each release gets C/n and
nobody is missing.  Leaving patients out, each release gets C/K, and each patient is in the first K
releases that they have a part in.  With patients who have a part in k of n releases, at random
times, the count of release m lacks

    Σ_k N_k · (k/n) · P(H ≥ K),      H ~ hypergeometric: k − 1 other times, m − 1 of n − 1 before,

so it is right at first and too low later.  The root mean square error over the year adds the noise.

*Privacy:* reads a public table, never the data.
*Utility:* a gain where counts are small against the noise of C/n; a loss where many patients come
often.

References:
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.errors import InvalidParameterError
from confide.privacy.measure import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    """A year of equal releases of one count.

    Attributes:
        visits: Patients by the number of releases in which they have a part.
        releases: n.
        cap: C, in ε or ρ, for each patient and year.
        measure: Laplace noise under ``PURE``, Gaussian under ``ZCDP``.
    """

    visits: Mapping[int, int]
    releases: int
    cap: float
    measure: Measure

    def __post_init__(self) -> None:
        wrong = [k for k, n in self.visits.items() if not 1 <= k <= self.releases or n < 0]
        if wrong or not self.visits or self.cap <= 0:
            raise InvalidParameterError(
                f"Expected patients who have a part in 1 to {self.releases} releases, and a cap.",
                hint="Write lines such as: 12,300 (300 patients have a part in 12 releases).",
            )

    @property
    def count(self) -> float:
        """The true count of one release, on average."""
        return sum(k * n for k, n in self.visits.items()) / self.releases


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one way of spending the cap gives.

    Attributes:
        shares: K; the cap is divided by it.
        noise: Standard deviation of the noise of each release.
        missing: How many patients each release lacks on average, in order; empty for worst-case.
        rmse: Root mean square error of a count over the year.
    """

    shares: int
    noise: float
    missing: tuple[float, ...]
    rmse: float

    @property
    def bias(self) -> float:
        """How many patients a release lacks, averaged over the year."""
        return math.fsum(self.missing) / max(1, len(self.missing))


def worst_case(year: Year) -> Outcome:
    """Return the outcome of charging everybody for every release.

    Example:
        >>> year = Year(visits={1: 7200}, releases=12, cap=0.5, measure=Measure.PURE)
        >>> round(worst_case(year).rmse, 1)
        33.9
    """
    noise = _noise(year, shares=year.releases)
    return Outcome(shares=year.releases, noise=noise, missing=(), rmse=noise)


def left_out(year: Year, *, shares: int) -> Outcome:
    """Return the outcome of leaving each patient out after ``shares`` releases.

    Example:
        Three hundred patients come every month, and as many once in the year:

        >>> year = Year(visits={12: 300, 1: 3600}, releases=12, cap=0.5, measure=Measure.PURE)
        >>> [round(lacking) for lacking in left_out(year, shares=10).missing][-3:]
        [0, 300, 300]
    """
    noise = _noise(year, shares=shares)
    lacking = [
        math.fsum(
            patients * k / year.releases * _spent_before(k, place, year=year, shares=shares)
            for k, patients in year.visits.items()
        )
        for place in range(year.releases)
    ]
    square = math.fsum(each * each for each in lacking) / year.releases
    return Outcome(
        shares=shares, noise=noise, missing=tuple(lacking), rmse=math.sqrt(noise**2 + square)
    )


def outcomes(year: Year) -> tuple[Outcome, ...]:
    """Return the outcome of every K from 1 to n."""
    return tuple(left_out(year, shares=shares) for shares in range(1, year.releases + 1))


def best(found: Sequence[Outcome]) -> Outcome:
    """Return the outcome of least error."""
    return min(found, key=lambda each: each.rmse)


def _noise(year: Year, *, shares: int) -> float:
    each = year.cap / shares
    match year.measure:
        case Measure.PURE:
            return math.sqrt(2) / each
        case Measure.ZCDP:
            return 1 / math.sqrt(2 * each)
        case _:
            assert_never(year.measure)


def _spent_before(k: int, before: int, *, year: Year, shares: int) -> float:
    """Return the chance that K of k − 1 other times lie in the ``before`` releases before."""
    others, all_ = k - 1, year.releases - 1
    ways = sum(
        math.comb(before, h) * math.comb(all_ - before, others - h)
        for h in range(shares, min(before, others) + 1)
        if others - h <= all_ - before
    )
    return ways / math.comb(all_, others)
