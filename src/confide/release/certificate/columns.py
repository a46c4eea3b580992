"""What the columns of a published table hold, how wrong its numbers are, and in which direction."""

from collections.abc import Sequence

from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Statistic
from confide.release.certificate.form import ColumnPart, ErrorPart
from confide.release.export import distinct_names
from confide.statistics.registry import kind_of


def columns(
    statistic: Statistic, estimates: Sequence[Estimate], *, expected: Forecast | None
) -> list[ColumnPart]:
    """Return name and kind of each column of a statistic's CSV, with error and bias of its value.

    Args:
        statistic: Whose table.
        estimates: Its rows.
        expected: The forecast that was known before any row was read.
    """
    width = max((len(estimate.key) for estimate in estimates), default=0)
    error = ErrorPart(bias=kind_of(statistic).bias)
    if expected is not None:
        error = ErrorPart(
            bias=error.bias,
            median=f"{expected.median_error:.6g}",
            p95=f"{expected.half_width:.6g}",
            unit=expected.unit,
        )
    keys = distinct_names(statistic, width=width)
    return [
        ColumnPart(name="quantity", kind="public"),
        *(ColumnPart(name=name, kind="key") for name in keys),
        ColumnPart(name="value", kind="noisy", error=error),
        *(ColumnPart(name=name, kind="derived") for name in ("standard_error", "lower", "upper")),
        *(ColumnPart(name=name, kind="public") for name in ("level", "covers", "unit")),
        ColumnPart(name="flags", kind="derived"),
    ]
