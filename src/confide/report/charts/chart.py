"""One figure a statistic: every number with its interval, on a light ground, for print and screen.

A dot is a published number; a thin line is its interval; where two were published, a thick pale
line inside it is the interval of the noise alone.  A hollow dot is flagged.  More than 30 cells:
the 30 largest are shown and a note says so; tables hold them all.

*Privacy:* drawn from the release alone, so it costs nothing.

References:
    [CM84] Cleveland, McGill. Graphical perception. JASA 79(387), 1984.
        https://doi.org/10.1080/01621459.1984.10478080
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from confide.drawing.cells import readable_cells
from confide.drawing.charts.figure import Figure
from confide.drawing.charts.marks import titled
from confide.drawing.charts.style import NARROW
from confide.drawing.charts.subject import Subject
from confide.drawing.numbers import percent
from confide.drawing.quantities import intervals_text
from confide.drawing.words import Words
from confide.plans.plan import Statistic
from confide.report.wording.describe import (
    group_titles,
    title_of,
    total_of,
    total_text,
    value_title,
    words_on,
)
from confide.report.wording.marks import struck
from confide.statistics.registry import kind_of

_LETTERS = 94
"""Of a subtitle on one line."""

if TYPE_CHECKING:
    from confide.report.release import Release


def figures(release: "Release", statistic: Statistic, *, words: Words) -> dict[str, Figure]:
    """Return the figures of one statistic by name: its own has its id, a model has others too."""
    own = figure(release, statistic, words=words)
    more = evaluations(release, statistic, words=words)
    found = ({} if own is None else {statistic.id: own}) | {
        f"{statistic.id}.{name}": each for name, each in more.items()
    }
    return {name: struck(release, each) for name, each in found.items()}


def figure(release: "Release", statistic: Statistic, *, words: Words) -> Figure | None:
    """Return the figure of one statistic; None when nothing was published."""
    kind, cells = kind_of(statistic), readable_cells(release.of(statistic))
    words = words_on(statistic, plan=release.plan, words=words)
    if not kind.chooses and all(cell.value is None for cell in cells):
        return None
    subject = _subject(release, statistic, words=words)
    chart, notes = kind.draw(subject)
    slim, _ = kind.draw(replace(subject, width=NARROW))
    title = title_of(statistic, plan=release.plan, words=words)
    parts = [kind.words_below_title(subject) or _intervals(subject)]
    total = total_of(release.noisy, statistic)
    if total is not None and cells[0].key:
        of = "once" if total.once else "often"
        parts.append(words.say(f"chart.total.{of}", total=total_text(total, words=words)))
    subtitle: str | list[str] = words.say("chart.joint").join(parts)
    if len(subtitle) > _LETTERS:
        subtitle = parts  # on one line it would widen the figure, and print would shrink it
    return Figure(
        chart=titled(chart, title=title, subtitle=subtitle),
        title=title,
        notes=notes,
        slim=titled(slim, title="", subtitle=""),
    )


def evaluations(release: "Release", statistic: Statistic, *, words: Words) -> Mapping[str, Figure]:
    """Return the figures of a model's evaluation by name; none where nothing was evaluated."""
    kind = kind_of(statistic)
    if not kind.evaluation:
        return {}
    words = words_on(statistic, plan=release.plan, words=words)
    title = title_of(statistic, plan=release.plan, words=words)
    return kind.evaluated(_subject(release, statistic, words=words), title)


def _subject(release: "Release", statistic: Statistic, *, words: Words) -> Subject:
    return Subject(
        plan=release.plan,
        values=release.noisy.values,
        statistic=statistic,
        words=words,
        cells=readable_cells(release.of(statistic)),
        outlines=release.outlines,
        names=group_titles(statistic, plan=release.plan, words=words),
        axis_of=lambda unit: value_title(statistic, unit=unit, words=words),
    )


def _intervals(subject: Subject) -> str:
    """Return what the intervals are, in the usual words."""
    words = subject.words
    first = next((cell for cell in subject.cells if cell.outer is not None), subject.cells[0])
    level = percent(first.level)
    if first.inner is not None:
        return words.say("chart.two-intervals", level=level)
    if len({cell.covers for cell in subject.cells}) > 1:
        return words.say("chart.intervals", level=level)
    return intervals_text("chart.one-interval", first, words=words)
