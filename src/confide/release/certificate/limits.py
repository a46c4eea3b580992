"""What the numbers of a release are fit for, derived from its forecasts before any row was read.

*Utility:* a number is called fit where the noise's half width at 95 % is at most a tenth of it; two
numbers with the same noise w are told apart from √2·w on.  Both follow from public facts.
"""

import math

from confide.errors import ContractError
from confide.plans.estimates import Forecast, unit_after
from confide.plans.plan import Plan
from confide.plans.pricing.allocate import forecast
from confide.release.certificate.form import LimitsPart

FIT_SHARE = 10
"""A number is fit for use where it is this many half widths of its noise."""

NEVER = (
    "any decision about a person",
    "comparing its ε with that of a release of another unit, adjacency, δ or window",
)


def forecasts(plan: Plan) -> dict[str, Forecast | None]:
    """Return the forecast of each statistic; None where only the data tell."""
    found: dict[str, Forecast | None] = {}
    for statistic in plan.statistics:
        try:
            found[statistic.id] = forecast(plan, statistic)
        except ContractError:
            found[statistic.id] = None
    return found


def limits(plan: Plan, *, expected: dict[str, Forecast | None]) -> LimitsPart:
    """Return what each statistic is fit for, and what it is not."""
    fit, unfit = [], []
    for name, each in expected.items():
        if each is None or not math.isfinite(each.half_width):
            fit.append(f"{name}: each number as far as its own interval carries it")
            unfit.append(f"{name}: any use of a number without its interval")
            continue
        width, unit = each.half_width, unit_after(each.unit)
        if each.unit in ("persons", "rows"):
            fit.append(f"{name}: numbers above about {_up(FIT_SHARE * width)}{unit}")
        else:
            fit.append(f"{name}: what an error of ±{width:.3g}{unit} leaves certain")
        apart = _up(math.sqrt(2) * width) if each.unit in ("persons", "rows") else ""
        apart = apart or f"{math.sqrt(2) * width:.3g}"
        unfit.append(f"{name}: ranking numbers that differ by less than {apart}{unit}")
    if plan.study.small_cells is not None:
        unfit.append("adding printed cells up: small ones are withheld, others may be rounded")
    return LimitsPart(fit_for=fit, not_fit_for=[*unfit, *NEVER])


def _up(value: float) -> str:
    return str(math.ceil(value - 1e-9))
