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
from confide.plans.plan import Measurement, Plan
from confide.plans.pricing.individual import Norm, OwnLoss, WholeLoss, individual_losses
from confide.privacy.measure import LedgerMeasure
from confide.tables.aggregates.shapes import OfPersons
from confide.tables.expression import Expression, Holds, OrMissing, QualityOf
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCharge:
    """What whoever is counted in a measurement pays for the release, at least.

    Attributes:
        measurement: In which they are counted.
        femto: For all measurements of the release together, in 1e-15.
    """

    measurement: Measurement
    femto: int


def least_charges(plan: Plan, *, measure: LedgerMeasure | None = None) -> tuple[LeastCharge, ...]:
    """Return the least charge for each measurement of a plan; of public facts only.

    Raises:
        ContractError: If the privacy unit is no patient, or patients cannot be left out.
    """
    losses, of = individual_losses(plan, measure=measure), plan.dataset
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
    aggregate = loss.measurement.aggregate
    if not isinstance(aggregate, OfPersons):
        raise ContractError("Nobody's own part of this vector is known.")
    least, coordinates = aggregate.least_moved(dataset)
    match loss.norm:
        case Norm.L1:
            return least
        case Norm.L1_SQUARED:
            return least**2
        case Norm.L2_SQUARED:  # a sum of so many coordinates has at least this square
            return -(-(least**2) // coordinates)
        case _:
            assert_never(loss.norm)


def _goes_with(other: Measurement, counted: Measurement) -> bool:
    """Return whether whoever has a row in ``counted`` is certain to move ``other`` as well."""
    there, here = other.aggregate, counted.aggregate
    moves = isinstance(there, OfPersons) and there.moves_always
    if not moves or there.relation.table != here.relation.table:
        return False
    asked = {
        *_parts(there.relation.where),
        *(Between(of=each) for each in there.reads if not _is_always_known(each)),
    }
    known = {*_parts(here.relation.where), *(Between(of=each) for each in here.reads)}
    return asked <= known


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
