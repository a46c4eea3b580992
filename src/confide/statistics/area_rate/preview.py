"""The equity preview: the error that areas of each size will have, known before anything is spent.

*Utility:* noise is the same for a count of 3 and of 3,000, so the rate of an area of n people has
the expected error E|Z|/(w·n), w being its weight: for each halving of n it doubles.  Areas go in
five groups of increasing public size, and the area of median size speaks for its group.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.noise.mechanism import NoiseLaw
from confide.plans.estimates import PartForecast
from confide.plans.estimation.intervals import noise_component, quantile
from confide.privacy.measure import Measure

FIFTHS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedArea:
    """One area.

    Attributes:
        size: People, or planned rows; at least 1.
        weight: Of its count.
    """

    size: int
    weight: int


def error_of(area: SizedArea, *, noise: NoiseLaw, level: float, per: int) -> float:
    """Return half of the interval that covers the noise of the area's rate at ``level``."""
    single = noise_component(noise)
    width = quantile([single], level=level) * math.sqrt(single.variance)
    return per * width / (area.weight * area.size)


def by_size(
    areas: Sequence[SizedArea],
    *,
    noise: NoiseLaw,
    measure: Measure,
    level: float,
    per: int,
) -> tuple[PartForecast, ...]:
    """Return the error in each fifth of the areas, smallest areas first.

    Args:
        areas: In increasing order of size.
        noise: Of a weighted count.
        measure: How losses add up: a patient's share of the loss is w of ε and w² of ρ.
        level: Coverage of the half widths.
        per: What rates are per.
    """
    heaviest = max(area.weight for area in areas)

    def part(fifth: Sequence[SizedArea]) -> PartForecast:
        middle, first, last = fifth[len(fifth) // 2], fifth[0].size, fifth[-1].size
        share = max(area.weight for area in fifth) / heaviest
        return PartForecast(
            name=f"size {first:,}" if first == last else f"size {first:,} to {last:,}",
            cells=len(fifth),
            half_width=error_of(middle, noise=noise, level=level, per=per),
            expected_error=per * noise.mean_absolute() / (middle.weight * middle.size),
            share=share if measure is Measure.PURE else share**2,
        )

    return tuple(part(fifth) for fifth in _fifths(areas))


def _fifths(areas: Sequence[SizedArea]) -> list[Sequence[SizedArea]]:
    groups = min(FIFTHS, len(areas))
    edges = [len(areas) * place // groups for place in range(groups + 1)]
    return [areas[edges[place] : edges[place + 1]] for place in range(groups)]
