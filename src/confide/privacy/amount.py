"""Amounts of privacy budget: integers on a fixed grid, never floats.

ε and ρ are counted in 1e-9 nats (*nano*), δ in 1e-18 (*atto*).  Amounts are rounded **down when
the plan is made and the noise is computed from the rounded amount**, so three thirds of a cap fit
the cap exactly, and a cap is never exceeded by rounding.

*Privacy:* ⌊a⌋ + ⌊b⌋ ≤ ⌊a+b⌋, so shares rounded down never pass a total rounded down.  Sums of
integers are exact, so nothing fits a cap twice; caps are rounded down, and a loss that is off the
grid is charged rounded *up*.
*Utility:* at most 1e-9 nats of a share is lost: one part in 10⁷ at ε = 0.01.

References:
    [IEEE754] IEEE standard for floating-point arithmetic. 2019 (0.1 is not 1/10 there).
        https://doi.org/10.1109/IEEESTD.2019.8766229
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.exact import Number, exact
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure

NANO = 10**9
"""Steps of ε and ρ in one nat."""

ATTO = 10**18
"""Steps of δ in one."""

LARGEST = 2**62  # spent + amount then stays inside SQLite's 64-bit integers


@dataclass(frozen=True, slots=True, kw_only=True)
class InLanes:
    """What a release costs a mixed ledger, in 1e-9 nats.

    Attributes:
        alone: The ε that it loses by itself: Σε if it is pure, else at the ledger's δ.
        pure: Σε of its events; None if one of them is not pure.
        ordered: Σd at each order of the ledger, by order.
    """

    alone: int
    pure: int | None
    ordered: tuple[tuple[int, int], ...]

    def at(self, order: int) -> int:
        """Return Σd at an order of the ledger."""
        return dict(self.ordered)[order]

    @property
    def closing(self) -> int:
        """What a lane of pure events holds more: all that it ever can, if one is not pure."""
        return LARGEST if self.pure is None else self.pure

    def covers(self, other: Self) -> bool:
        """Return whether ``other`` costs at most this in each lane."""
        ours, theirs = dict(self.ordered), dict(other.ordered)
        return (
            ours.keys() == theirs.keys()
            and other.alone <= self.alone
            and other.closing <= self.closing
            and all(theirs[order] <= ours[order] for order in theirs)
        )

    def to_fields(self) -> dict[str, str]:
        """Return it as it stands in the chain."""
        pure = {} if self.pure is None else {"pure": str(self.pure)}
        ordered = {str(order): str(units) for order, units in self.ordered}
        return {"alone": str(self.alone), **pure, **ordered}

    @classmethod
    def of_fields(cls, fields: Mapping[str, str]) -> Self:
        """Return what :meth:`to_fields` wrote."""
        rest = dict(fields)
        alone, pure = int(rest.pop("alone")), rest.pop("pure", None)
        ordered = sorted((int(order), int(units)) for order, units in rest.items())
        return cls(alone=alone, pure=None if pure is None else int(pure), ordered=tuple(ordered))


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What a plan or a release costs, or what is left, in the measure of its ledger.

    Attributes:
        nano: ε or ρ in units of 1e-9; 0 only for a step of a release that was charged before.
        atto: δ in units of 1e-18; at least 0.
        lanes: What it costs a mixed ledger; None of another, and of what costs nothing.
    """

    nano: int
    atto: int = 0
    lanes: InLanes | None = None

    def __post_init__(self) -> None:
        require_units("nano", self.nano, least=0)
        require_units("atto", self.atto, least=0)

    @classmethod
    def of(cls, loss: PrivacyLoss) -> "Amount":
        """Return what a loss is charged as: both parts rounded up."""
        match loss:
            case PureDP(epsilon=found):
                delta = Fraction(0)
            case ApproxDP(epsilon=found, delta=delta) | ZeroConcentratedDP(rho=found, delta=delta):
                pass
            case _:
                assert_never(loss)
        return cls(nano=math.ceil(found * NANO), atto=math.ceil(delta * ATTO))

    @property
    def alone(self) -> int:
        """What it costs by itself, in 1e-9; of a mixed ledger ε, as caps on one release are."""
        return self.nano if self.lanes is None else self.lanes.alone

    @property
    def of_patients(self) -> int:
        """What it costs a patient who pays all of it, in 1e-9; of a mixed ledger at its order."""
        return self.nano if self.lanes is None else self.lanes.ordered[-1][1]

    def loss(self, measure: Measure) -> PrivacyLoss:
        """Return the loss that the amount stands for; it is not nothing."""
        found, delta = Fraction(self.nano, NANO), Fraction(self.atto, ATTO)
        match measure:
            case Measure.ZCDP:
                return ZeroConcentratedDP(rho=found, delta=delta)
            case Measure.PURE if delta == 0:
                return PureDP(epsilon=found)
            case Measure.PURE:
                return ApproxDP(epsilon=found, delta=delta)
            case _:
                assert_never(measure)

    @classmethod
    def total(cls, amounts: "Iterable[Amount]") -> "Amount":
        """Return the sum of both parts."""
        found = tuple(amounts)
        return cls(nano=sum(each.nano for each in found), atto=sum(each.atto for each in found))

    def covers(self, other: "Amount") -> bool:
        """Return whether ``other`` is at most this amount, in both parts."""
        if other.nano > self.nano or other.atto > self.atto:
            return False
        if self.lanes is None or other.lanes is None:
            return self.lanes is other.lanes
        return self.lanes.covers(other.lanes)

    def text(self, measure: Measure) -> str:
        """Return the amount in the measure's letter.

        Example:
            >>> Amount(nano=500_000_000, atto=10**12).text(Measure.ZCDP)
            'ρ=0.5, δ=0.000001'
        """
        delta = f", δ={decimal_text(self.atto, per_one=ATTO)}" if self.atto else ""
        return f"{measure.letter}={decimal_text(self.nano, per_one=NANO)}{delta}"


