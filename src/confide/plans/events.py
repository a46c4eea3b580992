"""The events of a plan: mechanism, sensitivity and scale, from which any accountant recomputes it.

The ledger stores them beside the charge and checks, whenever it is opened, that what is recomputed
is at most what was charged.

*Privacy:* discrete Laplace with scale b and L1 sensitivity Δ₁ is Δ₁/b-DP, hence (Δ₁/b)²/2-zCDP;
discrete Gaussian is Δ₂²/(2σ²)-zCDP and has no pure loss; key selection adds its δ.  A choice with
parameters (ε, R) on utilities of reach R′ is ε′-DP and ε′²/8-zCDP, ε′ = ε·R′/R; k rounds add up.

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
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json, canonical_bytes, decode, encode
from confide.plans.plan import Measurement, Mechanism, Plan
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure

_MECHANISMS = {
    kind.__name__: kind
    for kind in (DiscreteLaplace, DiscreteGaussian, KeyThreshold, SetSelection, Peeling)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A recomputed loss, in 1e-9 of the measure's unit and 1e-18 of δ, both rounded up."""

    nano: int
    atto: int


def events_json(plan: Plan) -> str:
    """Return the canonical JSON text of a plan's events."""
    events = [_event(measurement) for measurement in plan.measurements]
    return canonical_bytes({"measure": plan.dataset.measure.value, "events": events}).decode()


def _event(measurement: Measurement) -> Json:
    moved = measurement.sensitivity
    event = {
        "mechanism": encode(measurement.mechanism),
        "l1": str(moved.l1),
        "l2-squared": str(moved.l2_squared),
    }
    if moved.reach:
        event |= {"reach": str(moved.reach), "set-reach": str(moved.set_reach)}
    return event


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
            moved = {
                name: int(event.get(name.replace("_", "-"), "0"))
                for name in ("l1", "l2_squared", "reach", "set_reach")
            }
            total += mechanism_loss(mechanism, **moved, measure=measure)
            delta += mechanism.delta if isinstance(mechanism, KeyThreshold) else 0
    except (KeyError, TypeError, ValueError, AttributeError) as broken:
        if isinstance(broken, UnsupportedError | ContractError):
            raise
        raise ContractError("The stored events of a charge cannot be read.") from None
    return Loss(nano=math.ceil(total * NANO), atto=math.ceil(delta * ATTO))


def mechanism_loss(
    mechanism: Mechanism,
    *,
    l1: int,
    l2_squared: int,
    measure: Measure,
    reach: int = 0,
    set_reach: int = 0,
) -> Fraction:
    """Return ε under ``pure`` or ρ under ``zcdp`` of one use of a mechanism.

    Raises:
        UnsupportedError: If Gaussian noise is used under ``pure``, or a choice is made where no
            reach is known.

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
        case SetSelection(epsilon=stated, reach=claimed), _ if set_reach:
            return _of_choice(stated * set_reach / claimed, measure=measure)
        case Peeling(epsilon=stated, reach=claimed, size=rounds), _ if reach:
            return rounds * _of_choice(stated * reach / claimed, measure=measure)
        case _:
            raise UnsupportedError("Unknown mechanism or measure.")
    return epsilon if measure is Measure.PURE else epsilon**2 / 2


def _of_choice(epsilon: Fraction, *, measure: Measure) -> Fraction:
    return epsilon if measure is Measure.PURE else epsilon**2 / 8
