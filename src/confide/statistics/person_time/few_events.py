"""Whether a hazard model has too few events for its terms and the loss, from public numbers alone.

With n·p events of those who are fitted, d terms and μ = √(2ρ), X = n·p·μ/d.  The distance of the
C-statistic from one half that is kept of a model without noise is about 1/√(1 + (3/X)²) where terms
tell alike; where a few tell most, more is kept.

*Privacy:* public planning numbers, not the data's.
"""

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.rounds.wide import TURN_OF_HAZARDS, few_events
from confide.privacy.measure import Measure
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import terms
from confide.tables.schema import Dataset

_HOPELESS, _ENOUGH = 3.0, 6.0


class HazardFit(Enum):
    """How a model of hazards or counts is fitted."""

    AUTO = "auto"
    ROUNDS = "rounds"
    WIDE = "wide"


def chosen_fit(
    aggregate: DescentAggregate, *, events: float | None, amount: Fraction | None, dataset: Dataset
) -> HazardFit:
    """Return the fit that public numbers choose for a model; see :mod:`confide.plans.rounds.wide`.

    Args:
        aggregate: What is asked of the rows, in rounds.
        events: Public planning number of those who are fitted; None where nobody said.
        amount: What the model may spend; None where it names an error, which an interval keeps.
        dataset: Public facts.
    """
    if amount is None or events is None or dataset.measure is not Measure.ZCDP:
        return HazardFit.ROUNDS
    size = len(terms(aggregate, dataset=dataset)) - 1
    few = few_events(events, terms=size, mu=math.sqrt(2 * float(amount)))
    return HazardFit.WIDE if few else HazardFit.ROUNDS


def events_unknown(name: str, *, example: str) -> ContractError:
    """Return the refusal of a fit for few events where no number of events is public."""
    return ContractError(
        f"How far regression {name!r} goes by its fit for few events depends on the number of "
        "events, and that of the data is not public.",
        hint=f"Write expect: {example}, from a public source or an earlier certificate.",
    )


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
