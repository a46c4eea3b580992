"""How many cells of a number are asked for, in one round or two: public, before any row is read.

*Utility:* with many cells the noise of all adds up in the ranks, with few a quantile is known to
the width of a cell alone.  Which are best depends on r, the planning number of rows of a group
beside the noise that the whole charge would bring to one count, and on how many quantiles are
sought; the table was found by simulation over laws of many shapes
(``docs/design/045-quantiles-in-two-rounds.md``).

The first cells are cut at the places of two rulers, one even and one that gets finer towards the
lower bound, as nobody has to say whether values are skewed: what one of them cuts too coarsely, the
other does not.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import NoiseLaw
from confide.tables.aggregates.shapes import Refined

_UNKNOWN = 300.0  # as r, where nobody says how many rows there are
_MOST_ROWS = Fraction(10**15)
_MANY = math.inf

# Up to which r: cells of the first round, and cells of a quantile in the second; 0: no second.
# One table for one quantile, one for up to four, one for more.
_Rule = tuple[float, tuple[int, int]]
_FEW = (12, (8, 0))
_PURE: tuple[tuple[_Rule, ...], ...] = (
    (_FEW, (60, (16, 8)), (180, (32, 8)), (1500, (64, 16)), (_MANY, (128, 16))),
    (_FEW, (180, (16, 8)), (700, (64, 16)), (_MANY, (128, 16))),
    ((25, (8, 0)), (70, (16, 4)), (450, (16, 8)), (1500, (64, 16)), (_MANY, (128, 16))),
)
_CONCENTRATED: tuple[tuple[_Rule, ...], ...] = (
    (_FEW, (70, (16, 8)), (450, (64, 8)), (1500, (64, 16)), (_MANY, (128, 16))),
    (_FEW, (70, (16, 4)), (180, (32, 8)), (600, (64, 8)), (_MANY, (128, 16))),
    (_FEW, (180, (16, 4)), (450, (32, 8)), (1500, (64, 8)), (_MANY, (128, 16))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLayout:
    """Which cells are asked for.

    Attributes:
        rough: Edges of the first round between known values, as places on the fine grid.
        even: Those of the even ruler.
        cuts: Most cells of one quantile in the second round; 0 where there is none.
        wanted: Cells of the second round, where no two quantiles are near.
        length: Numbers of the second answer of one group.
        weights: What a row adds in each round.
        missing: Cells of unknown values in each round, 0 or 1.
    """

    rough: tuple[int, ...]
    even: tuple[int, ...]
    cuts: int
    wanted: int
    length: int
    weights: tuple[int, int]
    missing: int

    @property
    def first(self) -> int:
        """Numbers of the first answer of one group."""
        return len(self.rough) - 1 + self.missing


def layout(aggregate: Refined, mechanism: NoiseLaw) -> CellLayout:
    """Return the cells that suit the noise."""
    a, b = aggregate.weights
    pure = not isinstance(mechanism, DiscreteGaussian)
    whole = deviation(mechanism) / (a + b if pure else math.sqrt(a * a + b * b))
    r = _UNKNOWN if aggregate.expect is None else float(min(aggregate.expect, _MOST_ROWS)) / whole
    sought = len(aggregate.at)
    rules = (_PURE if pure else _CONCENTRATED)[0 if sought == 1 else 1 if sought <= 4 else 2]
    cells, cuts = next(found for most, found in rules if r < most)
    once, missing = (aggregate.once, aggregate.once), int(aggregate.missing)
    return CellLayout(
        rough=rough_edges(aggregate.fine, cells=cells),
        even=even_edges(aggregate.fine, cells=cells),
        cuts=cuts,
        wanted=cuts * sought + 2 + missing if cuts else 0,
        length=min(aggregate.fine + 1, sought * (cuts + 1) + 1) + missing if cuts else 0,
        weights=aggregate.weights if cuts else once,
        missing=missing,
    )


def deviation(mechanism: NoiseLaw) -> float:
    """Return the standard deviation of the law without steps, at least that of the noise.

    Quotients and square roots of floats alone, which every machine rounds alike; and above 0, also
    where there is next to no noise.

    Example:
        >>> deviation(DiscreteGaussian(sigma_squared=Fraction(25)))
        5.0
    """
    if isinstance(mechanism, DiscreteGaussian):
        return math.sqrt(float(mechanism.sigma_squared))
    shape = mechanism.shape if isinstance(mechanism, PolyaDifference) else 1
    return math.sqrt(2.0 * float(shape)) * float(mechanism.scale)


@lru_cache(maxsize=256)
def rough_edges(fine: int, *, cells: int) -> tuple[int, ...]:
    """Return the edges of about so many public cells of a grid; its last place is one of its own.

    Example:
        >>> rough_edges(1000, cells=9)
        (0, 4, 30, 176, 250, 500, 750, 1000, 1001)
        >>> rough_edges(5, cells=9)
        (0, 1, 2, 3, 4, 5, 6)
    """
    if fine < cells:
        return tuple(range(fine + 2))
    half = max(2, cells // 2)
    steep = {_root(fine**place, half) - 1 for place in range(half)}
    return tuple(sorted({*even_edges(fine, cells=cells), *steep, fine}))


def even_edges(fine: int, *, cells: int) -> tuple[int, ...]:
    """Return those of the even ruler, with the last place in its last cell.

    Example:
        >>> even_edges(1000, cells=9)
        (0, 250, 500, 750, 1001)
    """
    if fine < cells:
        return tuple(range(fine + 2))
    half = max(2, cells // 2)
    return (*(fine * place // half for place in range(half)), fine + 1)


def _root(number: int, degree: int) -> int:
    """Return the greatest whole number whose power of that degree is at most ``number``."""
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle)
    return low
