"""Numbers that sites add: whole numbers within a bound, and fractions on a binary grid.

*Law.*  A number x on the grid of 2⁻ᵏ is the whole number x·2ᵏ, rounded half to even; sums of whole
numbers are exact.  No site's number is above the bound, and n·bound < 2⁶³, so no sum wraps and a
sum read as a signed number is the sum.
"""

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError

MOST_BITS = 52


def to_whole(values: NDArray[np.float64], *, bits: int, bound: int) -> NDArray[np.int64]:
    """Return numbers as whole multiples of 2^−bits.

    Args:
        values: Any shape, float64.
        bits: In [0, 52].
        bound: Largest absolute value of a result, below 2⁶³.

    Raises:
        InvalidParameterError: If a value is not finite or beyond the bound, or ``bits`` is not in
            its range.  The text tells no value.

    Example:
        >>> to_whole(np.array([0.5, -1.25]), bits=2, bound=100)
        array([ 2, -5])
    """
    if not 0 <= bits <= MOST_BITS:
        raise InvalidParameterError(f"Expected bits from 0 to {MOST_BITS}, got {bits}.")
    with np.errstate(over="ignore"):
        scaled = np.rint(np.ldexp(np.asarray(values, dtype=np.float64), bits))
    if not bool(np.all(np.abs(scaled) < 2.0**63)):  # NaN and infinity are not
        raise InvalidParameterError("Expected finite numbers within the bound.")
    whole = scaled.astype(np.int64)
    require_within(whole, bound=bound)
    return whole


def from_whole(whole: NDArray[np.int64], *, bits: int) -> NDArray[np.float64]:
    """Return whole multiples of 2^−bits as numbers, rounded to float64.

    Example:
        >>> from_whole(np.array([2, -5]), bits=2)
        array([ 0.5 , -1.25])
    """
    return np.ldexp(whole.astype(np.float64), -bits)


def require_within(vector: NDArray[np.int64], *, bound: int) -> None:
    """Refuse a vector that is not of whole numbers within the bound.

    Raises:
        InvalidParameterError: The text tells no value.

    Example:
        >>> require_within(np.array([3, -3]), bound=3)
    """
    if vector.dtype != np.int64:
        raise InvalidParameterError(f"Expected whole numbers of int64, got {vector.dtype}.")
    if vector.size and not (-bound <= int(vector.min()) and int(vector.max()) <= bound):
        raise InvalidParameterError(
            "Expected numbers within the bound of the round.",
            hint="The bound has to hold a site's largest sum and its noise.",
        )
