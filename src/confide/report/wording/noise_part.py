"""Which part of the width of an interval is privacy noise.

Where a statistic publishes an interval of the noise beside the wider one, it is the one's width
over the other's.  Where it publishes one that holds sampling and noise together, its estimator is
asked again, with the same noisy numbers and noise that is said to be a little smaller: the squared
width is Q²·(S + N) of sampling S and noise N, to first order linear in the variance of the noise,
so what it falls by tells N/(S + N).  Nothing is drawn and nothing is measured again.

*Privacy:* a function of plan and noisy numbers.
*Utility:* of the example studies it agrees with the two published widths to two digits, where both
are there.  An estimator whose S is what is left of a noisy spread may say a little too much.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.drawing.cells import Cell, cells_of
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import Mechanism
from confide.plans.estimates import Covers
from confide.plans.plan import Statistic
from confide.plans.simulation import Simulation

if TYPE_CHECKING:
    from confide.report.release import Release

_SHRUNK = Fraction(31, 32)
"""Scale of the noise that is asked about, over that of the noise that was drawn."""


def noise_part(release: "Release", statistic: Statistic) -> float | None:
    """Return which part of the width of the intervals is noise, in the middle over the numbers.

    Args:
        release: What is reported.
        statistic: One of its statistics.

    Returns:
        Between 0 and 1; None where no interval covers sampling, or none has a width.
    """
    cells = [cell for cell in cells_of(release.of(statistic)) if _wide(cell)]
    parts = [
        min(1.0, (cell.inner[1] - cell.inner[0]) / (2 * cell.half_width))
        for cell in cells
        if cell.inner is not None
    ]
    if not parts and cells and release.made_of is None:
        parts = list(_derived(release, statistic, cells))
    return statistics.median(parts) if parts else None


def _wide(cell: Cell) -> bool:
    both = cell.covers is Covers.SAMPLING_AND_NOISE
    return both and cell.value is not None and cell.outer is not None and cell.half_width > 0


def _derived(release: "Release", statistic: Statistic, cells: Sequence[Cell]) -> Iterator[float]:
    """Yield the part of each number whose interval is there with the smaller noise too."""
    noisy, plan = release.noisy, release.plan
    measured = zip(plan.measurements, noisy.values, strict=True)
    smaller = statistic.estimate(
        {asked.name: value for asked, value in measured if asked.statistic == statistic.id},
        mechanisms=_shrunk(plan.mechanisms(statistic.id)),
        dataset=plan.dataset,
        simulation=Simulation(payload_digest=noisy.digest()),
    )
    then = {(cell.quantity, cell.key): cell for cell in cells_of(smaller)}
    for cell in cells:
        other = then.get((cell.quantity, cell.key))
        if other is not None and _wide(other):
            left = (other.half_width / cell.half_width) ** 2
            part = (1 - left) / (1 - float(_SHRUNK**2))
            yield math.sqrt(min(1.0, max(0.0, part)))


def _shrunk(mechanisms: Mapping[str, Mechanism]) -> dict[str, Mechanism]:
    """Return mechanisms whose added noise is a little smaller; choices are as they were."""
    return {name: _smaller(mechanism) for name, mechanism in mechanisms.items()}


def _smaller(mechanism: Mechanism) -> Mechanism:
    match mechanism:
        case DiscreteGaussian(sigma_squared=variance):
            return replace(mechanism, sigma_squared=variance * _SHRUNK**2)
        case DiscreteLaplace(scale=scale) | PolyaDifference(scale=scale):
            return replace(mechanism, scale=scale * _SHRUNK)
        case _:
            return mechanism
