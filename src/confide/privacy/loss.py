"""Privacy losses: what a release may reveal about one privacy unit, as exact fractions.

*Privacy:* ``PureDP(epsilon)``: P[S] ≤ e^ε·P′[S] for every set of outcomes S.  ``ApproxDP`` adds δ.
``ZeroConcentratedDP(rho)``: Rényi divergence of every order α at most ρ·α; with ``delta`` > 0 it is
δ-approximate zCDP [BS16, def. 8.1].  Units are nats for ε and ρ.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, def. 2.4.
        https://doi.org/10.1561/0400000042
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, def. 1.1, prop. 1.4, def. 8.1.
        https://arxiv.org/abs/1605.02065
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.errors import InvalidParameterError


def _require_amount(name: str, value: object, *, zero: bool) -> None:
    if not isinstance(value, Fraction | int) or isinstance(value, bool):
        raise InvalidParameterError(
            f"Expected {name} as an exact Fraction or int, got a {type(value).__name__}.",
            hint='Write Fraction("0.5"), or "0.5" in a file; a float such as 0.1 is not 1/10.',
        )
    if value < 0 or (value == 0 and not zero):
        sign = "≥" if zero else ">"
        raise InvalidParameterError(f"Expected {name} {sign} 0, got {name}={value}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PureDP:
    """ε-differential privacy.

    Attributes:
        epsilon: In nats, greater than 0.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        _require_amount("epsilon", self.epsilon, zero=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproxDP:
    """(ε, δ)-differential privacy.

    Attributes:
        epsilon: In nats, at least 0.
        delta: In [0, 1).
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _require_amount("epsilon", self.epsilon, zero=True)
        _require_amount("delta", self.delta, zero=True)
        if self.delta >= 1:
            raise InvalidParameterError(f"Expected delta < 1, got delta={self.delta}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentratedDP:
    """ρ-zero-concentrated differential privacy, δ-approximate when ``delta`` > 0.

    Attributes:
        rho: In nats, greater than 0.
        delta: Probability of the excluded event, in [0, 1).
    """

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _require_amount("rho", self.rho, zero=False)
        _require_amount("delta", self.delta, zero=True)
        if self.delta >= 1:
            raise InvalidParameterError(f"Expected delta < 1, got delta={self.delta}.")


PrivacyLoss: TypeAlias = PureDP | ApproxDP | ZeroConcentratedDP
