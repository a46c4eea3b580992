"""Whether a hazard model has too few events for its terms and the loss, from public numbers alone.

With n·p events of those who are fitted, d terms and μ = √(2ρ), X = n·p·μ/d.  The distance of the
C-statistic from one half that is kept of a model without noise is about 1/√(1 + (3/X)²) where terms
tell alike; where a few tell most, more is kept.

*Privacy:* public planning numbers, not the data's.
"""

import math
from dataclasses import dataclass
from enum import Enum

from confide.plans.rounds.wide import TURN_OF_HAZARDS

_HOPELESS, _ENOUGH = 3.0, 6.0


class HazardFit(Enum):
    """How a model of hazards or counts is fitted."""

    AUTO = "auto"
    ROUNDS = "rounds"
    WIDE = "wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvents:
    """Public planning numbers.

    Attributes:
        fitted: Share of the patients who are fitted.
        share: Of them, who have the event.
        events: Of those who are fitted.
        terms: d.
        mu: √(2ρ) of the model.
    """

    fitted: float
    share: float
    events: float
    terms: int
    mu: float

    @property
    def ratio(self) -> float:
        """X."""
        return self.events * self.mu / self.terms

    def kept(self) -> float:
        """Return the share of C − ½ that is expected to be kept.

        Example:
            >>> PlannedEvents(fitted=1, share=0.5, events=300, terms=10, mu=0.2).kept().__round__(2)
            0.89
        """
        return 1 / math.hypot(1, _HOPELESS / self.ratio)

    def said(self) -> str:
        """Return the ratio, and what is expected of the C-statistic by it."""
        return (
            f"events × √(2ρ) / terms = {self.events:.0f} × {self.mu:.2g} / {self.terms} = "
            f"{self.ratio:.2g}"
        )

    def expected(self) -> str:
        """Return what is expected of the C-statistic, and what would help where that is little."""
        kept = f"about {self.kept():.0%} of what C has above one half without noise is expected"
        if self.ratio >= _ENOUGH:
            return kept
        verdict = "few events for so many terms and this ε"
        if self.ratio < _HOPELESS:
            verdict = (
                "at this ε so few events cannot tell so many terms from noise, unless a few tell "
                "nearly all"
            )
        return f"{kept}: {verdict}; {self._remedy()}"

    def _remedy(self) -> str:
        patients = math.ceil(_ENOUGH * self.terms / (self.mu * self.share * self.fitted))
        terms = math.floor(self.events * self.mu / _ENOUGH)
        fewer = f"at most {terms} terms, or " if terms else ""
        return f"{fewer}at least {patients} patients, would be enough"

    def side(self) -> str:
        """Return on which side of the turn the ratio is."""
        return f"{'below' if self.ratio < TURN_OF_HAZARDS else 'not below'} {TURN_OF_HAZARDS:g}"
