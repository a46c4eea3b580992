"""The events of a plan: mechanism, sensitivity and scale, from which any accountant recomputes it.

The ledger stores them beside the charge and checks, whenever it is opened, that what is recomputed
is at most what was charged.

*Privacy:* discrete Laplace with scale b and L1 sensitivity Δ₁ is Δ₁/b-DP, hence (Δ₁/b)²/2-zCDP;
discrete Gaussian is Δ₂²/(2σ²)-zCDP and has no pure loss; key selection adds its δ.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import json
import math
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json, canonical_bytes, decode, encode
from confide.plans.plan import Mechanism, Plan
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure

_MECHANISMS = {kind.__name__: kind for kind in (DiscreteLaplace, DiscreteGaussian, KeyThreshold)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A recomputed loss, in 1e-9 of the measure's unit and 1e-18 of δ, both rounded up."""

    nano: int
    atto: int


def events_json(plan: Plan) -> str:
    """Return the canonical JSON text of a plan's events."""
    events = [
        {
            "mechanism": encode(measurement.mechanism),
            "l1": str(measurement.sensitivity.l1),
            "l2-squared": str(measurement.sensitivity.l2_squared),
        }
        for measurement in plan.measurements
    ]
    return canonical_bytes({"measure": plan.dataset.measure.value, "events": events}).decode()


def free_json(measure: Measure) -> str:
    """Return the canonical JSON text of no events: those of a step that was charged before."""
    return canonical_bytes({"measure": measure.value, "events": []}).decode()


def recompute(text: str) -> Loss:
    """Return the loss of stored events, by the theorems and not by what was charged.

    Raises:
        ContractError: If the text is not one that :func:`events_json` wrote.
        UnsupportedError: If a mechanism is unknown, or has no loss in the measure.
    """
    try:
        stored: Json = json.loads(text)
        measure = Measure(stored["measure"])
        total, delta = Fraction(0), Fraction(0)
        for event in stored["events"]:
            kind = _MECHANISMS.get(event["mechanism"]["is"])
            if kind is None:
                raise UnsupportedError("The ledger holds an unknown mechanism.")
            mechanism = decode(kind, event["mechanism"], names={})
            l1, l2_squared = int(event["l1"]), int(event["l2-squared"])
            total += mechanism_loss(mechanism, l1=l1, l2_squared=l2_squared, measure=measure)
            delta += mechanism.delta if isinstance(mechanism, KeyThreshold) else 0
    except (KeyError, TypeError, ValueError, AttributeError) as broken:
        if isinstance(broken, UnsupportedError | ContractError):
            raise
        raise ContractError("The stored events of a charge cannot be read.") from None
    return Loss(nano=math.ceil(total * NANO), atto=math.ceil(delta * ATTO))


def mechanism_loss(mechanism: Mechanism, *, l1: int, l2_squared: int, measure: Measure) -> Fraction:
    """Return ε under ``pure`` or ρ under ``zcdp`` of one use of a mechanism.

    Raises:
        UnsupportedError: If Gaussian noise is used under ``pure``.

    Example:
        >>> mechanism_loss(DiscreteLaplace(scale=Fraction(2)), l1=1, l2_squared=1,
        ...                measure=Measure.ZCDP)
        Fraction(1, 8)
    """
    match mechanism, measure:
        case DiscreteGaussian(sigma_squared=sigma_squared), Measure.ZCDP:
            return l2_squared / (2 * sigma_squared)
        case DiscreteGaussian(), Measure.PURE:
            raise UnsupportedError(
                "Gaussian noise has no pure loss.", hint="Account in zcdp, or use Laplace noise."
            )
        case DiscreteLaplace(scale=scale), _:
            epsilon = l1 / scale
        case KeyThreshold(), _:
            epsilon = l1 / mechanism.noise().scale
        case _:
            raise UnsupportedError("Unknown mechanism or measure.")
    return epsilon if measure is Measure.PURE else epsilon**2 / 2
