"""How the charge of a synthesis is split among its parts."""

from dataclasses import dataclass
from fractions import Fraction

_THIRD = Fraction(1, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How ρ is split; adds up to 1."""

    one_ways: Fraction
    choice: Fraction
    with_target: Fraction
    tables: Fraction

    def of(self, part: Fraction) -> "Shares":
        """Return what they are of a part of the whole."""
        return Shares(
            one_ways=part * self.one_ways,
            choice=part * self.choice,
            with_target=part * self.with_target,
            tables=part * self.tables,
        )


GENERAL = Shares(one_ways=_THIRD, choice=_THIRD, with_target=Fraction(0), tables=_THIRD)
TARGETED = Shares(
    one_ways=Fraction(1, 10),
    choice=Fraction(1, 10),
    with_target=Fraction(3, 10),
    tables=Fraction(1, 2),
)
ADAPTIVE = Shares(
    one_ways=Fraction(1, 5),
    choice=Fraction(1, 10),
    with_target=Fraction(0),
    tables=Fraction(7, 10),
)
