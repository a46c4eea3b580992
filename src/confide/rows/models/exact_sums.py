"""Sums of products over many rows of whole numbers: exact, at the speed of the matrix library.

A block of rows is multiplied in float64, where sums below 2⁵³ are exact in any order; blocks are
added in 64 bits, and these in Python's integers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints

BLOCK = 2**15
"""Rows that are multiplied at once: sums over them stay below 2⁵³."""
BLOCKS = 2**12
"""Blocks that are summed in 64 bits."""


def products(rows: Floats) -> NDArray[Any]:
    """Return Σ row·rowᵀ."""
    return _total(
        lambda block: rows[block].T @ rows[block], rows=len(rows), like=rows[:0].T @ rows[:0]
    )


def weighted_sums(rows: Floats, weights: Ints) -> list[int]:
    """Return Σ weight·row."""
    factors = weights.astype(np.float64)
    found = _total(
        lambda block: factors[block] @ rows[block], rows=len(rows), like=factors[:0] @ rows[:0]
    )
    return [int(value) for value in found]


def _total(of: Callable[[slice], Floats], *, rows: int, like: Floats) -> NDArray[Any]:
    """Return the sum over blocks of rows: each exact in float64, together in Python's integers."""
    total = np.zeros(like.shape, dtype=object)
    for start in range(0, rows, BLOCK * BLOCKS):
        part = np.zeros(like.shape, dtype=np.int64)
        for first in range(start, min(rows, start + BLOCK * BLOCKS), BLOCK):
            part += of(slice(first, first + BLOCK)).astype(np.int64)
        total = total + part.astype(object)
    return total
