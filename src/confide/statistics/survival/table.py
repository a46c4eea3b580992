"""A noisy table of exits with the law of its noise, for one or more arms.

The noise stays in it: counts may be negative, and those at risk may rise.  So every curve is a
ratio of unbiased sums; only what is published is made monotone.  Projecting the counts on what is
possible first (none negative, same total) would make curves of many events worse, as it shifts
them by up to a standard error (docs/design/014-survival.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.plans.estimation.intervals import Component
from confide.statistics.survival.curves import Array, at_risk
from confide.statistics.survival.grouping import by_cells, early_shares, moved
from confide.statistics.survival.uncertainty import noise_slopes

MOST_LEAVING = 0.25
"""Share of those at risk who may leave in a bin of several times, with some who are censored."""
LEAST_AT_RISK = 7.0
"""Standard deviations of its noise below which a number at risk carries no curve further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitTable:
    """Exits of each arm, with their noise.

    Attributes:
        exits: (..., arms, bins + 1, causes + 1); the last bin is beyond the horizon, the last way
            to leave is censoring.
        edges: Of the bins before the horizon, in steps of the grid, (bins + 1,).
        noise: Of one measured count.
        mixing: How the cells of an arm are made of its measured counts, (cells, counts), or of
            which cell each count is a part, (counts,); None where each cell is a count.
    """

    exits: Array
    edges: Array
    noise: Component
    mixing: Array | None = None

    @property
    def widths(self) -> Array:
        """Steps of each bin, (bins,)."""
        return np.diff(self.edges)

    @property
    def at_risk(self) -> Array:
        """Noisy number at risk at each edge, (..., arms, bins + 1)."""
        return at_risk(self.exits)

    @property
    def early(self) -> Array:
        """Return which share of a bin somebody who leaves in it is not there, (bins,)."""
        return early_shares(self.edges)

    @property
    def grouped(self) -> Array:
        """Exits of which curves are made: who is censored inside a bin is there for half of it."""
        return self.group(self.exits)

    def wide(self) -> Array:
        """Return until where a bin of several times loses too many for even hazards in it.

        Shape (..., arms, bins); true from the first such bin on.
        """
        risk, leaving = self.at_risk[..., :-1], self.exits[..., :-1, :].sum(axis=-1)
        lost = (leaving > MOST_LEAVING * risk) & (self.exits[..., :-1, -1] > 0) & (self.early > 0)
        found: Array = np.logical_or.accumulate(lost, axis=-1)
        return found

    def group(self, exits: Array) -> Array:
        """Return exits in these bins as curves take them."""
        return moved(exits, early=self.early)

    def by_cells(self, slopes: Array) -> Array:
        """Return derivatives by the cells from those by the cells of ``grouped``."""
        return by_cells(slopes, early=self.early, ways=self.exits.shape[-1])

    def count_deviation(self, *, of: Array) -> Array:
        """Return the noise's standard deviation of sums of cells of one arm.

        Args:
            of: Which cells, (bins + 1, causes + 1, sums), with weights.
        """
        felt = noise_slopes(of.reshape(-1, of.shape[-1]), mixing=self.mixing)
        found: Array = np.sqrt(self.noise.variance * (felt**2).sum(axis=0))
        return found

    def usable(self) -> Array:
        """Return in which bins enough are at risk to carry the curve, (..., arms, bins)."""
        return self._enough(self.at_risk, arms=1)

    def usable_together(self) -> Array:
        """Return in which bins enough of all arms together are at risk, (..., bins)."""
        return self._enough(self.at_risk.sum(axis=-2), arms=self.exits.shape[-3])

    def risk_noise(self) -> Array:
        """Return the noise's variance of the number at risk in each bin, (bins,)."""
        return self.count_deviation(of=self._later()) ** 2

    def margin(self) -> Array:
        """Return how far above its threshold each number at risk is, in deviations of noise."""
        deviation = np.sqrt(self.risk_noise())
        with np.errstate(divide="ignore", invalid="ignore"):
            above = (
                self.at_risk[..., :-1] - np.maximum(LEAST_AT_RISK * deviation, 1.0)
            ) / deviation
        return np.maximum(np.nan_to_num(above, nan=np.inf, posinf=np.inf), 0.0)

    def _later(self) -> Array:
        """Return which cells are at risk in each bin, (bins + 1, causes + 1, bins)."""
        bins, ways = self.exits.shape[-2:]
        return np.repeat(np.tri(bins)[:, None, : bins - 1], ways, axis=1)

    def _enough(self, risk: Array, *, arms: int) -> Array:
        bins, ways = self.exits.shape[-2:]
        later = np.repeat(np.tri(bins)[:, None, :], ways, axis=1)
        least = LEAST_AT_RISK * np.sqrt(arms) * self.count_deviation(of=later)
        found: Array = np.logical_and.accumulate(
            (risk >= np.maximum(least, 1.0))[..., :-1], axis=-1
        )
        return found

    def until(self, kept: Array) -> Array:
        """Return the exits with all bins that are not ``kept``, (..., bins), taken as censored.

        They count as followed beyond the horizon, so what is at risk in a kept bin stays.
        """
        inside = self.exits[..., :-1, :] * kept[..., None, :, None]
        rest = self.exits.sum(axis=(-2, -1)) - inside.sum(axis=(-2, -1))
        beyond = np.zeros_like(self.exits[..., -1:, :])
        beyond[..., 0, -1] = rest
        return np.concatenate([inside, beyond], axis=-2)


def exit_mixing(ways: Sequence[int], *, bins: int, causes: int) -> Array:
    """Return of which cell each count of an exit histogram is a part, (counts,).

    Args:
        ways: For each category of the status, its place among the ways to leave; ``causes`` is
            censoring.
        bins: Before the horizon.
        causes: Number of causes.
    """
    found: Array = (np.arange(bins + 1)[:, None] * (causes + 1) + np.array(ways)).reshape(-1)
    return found


def mixed(counts: Array, mixing: Array) -> Array:
    """Return the cells of each arm from its measured counts, (arms, cells)."""
    if mixing.ndim == 1:
        return np.stack([np.bincount(mixing, weights=each) for each in counts])
    cells: Array = counts @ mixing.T
    return cells


def point_mixing(ways: Sequence[int], *, bins: int, causes: int) -> Array:
    """Return how cells are made of counts before and after each time point.

    Counts are in the order (time point, before or after, category).  Those before one point minus
    those before the last are the exits of a bin; who is left at the horizon is the mean of all
    totals minus those before it.
    """
    labels = len(ways)
    found = np.zeros((bins + 1, causes + 1, bins, 2, labels))
    for label, way in enumerate(ways):
        for place in range(bins):
            found[place, way, place, 0, label] += 1.0
            found[place + 1, way, place, 0, label] -= 1.0
    found[bins] = 0.0  # nobody leaves beyond the horizon by an event
    found[bins, causes] = 1.0 / bins
    found[bins, causes, bins - 1, 0] -= 1.0
    return found.reshape((bins + 1) * (causes + 1), -1)
