"""What reports say of a series."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, by_axes
from confide.drawing.numbers import significant
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.series.section import SeriesSection
from confide.statistics.series.spec import Budget, Series
from confide.statistics.series.table import period_table, with_periods


def _title(statistic: Series, asking: Asking) -> str:
    column = asking.words.named(statistic.column)
    return asking.words.say(f"title.series.{statistic.of.value}", column=column)


def _bounded(statistic: Series, asking: Asking) -> Sequence[str]:
    """Return what sharing the budget over the periods in another way would do."""
    dataset, words = asking.dataset, asking.words
    periods, times = statistic.periods(dataset), statistic.advantage(dataset)
    if statistic.budget is Budget.SPLIT:
        joint = statistic.gain_of_joint(dataset)
        return [words.say("bounded.split", periods=f"{periods:,}", times=significant(joint))]
    if times <= 1:
        return []
    return [words.say("bounded.joint", periods=f"{periods:,}", times=significant(times))]


KIND = Kind(
    name="series",
    spec=Series,
    section=SeriesSection,
    bias=RATIO,
    title=_title,
    titled_with_groups=True,
    groups=by_axes,
    told=with_periods,
    table=period_table,
    figure="confide.statistics.series.figure:draw",
    subtitle="confide.drawing.charts.over_time:subtitle",
    bounded=_bounded,
    audit="confide.statistics.series.audit:AUDITED",
)
