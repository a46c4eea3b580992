"""Up to three quantiles without intervals, chosen together, in one choice.

*Lemma:* of the reach in :mod:`confide.tables.aggregates.ranked.ranked_together`.
*Privacy:* the exponential mechanism over tuples (:mod:`confide.noise.choices.quantile_set`).
*Utility:* except with chance β all values of a group are at most max(q, 1 − q)·(R/ε)·ln(T/β) ranks
from their quantiles, whatever the rows, T being how many tuples there are [DR14, thm. 3.11].  Away
from heaps ranks are off by e with the density ∝ exp(−η·max_w w·e) over the faces w: the plan tells
the errors of its marginals, found by summing it over a grid.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.noise.mechanism import Mechanism
from confide.plans.cuts.chosen_together import (
    chosen_value,
    chosen_values,
    error_of_median,
    ranks_off,
)
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import quantile_set, vector
from confide.plans.plan import Noisy
from confide.plans.typical_spread import median_note
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.schema import Domain

NAME = "quantiles"
"""Name of the one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsTogether:
    """Quantiles of one group, and the question that asks for all of them.

    Attributes:
        asked: Candidates and quantiles, of one group.
    """

    asked: RankedTogether

    def rank_error(self, mechanisms: Mapping[str, Mechanism], *, chance: float) -> int:
        """Return how many rows any value of a group is off at most, except with ``chance``."""
        return ranks_off(quantile_set(mechanisms[NAME]), chance=chance)

    def estimates(
        self,
        noisy: Mapping[str, Noisy],
        *,
        at: Sequence[Fraction],
        statistic: str,
        level: Fraction,
        of: Domain,
    ) -> tuple[Estimate, ...]:
        """Return each value, without an interval."""
        (values,) = chosen_values(self.asked, vector(noisy[NAME]))
        return tuple(
            chosen_value(
                values[self.asked.at.index(q)],
                q=q,
                statistic=statistic,
                key=(),
                level=level,
                of=of,
            )
            for q in at
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, of: Domain, rows: Fraction, level: float
    ) -> Forecast:
        """Return the error of a median under a normal law.

        Args:
            mechanisms: By the name of the question.
            of: Bounds of the number.
            rows: Public planning number of rows of a group.
            level: Of the error that is forecast.
        """
        law = quantile_set(mechanisms[NAME])
        error = error_of_median(law, of=of, rows=float(rows), level=level)
        steps = self.asked.steps
        reach = float((of.upper - of.lower) * of.scale)
        step = 0.0 if steps == of.upper - of.lower else reach / steps
        ranks = ranks_off(law, chance=1 - level)
        notes = [
            f"for {float(rows):.6g} rows; values alone: nothing is said of gaps between them",
            f"except with a chance of {1 - level:.3g}, all are at most {ranks:,} ranks off",
            median_note(of=of, even=error.even + step / 2),
        ]
        if step:
            notes.append(
                f"chosen among {steps:,} even steps, each of {step:.4g} {of.unit}".rstrip()
            )
        return Forecast(
            half_width=error.wide + step / 2,
            median_error=error.usual + step / 4,
            level=level,
            unit=of.unit,
            planning=float((of.upper + of.lower) * of.scale) / 2,
            notes=tuple(notes),
        )
