"""A release made of earlier ones, as one that tables and figures are made of.

*Privacy:* made of what was published.  A sum of noisy cells is drawn as one normal answer with the
variance of the noisiest sum; tables hold the intervals of each.
"""

import math
from fractions import Fraction

from confide.drawing.charts.outlines import Maps
from confide.drawing.labels import Labels
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.canonical import Json
from confide.plans.plan import Measurement, Noisy, Plan
from confide.plans.reuse import Answer, Same, Summed
from confide.release.noisy import NoisyAggregates
from confide.release.reused import Reused
from confide.report.release import ReusedRelease


def reused_release(
    reused: Reused, certificate: Json, *, outlines: Maps, labels: Labels | None = None
) -> ReusedRelease:
    """Return the release that tables, figures and headlines are made of."""
    pairs = [pair for each in reused.answers for pair in _measured(each)]
    plan = Plan(
        study=reused.study,
        dataset=reused.dataset,
        statistics=reused.statistics,
        measurements=tuple(measurement for measurement, _ in pairs),
    )
    return ReusedRelease(
        noisy=NoisyAggregates(plan=plan, values=tuple(values for _, values in pairs)),
        estimates=reused.estimates(),
        certificate=certificate,
        outlines=outlines,
        labels=labels or Labels(),
        reused=reused,
    )


def _measured(found: Answer) -> list[tuple[Measurement, Noisy]]:
    """Return the measurements of one statistic as if they had been made for it."""
    match found:
        case Same(statistic=statistic, of=pairs):
            return [
                (_named(earlier.measurement, statistic=statistic.id, name=name), earlier.noisy)
                for name, earlier in pairs
            ]
        case Summed(statistic=statistic, question=question):
            sums = found.sums()
            worst = max(1.0, *(each.error.variance for each in sums))
            charged = sum(earlier.measurement.nano for earlier in found.sources)
            measurement = Measurement(
                statistic=statistic.id,
                name=question.name,
                aggregate=question.aggregate,
                sensitivity=question.sensitivity,
                mechanism=DiscreteGaussian(sigma_squared=Fraction(math.ceil(worst))),
                nano=charged,
            )
            return [(measurement, tuple(round(each.value) for each in sums))]


def _named(measurement: Measurement, *, statistic: str, name: str) -> Measurement:
    return Measurement(
        statistic=statistic,
        name=name,
        aggregate=measurement.aggregate,
        sensitivity=measurement.sensitivity,
        mechanism=measurement.mechanism,
        nano=measurement.nano,
        atto=measurement.atto,
    )
