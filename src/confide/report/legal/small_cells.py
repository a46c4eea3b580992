"""What noise does to small cells: how often an empty cell seems occupied, and a small one empty.

Chances follow from the law of the noise, exactly; they hold before and after publication alike, and
for every cell of a count.

*Privacy:* a function of the plan, which is public.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import NoiseLaw
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Measurement, Plan, Statistic
from confide.tables.aggregates.shapes import Counting

SMALL = 5
"""Size of a small cell in the table of chances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellNoise:
    """The noise on the cells of one counting statistic.

    Attributes:
        statistic: Which.
        median: Half of the errors are at most this, in rows or persons.
        most: 95 % of them are.
        seems_occupied: Chance that a cell of 0 is published as ``SMALL`` or more.
        seems_empty: Chance that a cell of ``SMALL`` is published as 0 or less.
    """

    statistic: Statistic
    median: int
    most: int
    seems_occupied: float
    seems_empty: float


def small_cells(plan: Plan) -> tuple[CellNoise, ...]:
    """Return the noise on each statistic that counts and nothing else."""
    found = []
    for statistic in plan.statistics:
        noise = next(_laws(plan, statistic), None)
        if noise is not None:
            found.append(
                CellNoise(
                    statistic=statistic,
                    median=noise.half_width(0.5),
                    most=noise.half_width(0.95),
                    seems_occupied=1 - noise.cdf(SMALL - 1),
                    seems_empty=noise.cdf(-SMALL),
                )
            )
    return tuple(found)


def _laws(plan: Plan, statistic: Statistic) -> Iterator[NoiseLaw]:
    measured = plan.of(statistic.id)
    if not all(map(_counts, measured)):
        return
    for measurement in measured:
        match measurement.mechanism:
            case DiscreteLaplace() | DiscreteGaussian() | PolyaDifference() as noise:
                yield noise
            case KeyThreshold() as threshold:
                yield threshold.noise()
            case _:
                pass


def _counts(measurement: Measurement) -> bool:
    return isinstance(measurement.aggregate, Counting) and measurement.aggregate.counts
