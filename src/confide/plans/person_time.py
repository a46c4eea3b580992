"""Person-time: what a rate is per, and how a declared number of days or years becomes it."""

import enum
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError
from confide.tables.schema import Domain, Kind

_DAYS = {
    "min": Fraction(1, 1440),
    "h": Fraction(1, 24),
    "d": Fraction(1),
    "wk": Fraction(7),
    "mo": Fraction(1461, 48),
    "a": Fraction(1461, 4),
}
"""Days in a UCUM unit of time; a year is 365.25 days and a month a twelfth of it, as in UCUM."""


class PersonTime(enum.Enum):
    """The unit of a rate's denominator."""

    YEARS = "years"
    DAYS = "days"

    @property
    def days(self) -> Fraction:
        """Length in days."""
        return _DAYS["a"] if self is PersonTime.YEARS else _DAYS["d"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Per:
    """What a rate is reported per.

    Attributes:
        number: 1,000 or 100,000.
        time: Of what.
    """

    number: int = 1000
    time: PersonTime = PersonTime.YEARS

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ContractError(f"Expected a rate per ≥ 1, got per {self.number}.")

    @property
    def unit(self) -> str:
        """The unit of the published rate.

        Example:
            >>> Per(number=100_000).unit
            'per 100,000 person-years'
        """
        return f"per {self.number:,} person-{self.time.value}"

    def counted(self, *, once: bool) -> str:
        """Return the unit of a rate without time, over persons or over their records."""
        return f"per {self.number:,} {'persons' if once else 'records'}"

    def assumed(self, rate: float, *, unit: str, said: bool) -> tuple[str, ...]:
        """Return which rate a forecast is of, where no public rate was said.

        Args:
            rate: Events per unit of the base.
            unit: Of the published rate.
            said: Whether a study says a planning rate.
        """
        if said:
            return ()
        return (f"for a rate of {rate * self.number:.3g} {unit}; write expect: {{rate: …}}",)


def step_of(of: Domain, *, per: Per, name: str) -> float:
    """Return the person-time of one grid step of a column, in the unit of ``per``.

    Raises:
        ContractError: If the column is not a time ≥ 0 in a known unit.

    Example:
        >>> days = Domain(kind=Kind.NUMBER, lower=0, upper=3650, unit="d")
        >>> step_of(days, per=Per(), name="follow_up") * 1461
        4.0
    """
    if of.kind is not Kind.NUMBER or of.unit not in _DAYS:
        raise ContractError(
            f"{name!r} is not a time: its unit is {of.unit or '1'!r}.",
            hint=f"Declare unit: d (or {', '.join(unit for unit in _DAYS if unit != 'd')}).",
        )
    if of.lower < 0:
        raise ContractError(
            f"Person-time {name!r} could be negative.", hint="Declare lower: 0 for it."
        )
    return float(of.scale * _DAYS[of.unit] / per.time.days)
