"""Welch's comparison of two means from noisy Bernstein moments, in units of the range U − L.

A group's vector (b₀, b₁, b₂), over R², has the sum n and gives mean and mean square of the place
y = (x − L)/R: m₁ = (b₂ + b₁/2)/n, m₂ = b₂/n.  So m₁ moves by (1−m₁)db₂ + (½−m₁)db₁ − m₁db₀, over n.

References:
    [Wel47] Welch. The generalization of "Student's" problem when several different population
        variances are involved. Biometrika 34, 1947. https://doi.org/10.2307/2332510
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.plans.estimation.intervals import Component, cautious_variance, variance
from confide.plans.estimation.student import student_tail, student_width
from confide.statistics.hypothesis_tests.null_law import Mixing

LEAST_DEVIATIONS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMean:
    """One group's mean, as a place between the bounds.

    Attributes:
        mean: In [0, 1].
        rows: Noisy number of rows.
        sampling: Variance of the mean by sampling.
        weights: Of the noise of the three moments in the mean.
        error: Standard error of the mean, sampling and noise.
        width: Half of its interval.
        few: Whether the noisy number of rows is too small to say anything.
    """

    mean: float
    rows: float
    sampling: float
    weights: tuple[float, float, float]
    error: float
    width: float
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two groups, and the difference of their means.

    Attributes:
        groups: First and second.
        difference: Of the means, second minus first, which is the reference.
        parts: Its independent errors.
        error: Its standard error.
        degrees: Welch's degrees of freedom, infinite parts for the noise.
        noise: Error of one noisy moment.
    """

    groups: tuple[GroupMean, GroupMean]
    difference: float
    parts: tuple[Component, ...]
    error: float
    degrees: float
    noise: Component

    @property
    def few(self) -> bool:
        """Whether one of the groups is too small."""
        return any(group.few for group in self.groups)

    @property
    def t(self) -> float:
        """The difference over its standard error."""
        return self.difference / self.error if self.error > 0 else 0.0


def compared(moments: NDArray[np.float64], *, noise: Component, level: float) -> Compared:
    """Return what two noisy vectors of moments, shape (2, 3), say of their means."""
    first, second = (_group(row.tolist(), noise=noise, level=level) for row in moments)
    parts = tuple(part for group in (first, second) for part in _parts(group, noise=noise))
    total = variance(parts)
    return Compared(
        groups=(first, second),
        difference=second.mean - first.mean,
        parts=parts,
        error=math.sqrt(total),
        degrees=_degrees((first, second), total=total),
        noise=noise,
    )


def _group(moments: Sequence[float], *, noise: Component, level: float) -> GroupMean:
    _, between, above = moments
    rows = sum(moments)
    few = rows < max(2.0, LEAST_DEVIATIONS * math.sqrt(3 * noise.variance))
    rows = max(rows, 2.0)
    mean = min(1.0, max(0.0, (above + between / 2) / rows))
    weights = (-mean / rows, (0.5 - mean) / rows, (1 - mean) / rows)
    square = above / rows
    rest = 2 * mean**2 - square
    uncertain = [noise.times(f / rows) for f in (rest, rest - mean, rest + 1 - 2 * mean)]
    spread = cautious_variance(square - mean**2, error=math.sqrt(variance(uncertain)))
    group = GroupMean(
        mean=mean,
        rows=rows,
        sampling=spread / (rows - 1),
        weights=weights,
        error=0.0,
        width=0.0,
        few=few,
    )
    parts = _parts(group, noise=noise)
    total = variance(parts)
    degrees = _degrees((group,), total=total)
    return GroupMean(
        mean=mean,
        rows=rows,
        sampling=group.sampling,
        weights=weights,
        error=math.sqrt(total),
        width=student_width(parts, degrees=degrees, level=level),
        few=few,
    )


def _parts(group: GroupMean, *, noise: Component) -> tuple[Component, ...]:
    return (Component(variance=group.sampling), *(noise.times(w) for w in group.weights))


def _degrees(groups: Sequence[GroupMean], *, total: float) -> float:
    """Return Welch's degrees of freedom; the noise's variance is known, so it adds none."""
    spent = sum(group.sampling**2 / (group.rows - 1) for group in groups)
    return min(1e9, total**2 / spent) if spent > 0 else 1e9


def p_value(found: Compared, *, mixed: Mixing) -> float:
    """Return P(|T| ≥ |t|) if the means are equal: Student's law, mixed over the noise."""
    if not len(mixed.excess):
        return float(student_tail(np.array(abs(found.t)), degrees=found.degrees))
    weights = np.array([w for group in found.groups for w in group.weights])
    shares = weights**2 * found.noise.variance / max(found.error**2, 1e-300)
    spread = np.maximum(1 + mixed.excess @ shares, 1e-12)
    tails = student_tail(abs(found.t) / np.sqrt(spread), degrees=found.degrees)
    return float(tails.mean())
