"""What a model in rounds is made of: the law of its outcome, the terms of a row, public limits."""

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from confide.tables.relation import domain
from confide.tables.schema import Dataset

if TYPE_CHECKING:
    from confide.tables.aggregates.descent import DescentAggregate

MOST_TERMS = 200
MOST_ROUNDS = 20
MOST_ROWS = 100
MOST_INTERVALS = 20
MOST_EVENTS = 2**46
"""A bound of events times RESIDUAL stays below 2⁶³."""
MOST_TIME = 2**38
"""A bound of person-time, in steps of its domain, times UNIT² stays below 2⁶³."""
FEWEST_CLASSES, MOST_CLASSES = 3, 10
SCORE_CUTS = (3, 10, 22, 36, 50, 64, 78, 90, 97)
"""Percent of normal scores below each edge of the bins of scores.

The bins at both ends are open, so what is inside has to be guessed there: they are small.
"""
SCORE_BINS = len(SCORE_CUTS) + 1
"""Each adds noise to what is summed over all of them, and inside ten little is lost."""
MOST_SUBGROUPS = 4
"""Columns by which a model is evaluated."""
UNIT = 2**12
"""One, in terms and whitened terms."""
RESIDUAL = 2**16
"""One, in residuals."""
ROOT = 2**12
"""One, in square roots of variances."""
PARTS = 1_000
"""Patients are held out by thousandths."""


class Family(enum.Enum):
    """Law of the outcome."""

    LOGISTIC = "logistic"
    POISSON = "poisson"
    HAZARD = "hazard"
    MULTINOMIAL = "multinomial"

    @property
    def largest_variance(self) -> Fraction:
        """V: the most that the slope of the mean of an outcome in [0, 1] can be."""
        match self:
            case Family.LOGISTIC | Family.MULTINOMIAL:
                return Fraction(1, 4)
            case Family.POISSON | Family.HAZARD:
                return Fraction(1)
            case _:
                assert_never(self)

    @property
    def largest_residual_squared(self) -> int:
        """The most that ‖r‖² can be."""
        return 2 if self is Family.MULTINOMIAL else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of a row.

    Attributes:
        covariate: Its place among the covariates; −1 for the intercept.
        level: Index of the category that it indicates; None for a number.
    """

    covariate: int
    level: int | None = None


def terms(aggregate: "DescentAggregate", *, dataset: Dataset) -> tuple[Term, ...]:
    """Return the terms of a row: intercept, then the covariates in their order."""
    found = [Term(covariate=-1)]
    for place, covariate in enumerate(aggregate.covariates):
        of = domain(covariate, dataset=dataset)
        if of.keys:
            found += [Term(covariate=place, level=level) for level in range(1, of.size())]
        else:
            found.append(Term(covariate=place))
    return tuple(found)
