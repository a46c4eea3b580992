"""What the columns of a published table hold, how wrong its numbers are, and in which direction."""

from collections.abc import Mapping, Sequence

from confide.plans.canonical import Json
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Statistic
from confide.release.export import distinct_names
from confide.statistics import STATISTICS

ZERO = "none, but that a count below 0 is shown as 0"
RATIO = "of order 1/n² in the noisy denominator n; none to speak of where no flag stands"
CHOICE = "not a number: a choice that is right with a stated chance"

BIAS: Mapping[str, str] = {
    "area-rate": RATIO,
    "chi-squared-test": "a function of noisy counts; the null law knows the noise",
    "count": f"{ZERO}; the posterior mean is drawn towards 0 and up from below it",
    "data-quality": f"{ZERO}, and that lines are made to add up",
    "degree-histogram": f"{ZERO}; towards fewer contacts as far as degrees are bounded",
    "hierarchy": f"{ZERO}; the unrounded estimate has none",
    "histogram": ZERO,
    "incidence": RATIO,
    "key-selection": "upwards near the threshold: counts that pass by luck are over-represented",
    "linear-regression": "towards 0 where the noise of the moments is large",
    "hazard-regression": "of order 1/events, as without noise; unusual covariates weigh less",
    "logistic-regression": "of order 1/n, as without noise; rows of unusual covariates weigh less",
    "mean": RATIO,
    "multinomial-regression": "of order 1/n, as without noise; unusual covariates weigh less",
    "poisson-regression": "of order 1/events; towards no association where means reach the bound",
    "proportion": RATIO,
    "quantiles": "at most the width of a bin",
    "running-counts": "none",
    "series": RATIO,
    "smr": RATIO,
    "standardized-rate": RATIO,
    "sum": "none of the noise; clipping moves the sum itself",
    "survival": "of order 1/n in the noisy numbers at risk",
    "table-1": f"{ZERO}, and that lines are made to add up; of ratios {RATIO}",
    "top-category": CHOICE,
    "top-features": CHOICE,
    "trend-test": RATIO,
    "two-means-test": RATIO,
    "two-proportions-test": RATIO,
    "variance": "of order 1/n² in the noisy n; cut to what the bounds allow",
    "weighted-mean": RATIO,
    "weighted-proportion": RATIO,
}
"""By kind of statistic, as its module derives it."""


def kind_of(statistic: Statistic) -> str:
    """Return the kind of a statistic as study files name it."""
    return next(kind for kind, spec in STATISTICS.items() if isinstance(statistic, spec))


def columns(
    statistic: Statistic, estimates: Sequence[Estimate], *, expected: Forecast | None
) -> list[Json]:
    """Return name and kind of each column of a statistic's CSV, with error and bias of its value.

    Args:
        statistic: Whose table.
        estimates: Its rows.
        expected: The forecast that was known before any row was read.
    """
    width = max((len(estimate.key) for estimate in estimates), default=0)
    error: dict[str, str] = {"bias": BIAS[kind_of(statistic)]}
    if expected is not None:
        error |= {
            "median": f"{expected.median_error:.6g}",
            "p95": f"{expected.half_width:.6g}",
            "unit": expected.unit,
        }
    named = [{"name": "quantity", "kind": "public"}]
    named += [{"name": name, "kind": "key"} for name in distinct_names(statistic, width=width)]
    derived = [{"name": n, "kind": "derived"} for n in ("standard_error", "lower", "upper")]
    public = [{"name": n, "kind": "public"} for n in ("level", "covers", "unit")]
    value = {"name": "value", "kind": "noisy", "error": error}
    return [*named, value, *derived, *public, {"name": "flags", "kind": "derived"}]
