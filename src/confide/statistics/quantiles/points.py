"""Quantiles without intervals: each a value, chosen by how near its ranks are to the wanted one.

*Lemma:* of the reach in :mod:`confide.tables.aggregates.ranked.ranked_value`.
*Privacy:* the exponential mechanism (:mod:`confide.noise.set_selection`), a choice each.
*Utility:* except with chance β a value is at most (R/(εb))·ln(n/β) ranks from the quantile a/b,
whatever the rows, n being how many values there are [Smi11, thm. 10; DR14, thm. 3.11].  Where a
quantile is in a heap that has many more rows than that, the value is that of the heap.  Nothing is
learned of how wide the gaps between the rows are, so there is no interval.

References:
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011. https://doi.org/10.1145/1993636.1993743
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from confide.errors import UnsupportedError
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.cuts.chosen_together import chosen_value
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import choice, vector
from confide.plans.plan import Noisy
from confide.plans.typical_spread import TYPICAL_SPREAD, median_note
from confide.tables.aggregates.ranked.ranked_value import RankedValue
from confide.tables.schema import Domain

_PLACES = np.concatenate([[0.0], np.geomspace(1e-9, 1, 2_000)])  # in halves of the range


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPoint:
    """One quantile and the question that asks for it.

    Attributes:
        name: Of the question, unique within the statistic.
        q: In (0, 1).
        asked: Its candidates.
    """

    name: str
    q: Fraction
    asked: RankedValue

    def law(self, mechanisms: Mapping[str, Mechanism]) -> tuple["SetSelection | Peeling", float]:
        """Return the law, and by which factor e a value loses in chance for each rank."""
        law = choice(mechanisms[self.name])
        return law, float(law.slope) * self.q.denominator

    def rank_error(self, mechanisms: Mapping[str, Mechanism], *, chance: float) -> int:
        """Return how many rows a value is from its rank at most, except with ``chance``."""
        law, _ = self.law(mechanisms)
        return math.ceil(law.shortfall(chance) / self.q.denominator)

    def estimate(
        self, noisy: Mapping[str, Noisy], *, statistic: str, level: Fraction, of: Domain
    ) -> Estimate:
        """Return the value, without an interval.

        Raises:
            UnsupportedError: If it is none of the candidates.
        """
        places = vector(noisy[self.name])
        if len(places) != 1 or not 0 <= places[0] <= self.asked.steps:
            raise UnsupportedError("A choice names other candidates than there are.")
        value = self.asked.value(places[0])
        return chosen_value(value, q=self.q, statistic=statistic, key=(), level=level, of=of)


def points_forecast(
    points: tuple[RankedPoint, ...],
    mechanisms: Mapping[str, Mechanism],
    *,
    of: Domain,
    rows: Fraction,
    level: float,
) -> Forecast:
    """Return the error of a median under a normal law, by the slackest of the choices.

    Args:
        points: The quantiles.
        mechanisms: By the name of the question.
        of: Bounds of the number.
        rows: Public planning number of rows.
        level: Of the error that is forecast.
    """
    slackest = min(points, key=lambda point: point.law(mechanisms)[1])
    _, slope = slackest.law(mechanisms)
    ranks = max(point.rank_error(mechanisms, chance=1 - level) for point in points)
    reach = float((of.upper - of.lower) * of.scale)
    steps = slackest.asked.steps
    step = 0.0 if steps == of.upper - of.lower else reach / steps
    usual, wide, even = (
        reach / 2 * _error(slope * float(rows), level=chance, normal=normal)
        for chance, normal in ((0.5, True), (level, True), (level, False))
    )
    rarely = f"except with a chance of {1 - level:.3g} each"
    notes = [
        f"for {float(rows):.6g} rows; values alone: how far apart those around them are is unknown",
        f"{rarely}, a value is at most {ranks:,} ranks off, whatever the rows",
        median_note(of=of, even=even + step / 2),
    ]
    if len(points) > 1:
        notes.append(
            f"the {len(points)} quantiles share the charge: with intervals, from two rounds of "
            "counts, they may be as near; one alone is nearer"
        )
    if step:
        notes.append(f"chosen among {steps:,} even steps, each of {step:.4g} {of.unit}".rstrip())
    return Forecast(
        half_width=wide + step / 2,
        median_error=usual + step / 4,
        level=level,
        unit=of.unit,
        planning=float((of.upper + of.lower) * of.scale) / 2,
        notes=tuple(notes),
    )


def _error(slope: float, *, level: float, normal: bool) -> float:
    """Return how far, in halves of the range, a chosen median is from the middle with ``level``.

    The law of the distance t is ∝ exp(−slope·(F(t) − ½)), F being the share of rows up to t.
    """
    law = NormalDist(0, 2 * TYPICAL_SPREAD)
    shares = np.array([law.cdf(t) - 0.5 if normal else t / 2 for t in _PLACES.tolist()])
    density = np.exp(-slope * shares)
    below = np.concatenate([[0.0], np.cumsum(np.diff(_PLACES) * (density[1:] + density[:-1]) / 2)])
    return float(np.interp(level * below[-1], below, _PLACES))
