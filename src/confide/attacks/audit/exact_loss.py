"""Exact chances of choices, from their laws and not from draws.

*Privacy:* a claim below the log-ratio of two such chances is false; one far above it wastes budget.
"""

import itertools
import math
from collections.abc import Sequence

from confide.noise.choices.quantile_set import QuantileSet, RankScores
from confide.noise.set_selection import SetSelection


def log_chance_of_set(
    choice: SetSelection, utilities: Sequence[int], chosen: Sequence[int]
) -> float:
    """Return ln P[chosen], by elementary symmetric polynomials of the weights.

    Example:
        >>> from fractions import Fraction
        >>> choice = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=4)
        >>> round(math.exp(log_chance_of_set(choice, (3, 3, 3, 3), (0, 1))), 6)  # one of six
        0.166667
    """
    best, slope = max(utilities), float(choice.slope)
    sums = [1.0] + [0.0] * choice.size  # of products of 0, 1, … k of the weights
    for utility in utilities:
        weight = math.exp(slope * (utility - best))
        for k in range(choice.size, 0, -1):
            sums[k] += weight * sums[k - 1]
    own = slope * math.fsum(utilities[i] - best for i in chosen)
    return own - math.log(sums[choice.size])


def log_chance_of_quantiles(
    choice: QuantileSet, counts: Sequence[int], chosen: Sequence[int]
) -> float:
    """Return ln P[chosen] of the values of one group, by all tuples that might be chosen.

    Example:
        >>> from fractions import Fraction
        >>> median = QuantileSet(epsilon=Fraction(1), reach=2, at=(Fraction(1, 2),), candidates=4)
        >>> round(math.exp(log_chance_of_quantiles(median, (0, 0, 0, 0), (2,))), 6)  # one of four
        0.25
    """
    scores = RankScores(counts=tuple(counts), at=choice.at, moves=choice.moves)
    slope, places = float(choice.slope), range(choice.candidates)
    all_of_them = itertools.combinations_with_replacement(places, len(choice.at))
    each = [slope * scores.of(some) for some in all_of_them]
    best = max(each)
    total = math.fsum(math.exp(one - best) for one in each)
    return slope * scores.of(chosen) - best - math.log(total)
