"""Rényi differential privacy: the curve of a pure loss, and its reading as (ε, δ).

Law: M is (α, r)-RDP when the Rényi divergence of order α between neighbours is at most r; at a
fixed α, r adds up under adaptive composition [Mir17, prop. 1].

The curve of any ε-DP mechanism is at most that of randomised response with odds e^ε, the worst of
them [KOV15, sec. 3].  For any α, ε = r + ln(1 − 1/α) − ln(αδ)/(α−1) [CKS20, prop. 12; ALC21].

*Privacy:* every α is valid, so a finite list of orders is.
*Utility:* floats, for display and comparison.

References:
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [ALC21] Asoodeh, Liao, Calmon, Kosut, Sankar. Three variants of differential privacy. JSAIT
        2(1), 2021. https://arxiv.org/abs/2008.06529
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from confide.errors import InvalidParameterError

RenyiCurve: TypeAlias = Callable[[float], float]
"""From an order α > 1 to a divergence in nats."""

ORDERS: tuple[float, ...] = tuple(1 + 1.05**step / 100 for step in range(240))
"""Orders from 1.01 to about 1,160, each excess 5 % above the last."""


def pure_curve(epsilon: float) -> RenyiCurve:
    """Return the curve that every ε-DP mechanism stays below.

    Example:
        >>> curve = pure_curve(0.1)
        >>> curve(2.0) <= 2 * 0.1**2 / 2  # zCDP's line is above it
        True
    """
    _require_positive("epsilon", epsilon)

    def curve(alpha: float) -> float:
        # ln((e^{αε} + e^{(1−α)ε})/(1+e^ε)), with e^{αε} factored out
        log_moment = (
            (alpha - 1) * epsilon
            + math.log1p(math.exp((1 - 2 * alpha) * epsilon))
            - math.log1p(math.exp(-epsilon))
        )
        return max(0.0, log_moment / (alpha - 1))

    return curve


def improved_epsilon(curve: RenyiCurve, *, delta: float, orders: Sequence[float] = ORDERS) -> float:
    """Return the least r(α) + ln(1 − 1/α) − ln(αδ)/(α−1) over ``orders``, at least 0.

    Example:
        >>> round(improved_epsilon(lambda alpha: alpha / 32, delta=1e-5), 2)  # Gaussian, σ/Δ = 4
        1.01
    """
    _require_reading(delta, orders)
    least = min(
        curve(alpha) + math.log1p(-1 / alpha) - math.log(alpha * delta) / (alpha - 1)
        for alpha in orders
    )
    return max(0.0, least)


def _require_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise InvalidParameterError(f"Expected {name} > 0, got {name}={value}.")


def _require_reading(delta: float, orders: Sequence[float]) -> None:
    if not 0 < delta < 1:
        raise InvalidParameterError(f"Expected delta in (0, 1), got delta={delta}.")
    if not orders or not min(orders) > 1:
        raise InvalidParameterError("Expected orders greater than 1.")
