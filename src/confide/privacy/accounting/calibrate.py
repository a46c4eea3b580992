"""From a target loss to the amounts a plan may spend, on the grid, rounded down.

The noise is computed *from the rounded amount*, so what is charged is what is spent.  Under zCDP
accounting a mechanism with a pure guarantee gets the ε whose ρ fits the share:
ε = ⌊√(2ρ)⌋ for any mechanism and ⌊√(8ρ)⌋ for the exponential one, on the grid of 1e-9.

*Privacy:* every conversion here returns a loss that implies the target.
*Utility:* at most 1e-9 nats are lost to rounding.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy, prop. 1.4. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy, cor. 13.
        NeurIPS 2020. https://arxiv.org/abs/2004.00010
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.amount import ATTO, NANO, amount, atto, from_nano, nano, split
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

__all__ = [
    "amount",
    "atto",
    "concentrated_for",
    "exponential_within",
    "from_nano",
    "nano",
    "on_grid",
    "pure_within",
    "split",
]


def on_grid(loss: PrivacyLoss) -> PrivacyLoss:
    """Return ``loss`` with ε or ρ rounded down to 1e-9 and δ to 1e-18.

    Raises:
        InvalidParameterError: If ε or ρ is below 1e-9.

    Example:
        A third of a yearly cap of ε = 0.5:

        >>> on_grid(PureDP(epsilon=Fraction(1, 6)))
        PureDP(epsilon=Fraction(83333333, 500000000))
    """
    match loss:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=from_nano(nano(Fraction(epsilon))))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(epsilon=from_nano(nano(Fraction(epsilon))), delta=_delta(delta))
        case ZeroConcentratedDP(rho=rho, delta=delta):
            return ZeroConcentratedDP(rho=from_nano(nano(Fraction(rho))), delta=_delta(delta))
        case _:
            assert_never(loss)


def concentrated_for(
    target: ApproxDP, *, reserved_delta: Fraction = Fraction(0)
) -> ZeroConcentratedDP:
    """Return the largest zCDP loss, ρ in steps of 1e-9, that implies ``target``.

    ``reserved_delta`` is the part of the target's δ that approximate releases (unknown keys) use;
    it stands in the result as its δ₀.

    Raises:
        InvalidParameterError: If nothing of δ is left, or no ρ ≥ 1e-9 fits.

    Example:
        A cap of (1, 1e-6) of which thresholds for rare codes may use 5e-7:

        >>> cap = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
        >>> loss = concentrated_for(cap, reserved_delta=Fraction("5e-7"))
        >>> float(loss.rho), float(loss.delta)
        (0.022937446, 5e-07)
    """
    rest = target.delta - reserved_delta
    if reserved_delta < 0 or rest <= 0:
        raise InvalidParameterError(
            f"Expected 0 ≤ reserved_delta < {target.delta}, got {reserved_delta}.",
            hint="Reading ρ as ε needs some δ of its own: raise report-delta.",
        )
    rho = rho_for(Fraction(target.epsilon), delta=rest)
    return ZeroConcentratedDP(rho=rho, delta=reserved_delta)


def pure_within(loss: ZeroConcentratedDP) -> PureDP:
    """Return the largest ε, in steps of 1e-9, with ε²/2 ≤ ρ: Laplace noise inside a ρ share.

    Example:
        A diabetes count that may spend ρ = 0.005:

        >>> pure_within(ZeroConcentratedDP(rho=Fraction("0.005"))).epsilon
        Fraction(1, 10)
    """
    return _root(2 * Fraction(loss.rho))


def exponential_within(loss: ZeroConcentratedDP) -> PureDP:
    """Return the largest ε, in steps of 1e-9, with ε²/8 ≤ ρ: for the exponential mechanism only.

    Example:
        >>> exponential_within(ZeroConcentratedDP(rho=Fraction("0.005"))).epsilon
        Fraction(1, 5)
    """
    return _root(8 * Fraction(loss.rho))


def _root(square: Fraction) -> PureDP:
    """Return ⌊√square⌋ on the grid; isqrt is exact."""
    steps = math.isqrt((square * NANO**2).__floor__())
    if steps < 1:
        raise InvalidParameterError(f"Expected a rho that allows epsilon ≥ 1e-9, got {square}.")
    return PureDP(epsilon=from_nano(steps))


def _delta(delta: Fraction) -> Fraction:
    return Fraction((delta * ATTO).__floor__(), ATTO)
