"""Numbers that people write, on the grid on which a column's values lie.

A number between two grid points is refused, never moved to one of them: a condition from 1.2 on a
column in steps of 1 would hold from 2, and be charged.

*Privacy:* grids and numbers are public, so a refusal says nothing of the data, and is free.
"""

from decimal import Decimal
from fractions import Fraction

from confide.errors import ContractError
from confide.tables.schema import Domain

_MOST_DECIMALS = 18


def on_grid(physical: Fraction, *, of: Domain, name: str) -> int:
    """Return a number in the unit of a column as its canonical integer.

    Args:
        physical: The number.
        of: Public domain of the column.
        name: The column, for errors.

    Raises:
        ContractError: If the number lies between two steps of the grid.

    Example:
        >>> from confide.tables.schema import Kind
        >>> tenths = Domain(kind=Kind.NUMBER, lower=0, upper=200, scale=Fraction(1, 10))
        >>> on_grid(Fraction("1.2"), of=tenths, name="crea")
        12
    """
    steps = physical / of.scale
    if steps.denominator == 1:
        return int(steps)
    raise ContractError(
        f"{name}: {in_words(physical)} is not on the grid of steps of {in_words(of.scale)}.",
        hint=f"Write step: {in_words(_finer(physical, of=of))} for the column in dataset.yaml "
        "(values are rounded to steps), or a number on the grid.",
    )


def _finer(physical: Fraction, *, of: Domain) -> Fraction:
    """Return a step of which the number and the bounds are multiples; 1, 0.1, 0.01 if one is."""
    numbers = (physical, of.lower * of.scale, of.upper * of.scale)
    for places in range(_MOST_DECIMALS + 1):
        if all((number * 10**places).denominator == 1 for number in numbers):
            return Fraction(1, 10**places)
    step = of.scale
    for number in numbers:
        step = _common(step, number)
    return step


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Return the greatest number of which both are multiples."""
    while b:
        a, b = b, a % b
    return abs(a)


def in_words(number: Fraction) -> str:
    """Return a number as a file would write it: in decimals if they end, else as a ratio."""
    for places in range(_MOST_DECIMALS + 1):
        if (number * 10**places).denominator == 1:
            return f"{Decimal(int(number * 10**places)).scaleb(-places):f}"
    return str(number)
