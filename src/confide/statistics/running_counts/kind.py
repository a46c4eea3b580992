"""What reports say of running counts."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, by_axes, counted, unit_axis
from confide.drawing.cells import Cell, key_text
from confide.drawing.headlines import number, usable, value_of
from confide.drawing.words import Words
from confide.statistics.kind import Kind
from confide.statistics.running_counts.section import RunningCountsSection
from confide.statistics.running_counts.spec import AGAIN, RunningCounts


def _title(statistic: RunningCounts, asking: Asking) -> str:
    groups = asking.listed(statistic.by)
    return asking.words.say(f"title.running-counts.{counted(statistic)}", groups=groups)


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the last running count, or of several series the one that is largest by then."""
    known = usable(cells)
    running = [cell for cell in known if cell.quantity == known[0].quantity]
    latest = [cell for cell in running if cell.key[-1] == running[-1].key[-1]]
    largest = max(latest, key=value_of)
    parts = {"key": key_text(largest, words=words), **number(largest, 0, words=words)}
    if len(latest) == 1:
        said = words.say("headline.running", **parts)
    else:
        said = words.say("headline.running-of", count=f"{len(latest):,}", **parts)
    return f"{said} {words.say('headline.running-again')}" if AGAIN in largest.flags else said


def _bounded(statistic: RunningCounts, asking: Asking) -> Sequence[str]:
    del statistic
    return [asking.words.say("bounded.earliest")]


KIND = Kind(
    name="running-counts",
    spec=RunningCounts,
    section=RunningCountsSection,
    bias="none",
    title=_title,
    titled_with_groups=True,
    groups=by_axes,
    axis=unit_axis,
    headline=_headline,
    figure="confide.statistics.running_counts.figure:draw",
    subtitle="confide.drawing.charts.over_time:subtitle",
    bounded=_bounded,
    audit="confide.statistics.running_counts.audit:AUDITED",
)
