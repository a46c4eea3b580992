"""What each patient pays for a measurement: by the norm of their own vector, in integers.

*Rounding.*  With x the norm (or its square), X the largest that the claim allows and r the exact
rate in 1e-15 per unit of x, a patient pays

    min(⌈ x′·⌈r·2^(t+k)⌉ / 2^k ⌉, what everybody was charged),    x′ = ⌈x/2^t⌉,

which is at least r·x: every rounding is upwards.  t is 0 unless X needs more than 60 bits, and 2^k
is above every x′, so that the sum of all roundings is below 3·10⁻¹⁵.  x′ counts up to what costs
all that everybody was charged, and that as no more than is past every cap: at an order of a mixed
ledger r·X may be larger than either by any factor.  So products stay below 2¹²⁶ whatever the rows
are, and no release fails because of somebody's.

*Privacy:* :mod:`confide.privacy.individual`.
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.errors import ContractError, UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.growth import grown_to
from confide.plans.plan import Measurement, Plan
from confide.privacy.amount import NANO
from confide.privacy.individual import ANYTHING, FEMTO
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.privacy.unit import Entity
from confide.tables.aggregates.shapes import OfPersons, Shared

_WIDEST = 60
_UNITS = FEMTO // NANO


class Norm(enum.Enum):
    """What of a patient's own vector decides."""

    L1 = "l1"
    L1_SQUARED = "l1 squared"
    L2_SQUARED = "l2 squared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How a norm becomes a loss.

    Attributes:
        dropped: t, lowest bits of the norm that are rounded up.
        times: ⌈r·2^(t+k)⌉.
        shift: k.
        most: What everybody was charged, in 1e-15; nobody pays more.
    """

    dropped: int
    times: int
    shift: int
    most: int

    @property
    def enough(self) -> int:
        """The least x′ that costs all that everybody was charged."""
        return -(-(self.most << self.shift) // self.times)

    def of(self, norm: int) -> int:
        """Return what a norm costs, in 1e-15.

        Example:
            One patient of at most two in a count at ε = 1 for both:

            >>> rate_of(Fraction(FEMTO, 2), largest=2, most=FEMTO).of(1)
            500000000000000
        """
        kept = min(-(-norm >> self.dropped), self.enough)
        return min(-((-kept * self.times) >> self.shift), self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLoss:
    """A patient pays by the norm of their own vector.

    Attributes:
        measurement: Whose vector.
        norm: Which norm.
        rate: What it costs.
    """

    measurement: Measurement
    norm: Norm
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLoss:
    """Every patient pays what was charged, in 1e-15."""

    measurement: Measurement
    femto: int


IndividualLoss: TypeAlias = OwnLoss | WholeLoss


def individual_losses(
    plan: Plan, *, measure: LedgerMeasure | None = None
) -> tuple[IndividualLoss, ...]:
    """Return how patients pay for each measurement of a plan; of public facts only.

    Args:
        plan: Which.
        measure: Of the ledger; that of the plan when None.

    Raises:
        ContractError: If the privacy unit is no patient, or patients cannot be left out.
    """
    _require_patients(plan)
    growing = grown_to(plan) is not None
    of = plan.dataset.measure if measure is None else measure
    return tuple(
        _whole(each, of) if growing else _individual(each, plan=plan, of=of)
        for each in plan.measurements
    )


def for_everybody(plan: Plan, *, measure: LedgerMeasure | None = None) -> int:
    """Return what every patient pays for a plan, whatever their rows, in 1e-15."""
    losses = individual_losses(plan, measure=measure)
    return sum(each.femto for each in losses if isinstance(each, WholeLoss))


def whole_loss(nano: int) -> int:
    """Return a whole charge in 1e-15."""
    return nano * _UNITS


def _require_patients(plan: Plan) -> None:
    if plan.dataset.unit.entity is not Entity.PATIENT:
        raise ContractError(
            "Patients are left out one by one, so the privacy unit must be the patient.",
            hint="Write protects: {unit: patient, ...}, or enforce: plan in the policy.",
        )
    for each in plan.measurements:
        if isinstance(each.aggregate, Shared):
            hint = "Ask for it under a policy with enforce: plan."
            raise ContractError(each.aggregate.shared, hint=hint)


def _individual(measurement: Measurement, *, plan: Plan, of: LedgerMeasure) -> IndividualLoss:
    """Return how patients pay; at an order a of Rényi divergence a·ρ, as ε ≤ a·ε²/2 for small ε."""
    moved, order = measurement.sensitivity, of.of_patients if isinstance(of, Mixed) else 1
    match measurement.mechanism, Measure.ZCDP if isinstance(of, Mixed) else of:
        case DiscreteLaplace(scale=scale), Measure.PURE:
            norm, each, largest = Norm.L1, 1 / scale, moved.l1
        case DiscreteLaplace(scale=scale), Measure.ZCDP:
            norm, each, largest = Norm.L1_SQUARED, 1 / (2 * scale**2), moved.l1**2
        case DiscreteGaussian(sigma_squared=square), Measure.ZCDP:
            norm, each, largest = Norm.L2_SQUARED, 1 / (2 * square), moved.l2_squared
        case (KeyThreshold() | SetSelection() | Peeling() | QuantileSet(), _):
            return _whole(measurement, of)
        case _:
            raise UnsupportedError("Unknown mechanism or measure.")
    if not _has_own_norm(measurement, norm=norm, plan=plan) or largest.bit_length() > 2 * _WIDEST:
        return _whole(measurement, of)
    most = min(ANYTHING, whole_loss(_charged(measurement, of)))
    rate = rate_of(order * each * FEMTO, largest=largest, most=most)
    return OwnLoss(measurement=measurement, norm=norm, rate=rate)


def _whole(measurement: Measurement, of: LedgerMeasure) -> WholeLoss:
    return WholeLoss(measurement=measurement, femto=whole_loss(_charged(measurement, of)))


def _charged(measurement: Measurement, of: LedgerMeasure) -> int:
    """Return what everybody is charged for a measurement, in 1e-9."""
    if isinstance(of, Mixed):
        return measurement.event.use.charged(of.of_patients).ordered
    return measurement.nano


def rate_of(each: Fraction, *, largest: int, most: int) -> Rate:
    """Return the rate of ``each`` 1e-15 per unit of a norm of at most ``largest``."""
    dropped = max(0, largest.bit_length() - _WIDEST)
    shift = (-(-largest >> dropped)).bit_length()
    times = min(math.ceil(each * 2 ** (dropped + shift)), most << shift)
    return Rate(dropped=dropped, times=times, shift=shift, most=most)


def _has_own_norm(measurement: Measurement, *, norm: Norm, plan: Plan) -> bool:
    """Return whether the vector that is noised is a sum of patients' own, whose norm is known."""
    aggregate = measurement.aggregate
    if not isinstance(aggregate, OfPersons):
        return False
    return norm is not Norm.L2_SQUARED or aggregate.has_square(plan.dataset)
