"""Amounts of privacy budget: integers on a fixed grid, never floats.

ε and ρ are counted in 1e-9 nats (*nano*), δ in 1e-18 (*atto*).  Amounts are rounded **down when
the plan is made and the noise is computed from the rounded amount**, so three thirds of a cap fit
the cap exactly, and a cap is never exceeded by rounding.

*Privacy:* ⌊a⌋ + ⌊b⌋ ≤ ⌊a+b⌋, so shares rounded down never pass a total rounded down.
*Utility:* at most 1e-9 nats of a share is lost.

References:
    [IEEE754] IEEE standard for floating-point arithmetic. 2019 (0.1 is not 1/10 there).
        https://doi.org/10.1109/IEEESTD.2019.8766229
"""

from collections.abc import Sequence
from fractions import Fraction

from confide.errors import InvalidParameterError
from confide.privacy.exact import Number, exact

NANO = 10**9
"""Steps of ε and ρ in one nat."""

ATTO = 10**18
"""Steps of δ in one."""


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
