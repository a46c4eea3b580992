"""Amounts of privacy loss as integers: ε or ρ in 1e-9, δ in 1e-18.

*Privacy:* sums of integers are exact, so three thirds of a cap fit it and nothing fits twice.  A
plan rounds its target *down* to the grid and takes its noise scale from the rounded value; caps are
rounded down; a loss that is off the grid is charged rounded *up*.  Floats are refused: 0.1 is not
1/10.

*Utility:* the grid is 1e-9, so rounding costs at most one part in 10⁷ at ε = 0.01.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, prop. 1.4 and sec. 8.
        https://arxiv.org/abs/1605.02065
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError, MismatchError, UnsupportedError
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure

LARGEST = 2**62  # spent + amount then stays inside SQLite's 64-bit integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What a release costs, or what is left.

    Attributes:
        nano: ε or ρ in units of 1e-9; 0 only for a step of a release that was charged before.
        delta_atto: δ in units of 1e-18; at least 0.
    """

    nano: int
    delta_atto: int = 0

    def __post_init__(self) -> None:
        require_units("nano", self.nano, least=0)
        require_units("delta_atto", self.delta_atto, least=0)

    def covers(self, other: "Amount") -> bool:
        """Return whether ``other`` is at most this amount, in both parts."""
        return other.nano <= self.nano and other.delta_atto <= self.delta_atto

    def text(self, measure: Measure) -> str:
        """Return the amount in the measure's letter.

        Example:
            >>> Amount(nano=500_000_000, delta_atto=10**12).text(Measure.ZCDP)
            'ρ=0.5, δ=0.000001'
        """
        delta = f", δ={decimal_text(self.delta_atto, per_one=ATTO)}" if self.delta_atto else ""
        return f"{measure.letter}={decimal_text(self.nano, per_one=NANO)}{delta}"


def require_units(name: str, value: object, *, least: int) -> None:
    """Refuse anything but an ``int`` in [least, 2^62]."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
        raise InvalidParameterError(
            f"Expected {name} as an int between {least} and 2^62, got {value!r}.",
            hint='Amounts are whole grid units; make them with privacy.amount.nano("0.5").',
        )


def charge_for(loss: PrivacyLoss, *, measure: Measure) -> Amount:
    """Return what ``loss`` costs in a ledger of ``measure``, rounded up to the grid.

    Under ``ZCDP``, ε-DP costs ρ = ε²/2 and (ε, δ)-DP costs (ε²/2, δ) [BS16].

    Raises:
        MismatchError: If a concentrated loss is charged to a pure ledger.

    Example:
        A count of admissions at ε = 1/2, in a ledger of zCDP:

        >>> charge_for(PureDP(epsilon=Fraction(1, 2)), measure=Measure.ZCDP)
        Amount(nano=125000000, delta_atto=0)
    """
    match loss:
        case PureDP(epsilon=epsilon):
            delta = Fraction(0)
        case ApproxDP(epsilon=epsilon, delta=delta):
            pass
        case ZeroConcentratedDP(rho=rho, delta=delta):
            if measure is Measure.PURE:
                raise MismatchError(
                    "Expected a loss in ε for a pure ledger, got ρ.",
                    hint="Plan with Laplace noise, or use a ledger with measure: zcdp.",
                )
            return _up(rho, delta=delta)
        case _:
            assert_never(loss)
    match measure:
        case Measure.PURE:
            return _up(epsilon, delta=delta)
        case Measure.ZCDP:
            return _up(epsilon * epsilon / 2, delta=delta)
        case _:
            assert_never(measure)


def _up(value: Fraction | int, *, delta: Fraction | int) -> Amount:
    if value <= 0:
        raise UnsupportedError(
            "Expected a loss with ε or ρ > 0, got 0.",
            hint="A release that costs only δ is charged with ε = 1e-9.",
        )
    return Amount(nano=math.ceil(value * NANO), delta_atto=math.ceil(delta * ATTO))
