"""Every shape of an exact vector, listed once: what may be measured, and what engines answer.

A shape is a frozen dataclass in a file of its own, with all that is public of it: which rows it
reads, how far one privacy unit moves it, what is refused, how many coordinates it has and what one
step of them is worth.  The unions below say what is true of some shapes and not of others; they are
closed, so what reads them is checked by types.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, get_args

from confide.errors import ContractError
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.degrees import DegreeAggregate, DegreeBounds
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.factorized import FactorizedAggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.aggregates.ranked.ranked_cells import RankedCells
from confide.tables.aggregates.ranked.ranked_features import RankedFeatures
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.aggregates.ranked.ranked_value import RankedValue
from confide.tables.aggregates.refined import RefinedAggregate
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Step
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


class Shape(Protocol):
    """What is public of every exact vector that a measurement may noise."""

    @property
    def relation(self) -> Relation:
        """Which rows."""

    @property
    def bounds(self) -> ContributionBounds | DegreeBounds:
        """What one privacy unit keeps."""

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""

    def check(self, dataset: Dataset) -> None:
        """Refuse what is undeclared, too large or could overflow."""

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves it; ``counted`` names what a row is."""

    def step(self, dataset: Dataset) -> Step:
        """Return what one step is worth."""

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""


Asked: TypeAlias = Aggregate | KeyedAggregate | DegreeAggregate | DescentAggregate
"""What an engine answers."""

Combined: TypeAlias = (
    MomentAggregate
    | PooledAggregate
    | FactorizedAggregate
    | RankedCells
    | RankedFeatures
    | RankedValue
    | RankedTogether
    | RefinedAggregate
)
"""What is made of the exact sums that an engine answers, in integers, before the noise."""

Measured: TypeAlias = Asked | Combined
"""What a measurement may noise."""

Keyed: TypeAlias = KeyedAggregate
"""Whose coordinates are secret: those above a noisy threshold are published."""

Ranked: TypeAlias = RankedCells | RankedFeatures | RankedValue | RankedTogether
"""Whose largest coordinates are published, by name; of all others every coordinate, with noise."""

Together: TypeAlias = RankedTogether
"""Of which several are chosen that may be equal, in order."""

Fitted: TypeAlias = DescentAggregate
"""A model, whose rows answer questions about a place where it may stand."""

Refined: TypeAlias = RefinedAggregate
"""Counts, whose rows answer for other cells the second time."""

InRounds: TypeAlias = Fitted | Refined
"""Asked in turn, each time with what the noisy answers before said."""

Shared: TypeAlias = DegreeAggregate | DescentAggregate
"""Of which nobody's own part is known; they say why."""

Growing: TypeAlias = FactorizedAggregate
"""Of which a part may be published, and the rest as time goes by."""

OfPersons: TypeAlias = Aggregate | MomentAggregate | PooledAggregate | FactorizedAggregate
"""Sums of patients' own vectors, whose norms are computed."""

Totalled: TypeAlias = Aggregate | MomentAggregate | PooledAggregate
"""Of which the sum of all coordinates may be a number of rows, times a constant."""

OfCells: TypeAlias = Aggregate | MomentAggregate
"""Whose every public cell is published by itself, with noise."""

Counting: TypeAlias = Aggregate | KeyedAggregate
"""What may be numbers of rows or patients, one a cell or key."""

Sums: TypeAlias = Aggregate
"""Of one value, which says what is summed; cells of them add up to other cells."""


def _every(*shapes: type[Shape]) -> Sequence[type[Shape]]:
    """Return the shapes; refuse a list that is not that of what may be measured."""
    if len(set(shapes)) != len(shapes) or set(shapes) != set(get_args(Measured)):
        raise ContractError("The list of shapes is not that of what may be measured.")
    return shapes


SHAPES = _every(
    Aggregate,
    KeyedAggregate,
    MomentAggregate,
    DegreeAggregate,
    DescentAggregate,
    PooledAggregate,
    FactorizedAggregate,
    RankedCells,
    RankedFeatures,
    RankedValue,
    RankedTogether,
    RefinedAggregate,
)
"""Each by itself, for canonical JSON to name; complete, or this module is not imported."""


def parts(aggregate: Measured) -> tuple[Asked, ...]:
    """Return what an engine answers of it, over the same rows."""
    return aggregate.parts() if isinstance(aggregate, Combined) else (aggregate,)


def check_aggregate(aggregate: Measured, *, dataset: Dataset) -> None:
    """Refuse an aggregate that is undeclared, too large or could overflow.

    Raises:
        ContractError: If a name or kind does not fit.
        InvalidParameterError: If there are too many cells, or the sums could pass 2^126.
    """
    if dataset.unit.entity is Entity.HOSPITAL:
        raise ContractError(
            "With the hospital as privacy unit, no bound on the rows of patients protects it.",
            hint="Fit a model of one teacher a hospital, or protect patients.",
        )
    aggregate.check(dataset)
