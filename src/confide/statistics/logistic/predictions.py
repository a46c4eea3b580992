"""What a model predicts of held-out patients, by public bins of their log odds.

Inside a bin log odds are taken to be normal (:mod:`confide.plans.rounds.score_bins`).

*Privacy:* a function of noisy answers alone.
"""

from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.held_out import AS_PREDICTED, CalibrationLine
from confide.plans.rounds.link import FARTHEST, STEPS, mean
from confide.plans.rounds.score_bins import NORMAL, Stretch, alike, deviates, labels
from confide.tables.aggregates.descent_terms import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What a model predicts inside the bins, and at their edges.

    Attributes:
        eta: Log odds at evenly filled places; shape (bins, places).
        edges: Log odds between the bins; shape (bins − 1,).
        alike: Whether they are all but the same for everybody.
    """

    eta: Floats
    edges: Floats
    alike: bool

    @property
    def risk(self) -> Floats:
        """Mean risk of each bin; shape (bins,)."""
        return np.asarray(risk_of(self.eta).mean(axis=1))

    @property
    def thresholds(self) -> Floats:
        """Risk at each edge; shape (bins − 1,)."""
        return risk_of(self.edges)

    @property
    def labels(self) -> tuple[str, ...]:
        """Ends of the bins as risks, from 0 to 1, as text; bins + 1 of them."""
        return labels((0.0, *self.thresholds.tolist(), 1.0))


def predicted(
    theta: Floats, *, line: CalibrationLine = AS_PREDICTED, stretch: Stretch = NORMAL
) -> Predicted:
    """Return what a model predicts in the bins and at their edges."""
    inside = float(theta[0]) + float(np.linalg.norm(theta[1:])) * deviates(stretch)
    edges = np.array(score_edges(theta)) / STEPS - FARTHEST
    moved = line.intercept + line.slope * edges
    return Predicted(
        eta=line.intercept + line.slope * inside,
        edges=moved,
        alike=alike((moved * STEPS).tolist()),
    )


def risk_of(eta: Floats) -> Floats:
    """Return risks of log odds."""
    return mean(Family.LOGISTIC, eta)
