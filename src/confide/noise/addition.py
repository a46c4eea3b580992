"""Add integer noise to exact integers, without wrapping.

Two shapes of input, one law.  An ``int64`` array gives an ``int64`` array: where a sum would leave
[−2⁶³, 2⁶³), it is held at the end of that range, which is a function of the noisy value and thus
post-processing.  A sequence of Python integers (exact sums may reach 2¹²⁶) gives a tuple of them.

*Privacy:* no check here depends on the exact values, so none can fail because of them; a wrapped
sum, by contrast, would put neighbouring data sets 2⁶⁴ apart.

References:
    [Casa22] Casacuberta, Shoemate, Vadhan, Wagaman. Widespread underestimation of sensitivity in
        differentially private libraries and how to fix it. CCS 2022, sec. 5.
        https://arxiv.org/abs/2207.10635
"""

import operator
from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError


@overload
def add_noise(exact: NDArray[np.int64], *, noise: NDArray[np.int64]) -> NDArray[np.int64]: ...
@overload
def add_noise(exact: Sequence[int], *, noise: NDArray[np.int64]) -> tuple[int, ...]: ...
def add_noise(
    exact: NDArray[np.int64] | Sequence[int], *, noise: NDArray[np.int64]
) -> NDArray[np.int64] | tuple[int, ...]:
    """Return ``exact`` + ``noise`` in the shape of ``exact``.

    Args:
        exact: An int64 array, or a flat sequence of Python integers of any size.
        noise: As many noise values, flat.

    Raises:
        InvalidParameterError: If an array is not int64: floats are clipped and rounded earlier.

    Example:
        >>> add_noise([412, 2**100], noise=np.array([-3, 1]))
        (409, 1267650600228229401496703205377)
    """
    if not isinstance(exact, np.ndarray):
        return tuple(operator.index(x) + z for x, z in zip(exact, noise.tolist(), strict=True))
    if exact.dtype != np.int64:
        raise InvalidParameterError(
            f"Expected an int64 array, got {exact.dtype}.",
            hint="Quantise to the column's integer grid before summing.",
        )
    shaped = noise.reshape(exact.shape)
    total = exact + shaped
    wrapped = ((exact ^ total) & (shaped ^ total)) < 0
    limits = np.iinfo(np.int64)
    return np.where(wrapped, np.where(shaped > 0, limits.max, limits.min), total)
