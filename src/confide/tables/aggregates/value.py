"""What one kept row adds to its cell: one, a number, its square, or a product of numbers."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.tables.bound_contributions import ValueRange
from confide.tables.expression import Expression
from confide.tables.relation import centre, domain
from confide.tables.schema import Dataset, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Ones:
    """Every kept row counts 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """The canonical value itself."""

    of: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Centred:
    """The canonical value minus the public centre of its bounds."""

    of: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class CentredSquare:
    """The square of the centred value."""

    of: Expression


Factor: TypeAlias = Plain | Centred
"""What may be multiplied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The product of factors of one row: (x − c)(y − c′), or a weight times (x − c).

    The largest absolute value is the product of those of the factors, whatever the factors share.
    Both signs occur only if some factor that stands there an odd number of times has both.

    Attributes:
        of: Two factors or more; a row in which one of them is unknown is left out.
    """

    of: tuple[Factor, ...]

    def __post_init__(self) -> None:
        if len(self.of) < 2:
            raise InvalidParameterError(
                f"Expected two factors or more, got {len(self.of)}.",
                hint="A single factor is a value of its own.",
            )


Value: TypeAlias = Ones | Plain | Centred | CentredSquare | Product


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step of an exact vector is worth.

    Attributes:
        size: Physical value.
        units: Codes of the units that are multiplied; None: what is counted.
    """

    size: Fraction
    units: tuple[str, ...] | None = None


def reads(value: Value) -> tuple[Expression, ...]:
    """Return the expressions that a value looks at, one for each of its factors."""
    match value:
        case Ones():
            return ()
        case Plain(of=expression) | Centred(of=expression) | CentredSquare(of=expression):
            return (expression,)
        case Product(of=factors):
            return tuple(factor.of for factor in factors)
        case _:
            assert_never(value)


def value_range(value: Value, *, dataset: Dataset, counted: str) -> ValueRange:
    """Return how large the value of one row can be; ``counted`` names what a row is.

    Raises:
        ContractError: If the value is not a number.
    """
    match value:
        case Ones():
            return ValueRange(magnitude=1, signed=False, unit=counted)
        case Plain(of=expression):
            of = domain(expression, dataset=dataset)
            largest = max(abs(of.lower), abs(of.upper), 1)
            signed = of.lower < 0 < of.upper
            return ValueRange(
                magnitude=largest, signed=signed, unit=step_unit(expression, dataset=dataset)
            )
        case Centred(of=expression):
            _, half = centre(domain(expression, dataset=dataset))
            return ValueRange(
                magnitude=half, signed=True, unit=step_unit(expression, dataset=dataset)
            )
        case CentredSquare(of=expression):
            _, half = centre(domain(expression, dataset=dataset))
            unit = f"({step_unit(expression, dataset=dataset)})²"
            return ValueRange(magnitude=half**2, signed=False, unit=unit)
        case Product(of=factors):
            ranges = [value_range(factor, dataset=dataset, counted=counted) for factor in factors]
            odd = [r.signed for f, r in zip(factors, ranges, strict=True) if factors.count(f) % 2]
            units = [f"({r.unit})" for r in ranges if r.unit != "1"]
            return ValueRange(
                magnitude=math.prod(r.magnitude for r in ranges),
                signed=any(odd),
                unit="·".join(units) or "1",
            )
        case _:
            assert_never(value)


def step_unit(expression: Expression, *, dataset: Dataset) -> str:
    """Return what one step of an expression's canonical integers is."""
    of = domain(expression, dataset=dataset)
    return (of.unit or "1") if of.scale == 1 else f"steps of {of.scale} {of.unit or '1'}"


def least_value(value: Value, *, dataset: Dataset) -> int:
    """Return the least that a kept row adds, if it adds anything, in canonical integers."""
    match value:
        case Plain(of=expression):
            known = domain(expression, dataset=dataset)
            return max(known.lower, -known.upper, 1)
        case _:
            return 1


def step_of(value: Value, *, dataset: Dataset) -> Step:
    """Return what one step of a sum of values is worth."""
    match value:
        case Ones():
            return Step(size=Fraction(1))
        case CentredSquare(of=expression):
            return step_of_product((expression, expression), dataset=dataset)
        case Plain() | Centred() | Product():
            return step_of_product(reads(value), dataset=dataset)
        case _:
            assert_never(value)


def step_of_product(factors: tuple[Expression, ...], *, dataset: Dataset) -> Step:
    """Return what one step of a product of numbers is worth."""
    domains = [domain(factor, dataset=dataset) for factor in factors]
    return Step(
        size=math.prod((of.scale for of in domains), start=Fraction(1)),
        units=tuple(of.unit for of in domains),
    )


def check_number(expression: Expression, *, dataset: Dataset) -> None:
    """Refuse to sum what is no number.

    Raises:
        ContractError: If it is a category, a text or a date.
    """
    match domain(expression, dataset=dataset).kind:
        case Kind.NUMBER:
            return
        case Kind.CATEGORY | Kind.TEXT:
            raise ContractError("Categories cannot be summed.", hint="Use a histogram.")
        case Kind.DATE:
            raise ContractError(
                "Dates cannot be summed.",
                hint="Declare a per-patient value days-between, or use a histogram by year.",
            )
