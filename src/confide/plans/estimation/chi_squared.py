"""The tail of the χ² law.

References:
    [AS64] Abramowitz, Stegun. Handbook of mathematical functions. 1964, sec. 26.4.
"""

import math

import numpy as np
from numpy.typing import NDArray

_erfc = np.frompyfunc(math.erfc, 1, 1)


def chi_squared_tail(q: NDArray[np.float64], *, degrees: int) -> NDArray[np.float64]:
    """Return P(χ² ≥ q) for a whole number of degrees of freedom, by its finite sum [AS64, 26.4.4].

    Example:
        >>> float(chi_squared_tail(np.array(3.841458820694124), degrees=1))
        0.05000000000000...
    """
    half = np.maximum(np.asarray(q, dtype=np.float64), 0.0) / 2
    start = 1.0 if degrees % 2 == 0 else 0.5
    with np.errstate(divide="ignore"):
        logs = np.log(half)
    total = np.exp(-half) if degrees % 2 == 0 else np.asarray(_erfc(np.sqrt(half)), dtype=float)
    for power in np.arange(start, degrees / 2):
        total = total + np.exp(power * logs - half - math.lgamma(power + 1))
    return np.minimum(total, 1.0)
