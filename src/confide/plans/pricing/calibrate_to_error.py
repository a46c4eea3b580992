"""The error one can live with, and whether a forecast meets it.

People do not think in ε: they say ±10 patients, ±5 %, a median error of 10 %, or an interval no
wider than 2 mmHg.  The least budget that reaches it is found by bisection on the nano grid
(:mod:`confide.plans.pricing.allocate`), because every forecast error falls as the budget grows.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.plans.estimates import Forecast
from confide.plans.plan import DEFAULT_LEVEL


def _check(name: str, amount: Fraction, level: Fraction) -> None:
    if amount <= 0:
        raise InvalidParameterError(f"Expected {name} > 0, got {amount}.")
    if not 0 < level < 1:
        raise InvalidParameterError(f"Expected 0 < level < 1, got {level}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Half of the interval at ``level`` is at most ``amount``, in the unit of the estimate."""

    amount: Fraction
    level: Fraction = DEFAULT_LEVEL

    def __post_init__(self) -> None:
        _check("within", self.amount, self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinShare:
    """Half of the interval at ``level`` is at most ``share`` of the planning value."""

    share: Fraction
    level: Fraction = DEFAULT_LEVEL

    def __post_init__(self) -> None:
        _check("within-share", self.share, self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianShare:
    """The median absolute error is at most ``share`` of the planning value (MdAPE)."""

    share: Fraction
    level: Fraction = DEFAULT_LEVEL

    def __post_init__(self) -> None:
        _check("mdape", self.share, self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalWidth:
    """The interval at ``level`` is at most ``width`` wide, in the unit of the estimate."""

    width: Fraction
    level: Fraction = DEFAULT_LEVEL

    def __post_init__(self) -> None:
        _check("width", self.width, self.level)


ErrorTarget: TypeAlias = Within | WithinShare | MedianShare | IntervalWidth


def _planning(forecast: Forecast) -> float:
    if forecast.planning is None or forecast.planning <= 0:
        raise ContractError(
            "A relative error needs a public planning value.",
            hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
        )
    return forecast.planning


def met(target: ErrorTarget, forecast: Forecast) -> bool:
    """Return whether the forecast reaches the target.

    Raises:
        ContractError: If the target is relative and there is no planning value.
    """
    match target:
        case Within(amount=amount):
            return forecast.half_width <= amount
        case WithinShare(share=share):
            return forecast.half_width <= float(share) * _planning(forecast)
        case MedianShare(share=share):
            return forecast.median_error <= float(share) * _planning(forecast)
        case IntervalWidth(width=width):
            return 2 * forecast.half_width <= width
        case _:
            assert_never(target)
