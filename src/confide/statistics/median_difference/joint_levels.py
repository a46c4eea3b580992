"""Levels of two intervals that hold two numbers together.

*Lemma:* let I(l), J(l) be families of intervals that grow with l, from independent data, each of
which holds its number with probability at least l.  For pairs (sᵢ, tᵢ), s falling and t rising, the
two numbers lie together in some I(sᵢ) × J(tᵢ) with probability at least Σ(sᵢ − sᵢ₊₁)·tᵢ, with
0 after the last s.  For I(sᵢ) holds the first number for i up to some K, with P(K ≥ i) ≥ sᵢ, and
given K, J(t_K) holds the second with probability at least t_K, which rises with K.  So whatever the
two numbers are, their difference lies between the least and the greatest of J(tᵢ) − I(sᵢ) as often.

The pairs lie on a circle: sᵢ = P(|N| ≤ c·cos θᵢ), tᵢ = P(|N| ≤ c·sin θᵢ) with N normal, and c makes
the sum the level.  *Utility:* the interval is at most 1.29 times as long as one whose errors are
known to be normal, however unequal the groups; one pair alone, each √level, is up to 1.61 times as
long.  Normal errors (Newcombe's square root of summed squares) cannot be taken for granted: where
values heap, each of two medians may be at either of two heaps, and both at once.
"""

import math
from functools import lru_cache

_PAIRS = 8
_HALVINGS = 60


@lru_cache(maxsize=16)
def joint_levels(level: float) -> tuple[tuple[float, float], ...]:
    """Return the pairs of levels.

    Example:
        >>> pairs = joint_levels(0.95)
        >>> len(pairs), [round(l, 3) for l in pairs[0]], [round(l, 3) for l in pairs[-1]]
        (8, [0.989, 0.197], [0.197, 0.989])
    """
    low, high = 0.0, 40.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _held(_pairs(middle)) < level else (low, middle)
    return _pairs(high)


def _pairs(radius: float) -> tuple[tuple[float, float], ...]:
    angles = [(i + 0.5) * math.pi / (2 * _PAIRS) for i in range(_PAIRS)]
    within = [math.erf(radius * math.cos(angle) / math.sqrt(2)) for angle in angles]
    return tuple(zip(within, reversed(within), strict=True))


def _held(pairs: tuple[tuple[float, float], ...]) -> float:
    """Return how often one of the pairs holds both numbers at least."""
    after = [s for s, _ in pairs[1:]] + [0.0]
    return sum((s - less) * t for (s, t), less in zip(pairs, after, strict=True))
