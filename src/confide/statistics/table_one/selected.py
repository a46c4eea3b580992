"""A standardised difference that is shown only where the noise leaves its denominator: given that.

d = D/√S of a difference D of means and their pooled variance S, both noisy.  Where S is not far
above its noise, d is shown only when the noise made S large, so what is shown is drawn to 0.  The
interval is that of the law *given that S is shown*, which is so from t on [LSST16].  For each d, S
is the likeliest on D = d·√S, and the distance from there along the normal, in deviations, is normal
and cut where S would be hidden.

*Utility:* a variance that would be shown in fewer than one release of forty is not thought of; so
intervals have two ends, and hold the truth as often as they say wherever more than that are shown.

References:
    [LSST16] Lee, Sun, Sun, Taylor. Exact post-selection inference, with application to the lasso.
        Annals of Statistics 44(3), 2016. https://doi.org/10.1214/15-AOS1371
"""

import math
from dataclasses import dataclass

import numpy as np

LEAST = 4.0
"""Standard deviations of its noise below which a pooled variance carries no difference."""
_UNTHOUGHT = 0.5
"""Share of the least variance shown below which none is thought of: two deviations below it."""
_ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencePair:
    """A difference of means and a pooled variance, as shares of U − L and of its square.

    Attributes:
        difference: D.
        pooled: S, at least ``shown``.
        shown: t, from which on S is shown.
        of_difference: Variance of D.
        of_pooled: Variance of S.
        both: Their covariance.
    """

    difference: float
    pooled: float
    shown: float
    of_difference: float
    of_pooled: float
    both: float

    @property
    def ratio(self) -> float:
        """D over the root of S."""
        return self.difference / math.sqrt(self.pooled)

    @property
    def slopes(self) -> tuple[float, float]:
        """How d moves with D and with S."""
        return 1 / math.sqrt(self.pooled), -self.ratio / (2 * self.pooled)

    def interval(self, *, level: float, longer: float) -> tuple[float, float]:
        """Return every d that neither tail rejects, given that S is shown.

        Args:
            level: Coverage.
            longer: Quantile of the error of d over that of a normal one; at least 1.
        """
        low, high = (self._end(side, tail=(1 - level) / 2, longer=longer) for side in (-1, 1))
        return low, high

    def _end(self, side: int, *, tail: float, longer: float) -> float:
        near, reach = self.ratio, 1.0
        while self._tail(near + side * reach, side=side, longer=longer) >= tail:
            reach *= 2
        far = near + side * reach
        for _ in range(_ROUNDS):
            middle = (near + far) / 2
            if self._tail(middle, side=side, longer=longer) >= tail:
                near = middle
            else:
                far = middle
        return far

    def _tail(self, d: float, *, side: int, longer: float) -> float:
        """Return how likely D/√S is as far as it was seen from d, on the other side of ``side``."""
        least = math.sqrt(_UNTHOUGHT * self.shown)
        root = self._likeliest(d, least=least)
        off, away = self.pooled - root**2, self.difference - d * root
        spread = 4 * root**2 * self.of_difference + d**2 * self.of_pooled - 4 * root * d * self.both
        deviation = longer * math.sqrt(spread)
        at = side * (2 * root * away - d * off) / deviation
        shared = side * (2 * root * self.both - d * self.of_pooled)
        found = _below(at)
        if shared and found:
            # S is shared/deviation·z and what is independent of z: shown on one side of `edge`
            edge = at - (self.pooled - self.shown) * deviation / (longer**2 * shared)
            found = found / _below(edge) if shared < 0 else 1 - _below(-at) / _below(-edge)
        if root > least:
            return found
        # no smaller S is thought of: what D alone says of this one, which S does not choose
        of_rest = self.of_difference - self.both**2 / self.of_pooled
        rest = away - self.both / self.of_pooled * off
        return min(found, _below(side * rest / (longer * math.sqrt(of_rest))))

    def _likeliest(self, d: float, *, least: float) -> float:
        """Return the root, at least ``least``, of the likeliest S where D = d·√S."""
        a, b, c = self.of_pooled, -self.both, self.of_difference

        def distance(root: float) -> float:
            first, second = self.difference - d * root, self.pooled - root**2
            return a * first**2 + 2 * b * first * second + c * second**2

        slope = [
            4 * c,
            6 * b * d,
            2 * a * d**2 - 4 * b * self.difference - 4 * c * self.pooled,
            -2 * d * (a * self.difference + b * self.pooled),
        ]
        # flat places that rounding made complex are as good
        places = (max(least, float(place.real)) for place in np.roots(slope))
        return min((least, math.sqrt(self.pooled), *places), key=distance)


def _below(z: float) -> float:
    """Return the chance of a normal number below z."""
    return math.erfc(-z / math.sqrt(2)) / 2
