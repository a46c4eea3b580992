"""The least that whoever is counted in a measurement pays for the whole release: a public number.

A patient is in all vectors of a release or in none, and pays for them all.  Whoever moves a vector
moves it by at least the smallest step that is not zero: one in a count, the width of the bounds in
the moments of a value.  And whoever has a row in one vector has one in every other that asks no
more of it (same table, no other filter, no other axis), and pays for that too.

*Privacy:* made of the plan alone.  It decides refusals, never who is left out.
"""

from dataclasses import dataclass
from typing import assert_never

from confide.errors import ContractError
from confide.plans.individual import Norm, OwnLoss, WholeLoss, individual_losses
from confide.plans.plan import Measurement, Plan
from confide.tables.aggregate import (
    Aggregate,
    KeyedAggregate,
    Measured,
    MomentAggregate,
    Ones,
    Plain,
    Value,
    moment_range,
    reads,
)
from confide.tables.degrees import DegreeAggregate
from confide.tables.descent import DescentAggregate
from confide.tables.expression import Expression, Holds, OrMissing, QualityOf
from confide.tables.factorized import FactorizedAggregate
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.pooled import PooledAggregate
from confide.tables.ranked import RankedCells, RankedFeatures
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset
from confide.tables.square_root import coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCharge:
    """What whoever is counted in a measurement pays for the release, at least.

    Attributes:
        measurement: In which they are counted.
        femto: For all measurements of the release together, in 1e-15.
    """

    measurement: Measurement
    femto: int


def least_charges(plan: Plan) -> tuple[LeastCharge, ...]:
    """Return the least charge for each measurement of a plan; of public facts only.

    Raises:
        ContractError: If the privacy unit is no patient, or patients cannot be left out.
    """
    losses, of = individual_losses(plan), plan.dataset
    everybody = sum(each.femto for each in losses if isinstance(each, WholeLoss))
    own = [
        (each.measurement, each.rate.of(_smallest(each, dataset=of)))
        for each in losses
        if isinstance(each, OwnLoss)
    ]
    return tuple(
        LeastCharge(
            measurement=counted,
            femto=everybody
            + sum(femto for other, femto in own if other is counted or _goes_with(other, counted)),
        )
        for counted in plan.measurements
    )


def _smallest(loss: OwnLoss, *, dataset: Dataset) -> int:
    """Return the smallest norm, not 0, of a patient's own vector; or less."""
    least, coordinates = _least_moved(loss.measurement.aggregate, dataset=dataset)
    match loss.norm:
        case Norm.L1:
            return least
        case Norm.L1_SQUARED:
            return least**2
        case Norm.L2_SQUARED:  # a sum of so many coordinates has at least this square
            return -(-(least**2) // coordinates)
        case _:
            assert_never(loss.norm)


def _least_moved(aggregate: Measured, *, dataset: Dataset) -> tuple[int, int]:
    """Return the least L1 size of a vector that is not 0, and in how many coordinates it may be."""
    match aggregate:
        case Aggregate(value=value):
            return _least_value(value, dataset=dataset), 1
        case MomentAggregate(degree=degree):
            return max(1, moment_range(aggregate, dataset=dataset).magnitude), degree + 1
        case PooledAggregate(of=inner):
            lightest = min(aggregate.weights, default=1)
            return lightest * _least_value(inner.value, dataset=dataset), 1
        case FactorizedAggregate():  # a row of the last time moves that time alone
            return coefficients(aggregate.length(dataset))[0], 1
        case _:
            raise ContractError("Nobody's own part of this vector is known.")


def _least_value(value: Value, *, dataset: Dataset) -> int:
    """Return the least that a kept row adds, if it adds anything, in canonical integers."""
    match value:
        case Plain(of=expression):
            known = domain(expression, dataset=dataset)
            return max(known.lower, -known.upper, 1)
        case _:
            return 1


def _goes_with(other: Measurement, counted: Measurement) -> bool:
    """Return whether whoever has a row in ``counted`` is certain to move ``other`` as well."""
    there, here = other.aggregate, counted.aggregate
    if not _moves_always(there) or _relation(there).table != _relation(here).table:
        return False
    asked = {
        *_parts(_relation(there).where),
        *(Between(of=each) for each in _read(there) if not _is_always_known(each)),
    }
    known = {*_parts(_relation(here).where), *(Between(of=each) for each in _read(here))}
    return asked <= known


def _moves_always(aggregate: Measured) -> bool:
    """Return whether every row that is kept moves the vector, and none takes back another."""
    match aggregate:
        case Aggregate(value=value):
            return isinstance(value, Ones)
        case MomentAggregate():
            return True
        case PooledAggregate(of=inner):
            return isinstance(inner.value, Ones)
        case FactorizedAggregate(inner=inner, until=until):
            return until is None and isinstance(inner.value, Ones)
        case _:
            return False


def _relation(aggregate: Measured) -> Relation:
    match aggregate:
        case DegreeAggregate() | DescentAggregate():  # refused before
            raise ContractError("Nobody's own part of this vector is known.")
        case _:
            return aggregate.relation


def _read(aggregate: Measured) -> tuple[Expression, ...]:
    """Return what must be known of a row that is kept, beside what the filter says."""
    match aggregate:
        case Aggregate(axes=axes, value=value):
            return (*axes, *reads(value))
        case MomentAggregate(axes=axes, of=of, missing=missing):
            return axes if missing else (*axes, of)
        case PooledAggregate(axes=axes) | FactorizedAggregate(axes=axes):
            return axes
        case RankedCells(axes=axes) | RankedFeatures(axes=axes):
            return axes
        case KeyedAggregate() | DegreeAggregate() | DescentAggregate():
            return ()
        case _:
            assert_never(aggregate)


def _parts(where: Predicate) -> tuple[Predicate, ...]:
    """Return the predicates that a row satisfies all of."""
    match where:
        case Everything():
            return ()
        case All(of=several):
            return tuple(part for each in several for part in _parts(each))
        case _:
            return (where,)


def _is_always_known(expression: Expression) -> bool:
    return isinstance(expression, OrMissing | Holds | QualityOf)
