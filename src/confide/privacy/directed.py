"""Logarithms and exponentials of fractions, rounded exactly in a named direction.

⌊grid·ln x⌋ and its kin are found by evaluating with more and more digits until the error interval
holds no integer boundary (Ziv's strategy).  The loop ends because ln and exp of a rational are
irrational, except ln 1 and exp 0, which are answered apart.

*Privacy:* a cap rounded up, or a loss rounded down, by one float ulp is a false claim.  Nothing
here passes through a float.

References:
    [Ziv91] Ziv. Fast evaluation of elementary mathematical functions with correctly rounded last
        bit. ACM TOMS 17(3), 1991. https://doi.org/10.1145/114697.116813
"""

import decimal
import itertools
from collections.abc import Callable
from fractions import Fraction

from confide.errors import InvalidParameterError

_LARGEST_EXPONENT = 10_000  # e^10000 has 4343 digits; beyond that a promise means nothing


def log_floor(value: Fraction, *, grid: int) -> int:
    """Return ⌊grid·ln(value)⌋ exactly.

    Raises:
        InvalidParameterError: If ``value`` is not greater than 0.

    Example:
        The legal cap "the odds about any one patient change by at most 1.5", in 1e-9 nats:

        >>> log_floor(Fraction("1.5"), grid=10**9)
        405465108
    """
    if value <= 0:
        raise InvalidParameterError(f"Expected value > 0, got value={value}.")
    return 0 if value == 1 else _floor(lambda digits: _log(value, digits=digits), grid=grid)


def log_ceil(value: Fraction, *, grid: int) -> int:
    """Return ⌈grid·ln(value)⌉ exactly.

    Example:
        Randomised response that is truthful with 3/4 reveals at most ln 3, here rounded up:

        >>> log_ceil(Fraction(3), grid=1000)
        1099
    """
    return log_floor(value, grid=grid) + (value != 1)


def exp_floor(exponent: Fraction, *, grid: int) -> int:
    """Return ⌊grid·e^exponent⌋ exactly.

    Raises:
        InvalidParameterError: If ``exponent`` is greater than 10,000.

    Example:
        >>> exp_floor(Fraction("0.01"), grid=10**5)  # odds change by 1.01005 at ε = 0.01
        101005
    """
    if exponent > _LARGEST_EXPONENT:
        raise InvalidParameterError(
            f"Expected an exponent ≤ {_LARGEST_EXPONENT}, got {float(exponent):.6g}.",
            hint="A loss of that size protects nobody; losses for health records are near 1.",
        )
    return (
        grid if exponent == 0 else _floor(lambda digits: _exp(exponent, digits=digits), grid=grid)
    )


def exp_ceil(exponent: Fraction, *, grid: int) -> int:
    """Return ⌈grid·e^exponent⌉ exactly.

    Example:
        >>> exp_ceil(Fraction(1, 2), grid=1000)  # 1.6487… rounded up
        1649
    """
    return exp_floor(exponent, grid=grid) + (exponent != 0)


def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _quotient(value: Fraction, context: decimal.Context) -> decimal.Decimal:
    return context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _log(value: Fraction, *, digits: int) -> tuple[Fraction, Fraction]:
    """Return ln(value) and a bound of its error."""
    context = _context(digits)
    centre = Fraction(context.ln(_quotient(value, context)))
    # The quotient and ln are each correctly rounded: relative errors of at most 10^(1-digits).
    return centre, (1 + abs(centre)) * Fraction(1, 10 ** (digits - 2))


def _exp(exponent: Fraction, *, digits: int) -> tuple[Fraction, Fraction]:
    """Return e^exponent and a bound of its error."""
    context = _context(digits)
    centre = Fraction(context.exp(_quotient(exponent, context)))
    # d(e^x) = e^x dx, and dx ≤ |x|·10^(1-digits); one more relative error for exp itself.
    return centre, centre * (1 + abs(exponent)) * Fraction(1, 10 ** (digits - 2))


def _floor(evaluate: Callable[[int], tuple[Fraction, Fraction]], *, grid: int) -> int:
    """Return ⌊grid·x⌋, refining the interval of x until both ends agree."""
    for digits in itertools.count(40, 40):
        centre, radius = evaluate(digits)
        low, high = (grid * (centre - radius)).__floor__(), (grid * (centre + radius)).__floor__()
        if low == high:
            return low
    raise AssertionError  # unreachable: ln and exp of a rational are irrational here
