"""What the columns of a published table hold, how wrong its numbers are, and in which direction."""

from collections.abc import Sequence

from confide.plans.canonical import Json
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Statistic
from confide.release.export import distinct_names
from confide.statistics.registry import kind_of


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
    error: dict[str, str] = {"bias": kind_of(statistic).bias}
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
