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

from dataclasses import dataclass

from confide.errors import InvalidParameterError
from confide.privacy.amount import ATTO, NANO, decimal_text
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
            hint="A grid unit is 1e-9 of ε or ρ, and 1e-18 of δ: so an ε or ρ is at most 4.6e9. In "
            'Python: privacy.amount.nano("0.5").',
        )
