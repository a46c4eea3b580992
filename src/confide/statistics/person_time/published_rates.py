"""What is published of how a model of counts does on held-out patients."""

from collections.abc import Iterator

from confide.plans.estimates import Covers, Estimate
from confide.plans.rounds.score_bins import ALIKE, UNBOUNDED, labels
from confide.statistics.person_time.held_out_rates import RateEvaluation, RateNumber

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
    missing = TOO_FEW if not found.usable else ALIKE if found.alike else UNBOUNDED

    def one(quantity: str, key: str, measure: RateNumber | None, *, times: float = 1.0) -> Estimate:
        unbounded = measure is not None and (measure.lower is None or measure.upper is None)
        shown = None if unbounded or not found.usable else measure
        return Estimate(
            statistic=statistic,
            quantity=quantity,
            key=(key,),
            value=None if shown is None else times * shown.value,
            standard_error=None if shown is None else times * shown.error,
            lower=None if shown is None or shown.lower is None else times * shown.lower,
            upper=None if shown is None or shown.upper is None else times * shown.upper,
            level=level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1" if quantity != "observed rate" else unit,
            flags=() if shown is not None else (TOO_FEW if unbounded else missing,),
        )

    def by_rate() -> Iterator[Estimate]:
        rates = [group.predicted * rate for group in found.groups]
        for group, predicted, label in zip(found.groups, rates, labels(rates), strict=True):
            key = f"predicted rate {label}"
            yield one(RATIO, key, group.ratio)
            yield one("observed rate", key, group.ratio, times=predicted)

    return (
        one(RATIO, HELD_OUT, found.ratio),
        one("calibration slope", HELD_OUT, found.slope),
        one("concordance", HELD_OUT, found.concordance),
        *by_rate(),
    )