def require_units(name: str, value: object, *, least: int) -> None:
    """Refuse anything but an ``int`` in [least, 2^62]."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
        raise InvalidParameterError(
            f"Expected {name} as an int between {least} and 2^62, got {value!r}.",
            hint="A grid unit is 1e-9 of ε or ρ, and 1e-18 of δ: so an ε or ρ is at most 4.6e9. In "
            'Python: privacy.amount.nano("0.5").',
        )


def amount(value: Number) -> Fraction:
    """Return the exact positive number that somebody wrote.

    Raises:
        InvalidParameterError: If it is no number, not finite, or not greater than 0.

    Example:
        >>> amount("0.1"), amount(1e-6), amount("1/3")
        (Fraction(1, 10), Fraction(1, 1000000), Fraction(1, 3))
    """
    found = exact(value)
    if found <= 0:
        raise InvalidParameterError(f"Expected an amount > 0, got {found}.")
    return found


def nano(value: Number) -> int:
    """Return an ε or ρ in 1e-9 nats, rounded down.

    Raises:
        InvalidParameterError: If it is not an exact positive number of at least 1e-9.

    Example:
        A yearly cap of 0.5 shared by three quarterly reports:

        >>> nano("0.5"), nano(Fraction("0.5") / 3)
        (500000000, 166666666)
    """
    return _steps(value, grid=NANO)


def atto(value: Number) -> int:
    """Return a δ in 1e-18, rounded down.

    Raises:
        InvalidParameterError: If it is not an exact positive number of at least 1e-18.

    Example:
        >>> atto("1e-6")
        1000000000000
    """
    return _steps(value, grid=ATTO)


def from_nano(steps: int) -> Fraction:
    """Return the ε or ρ of ``steps`` × 1e-9 nats.

    Example:
        >>> from_nano(166666666)
        Fraction(83333333, 500000000)
    """
    return Fraction(steps, NANO)


def decimal_text(steps: int, *, per_one: int) -> str:
    """Return grid steps as a plain exact decimal.

    Example:
        >>> decimal_text(100_000_000, per_one=NANO)
        '0.1'
    """
    sign = "-" if steps < 0 else ""
    whole, rest = divmod(abs(steps), per_one)
    places = str(rest).rjust(len(str(per_one)) - 1, "0").rstrip("0")
    return f"{sign}{whole}.{places}" if places else f"{sign}{whole}"


def split(total: int, *, weights: Sequence[int | Fraction]) -> tuple[int, ...]:
    """Return shares of ``total`` grid steps in proportion to ``weights``, each rounded down.

    Raises:
        InvalidParameterError: If a weight is not an exact number > 0, or a share would be nothing.

    Example:
        A study's ρ over three measurements, the primary outcome twice as important:

        >>> split(nano("0.02"), weights=(2, 1, 1))
        (10000000, 5000000, 5000000)
    """
    parts = [amount(weight) for weight in weights]
    shares = tuple((total * part / sum(parts)).__floor__() for part in parts)
    if not shares or min(shares) < 1:
        raise InvalidParameterError(
            f"Expected shares of at least one step, got a total of {total} over {len(parts)}.",
            hint="Ask for fewer statistics, or raise the budget.",
        )
    return shares


def _steps(value: Number, *, grid: int) -> int:
    found = amount(value)
    steps = (found * grid).__floor__()
    if steps < 1:
        raise InvalidParameterError(f"Expected an amount of at least 1/{grid}, got {found}.")
    return steps
