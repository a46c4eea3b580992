"""What is published of how a model of counts does on held-out patients."""

from collections.abc import Iterator

from confide.plans.estimates import Covers, Estimate
from confide.statistics.person_time.held_out_rates import Measure, RateEvaluation

HELD_OUT = "held out"
TOO_FEW = "too few held out"
RATIO = "observed to expected"


def published_rates(
    found: RateEvaluation, *, statistic: str, level: float, rate: float, unit: str
) -> tuple[Estimate, ...]:
    """Return the estimates of an evaluation.

    Args:
        found: The evaluation.
        statistic: Id of the statistic.
        level: Coverage of each interval.
        rate: Bound of the events over that of the person-time.
        unit: Of a rate.
    """

    def one(quantity: str, key: str, measure: Measure, *, times: float = 1.0) -> Estimate:
        bounded = measure.lower is not None and measure.upper is not None
        shown = found.usable and bounded
        return Estimate(
            statistic=statistic,
            quantity=quantity,
            key=(key,),
            value=times * measure.value if shown else None,
            standard_error=times * measure.error if shown else None,
            lower=times * measure.lower if shown and measure.lower is not None else None,
            upper=times * measure.upper if shown and measure.upper is not None else None,
            level=level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1" if quantity != "observed rate" else unit,
            flags=() if shown else (TOO_FEW,),
        )

    def by_rate() -> Iterator[Estimate]:
        for group in found.groups:
            predicted = group.predicted * rate
            key = f"predicted rate {predicted:.3g}"
            yield one(RATIO, key, group.ratio)
            yield one("observed rate", key, group.ratio, times=predicted)

    return (
        one(RATIO, HELD_OUT, found.ratio),
        one("calibration slope", HELD_OUT, found.slope),
        one("concordance", HELD_OUT, found.concordance),
        *by_rate(),
    )
