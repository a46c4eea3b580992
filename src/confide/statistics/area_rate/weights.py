"""Whole weights of areas by their public size: the same error of the rate, and who loses how much.

*Law:* areas of one patient each are disjoint, so a plan costs what the most exposed patient loses:
the maximum over areas, not their sum [McS09, thm 4].  A count with weight w, noised at scale b with
the rest, is known to b/w, and a patient there loses w/b of ε (w²/(2σ²) of ρ).  For a given charge
no weights, and no further measurement of some areas alone, give any area less noise than equal
weights do, as b grows with the largest weight: small areas are not made better by making large ones
worse.  What weights do buy: an area of n residents needs only w ∝ 1/n for the same error of its
rate, so patients of large areas lose less, at no cost to small areas.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Sequence

FULL = 1024
"""Weight of the areas that get the whole budget; the others are rounded up to parts of it."""


def weights_by_size(sizes: Sequence[int], *, full_up_to: int) -> tuple[int, ...]:
    """Return w = FULL up to a size, and above it FULL·size/n rounded up, so never below 1.

    Example:
        >>> weights_by_size((9, 2_000, 4_000, 9_000_000), full_up_to=2_000)
        (1024, 1024, 512, 1)
    """
    return tuple(FULL if size <= full_up_to else -(-FULL * full_up_to // size) for size in sizes)
