"""Exact numbers however people write them: whole, decimal, floating, a fraction or text.

A float is taken as the shortest decimal that reads back as it, which is what its author wrote and
what Python prints: 0.1 is one tenth, not the binary number beside it [Loi10].

References:
    [Loi10] Loitsch. Printing floating-point numbers quickly and accurately with integers. PLDI
        2010. https://doi.org/10.1145/1806596.1806623
"""

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias, TypeVar

from confide.errors import InvalidParameterError

Number: TypeAlias = int | float | Decimal | Fraction | str
"""What an exact number may be given as."""

# Bounded lengths: Fraction("1e999999999") would build a number of a billion digits.
_TEXT = re.compile(
    r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?|[0-9]{1,30}/[0-9]{1,30}", re.ASCII
)
_LONGEST = 400
"""Digits of a Decimal before and after its point; more than any float has."""

T = TypeVar("T", bound=type)


def exact(value: object) -> Fraction:
    """Return the exact number that somebody wrote.

    Raises:
        InvalidParameterError: If it is none, not finite, or longer than any use has.

    Example:
        >>> exact(0.1), exact("1e-6"), exact(Decimal("2.50")), exact("1/3")
        (Fraction(1, 10), Fraction(1, 1000000), Fraction(5, 2), Fraction(1, 3))
    """
    match value:
        case bool():
            pass
        case Rational():
            return Fraction(int(value.numerator), int(value.denominator))
        case Decimal() if not value.is_finite():  # math.isfinite takes 1e400 for infinite
            raise InvalidParameterError(f"Expected a finite number, got {value}.")
        case Decimal() if abs(value.adjusted()) + len(value.as_tuple().digits) <= _LONGEST:
            return Fraction(value)
        case Real() if not math.isfinite(value):
            raise InvalidParameterError(f"Expected a finite number, got {value}.")
        case Real():
            return Fraction(str(value))
        case str() if _TEXT.fullmatch(value.strip()) and not re.search(r"/0+\Z", value.strip()):
            return Fraction(value.strip())
        case str():
            raise InvalidParameterError("Expected an exact number such as 0.5, 1e-6 or 1/3.")
    raise InvalidParameterError(
        f"Expected an exact number such as 0.5, 1e-6 or 1/3, got a {type(value).__name__}."
    )


def takes_numbers(kind: T) -> T:
    """Let a dataclass be made with numbers as :func:`exact` reads them, where it holds Fractions.

    Args:
        kind: Its fields of Fractions may be optional, or tuples, for which any sequence will do.
    """
    made: Callable[..., None] = kind.__init__  # type: ignore[misc]
    if hasattr(made, "__wrapped__"):
        return kind

    @functools.cache
    def readers() -> dict[str, Callable[[Any], Any]]:
        hints = typing.get_type_hints(kind)
        found = {each.name: _reader(hints[each.name]) for each in dataclasses.fields(kind)}
        return {name: reader for name, reader in found.items() if reader is not None}

    @functools.wraps(made)
    def init(self: object, **given: Any) -> None:
        for name, reader in readers().items():
            if name in given:
                try:
                    given[name] = reader(given[name])
                except InvalidParameterError as refused:
                    raise InvalidParameterError(f"{kind.__name__}: {name}: {refused}") from None
        made(self, **given)

    kind.__init__ = init  # type: ignore[misc]
    return kind


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """Return what reads a field of that type; None where it holds no exact number."""
    parts = typing.get_args(hint)
    if hint is Fraction:
        return exact
    if typing.get_origin(hint) is tuple and parts == (Fraction, ...):
        return _each
    if isinstance(hint, types.UnionType) and Fraction in parts:
        others = tuple(part for part in parts if part is not Fraction)
        return lambda value: value if isinstance(value, others) else exact(value)
    return None


def _each(values: object) -> tuple[Fraction, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidParameterError("Expected a list of numbers.")
    return tuple(map(exact, values))


def as_decimal(value: Fraction) -> Decimal:
    """Return a fraction in the digits of the current decimal context."""
    return Decimal(value.numerator) / value.denominator


def require_exact_delta(delta: object) -> None:
    """Refuse what is no exact δ in (0, 1).

    Raises:
        InvalidParameterError: Then.
    """
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise InvalidParameterError(f"Expected an exact delta in (0, 1), got delta={delta}.")
