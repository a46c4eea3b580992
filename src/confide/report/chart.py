"""One figure a statistic: every number with its interval, on a light ground, for print and screen.

A dot is a published number; a thin line is its interval; where two were published, a thick pale
line inside it is the interval of the noise alone.  A hollow dot is flagged.  More than 40 cells:
the 40 largest are shown and a note says so; tables hold them all.

*Privacy:* drawn from the release alone, so it costs nothing.

References:
    [CM84] Cleveland, McGill. Graphical perception. JASA 79(387), 1984.
        https://doi.org/10.1080/01621459.1984.10478080
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from confide.plans.allocate import forecast
from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.area_charts import levels, outlines_of, preview, with_preview
from confide.report.cells import Cell, cells_of, hollow_note
from confide.report.characteristics import differences
from confide.report.choice import CHOICES, chance_of_being_chosen, chosen_text
from confide.report.choropleth import choropleth
from confide.report.degree_chart import degree_bars
from confide.report.describe import (
    covers_text,
    kind_of,
    title_of,
    total_of,
    total_text,
)
from confide.report.forest import coefficients, compared, departures, ratios, shares
from confide.report.group_chart import (
    by_group,
    groups,
    histogram,
    is_grid,
    moments,
    one_number,
    selected,
    sums,
)
from confide.report.marks import (
    Chart,
    titled,
)
from confide.report.numbers import percent
from confide.report.outlines import Outlines
from confide.report.quality import usable_parts
from confide.report.quantile_chart import quantiles
from confide.report.rate_chart import is_funnel, observed_over_expected, rates
from confide.report.subject import Drawn, Subject
from confide.report.survival_chart import survival_curves
from confide.report.time_panels import running_lines, series_lines
from confide.report.words import Words
from confide.statistics.survival import Survival

EMPTY: Mapping[tuple[str, str], Outlines] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with what a reader needs beside it.

    Attributes:
        chart: An Altair chart.
        title: Its title, also the start of its text alternative.
        notes: What the chart leaves out or draws in a special way.
    """

    chart: Chart
    title: str
    notes: tuple[str, ...]


def figure(
    release: Release,
    statistic: Statistic,
    *,
    words: Words,
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> Figure | None:
    """Return the figure of one statistic; None when nothing was published.

    Args:
        release: What is drawn.
        statistic: Which of its statistics.
        words: Language.
        outlines: Public shapes of areas, by spine and level, for maps.

    Example:
        A chart for a notebook: ``figure(release, "sbp", words=load_words("en")).chart``.
    """
    cells = cells_of(release.of(statistic))
    if kind_of(statistic) not in CHOICES and all(cell.value is None for cell in cells):
        return None
    subject = Subject(
        release=release, statistic=statistic, words=words, cells=cells, outlines=outlines
    )
    chart, notes = _BUILDERS[kind_of(statistic)](subject)
    title = title_of(statistic, plan=release.plan, words=words)
    subtitle = _subtitle(subject)
    return Figure(chart=titled(chart, title=title, subtitle=subtitle), title=title, notes=notes)


def _subtitle(subject: Subject) -> str:
    words, first = subject.words, subject.cells[0]
    if kind_of(subject.statistic) == "data-quality":
        return words.say("quality.subtitle", level=percent(first.level))
    if kind_of(subject.statistic) in CHOICES:
        return chosen_text(subject.release, subject.statistic, words=words)
    level = percent(first.level)
    covers = {cell.covers for cell in subject.cells}
    if kind_of(subject.statistic) == "histogram" and is_grid(subject.cells):
        shown = covers_text(first.covers, words=words)
        parts = [words.say("chart.grid", level=level, covers=shown)]
    elif kind_of(subject.statistic) == "smr" and is_funnel(subject.cells):
        parts = [words.say("chart.control-limits")]
    elif kind_of(subject.statistic) == "survival":
        parts = [words.say("chart.bands", level=level)]
    elif outlines_of(subject.statistic, plan=subject.release.plan, outlines=subject.outlines):
        shown = covers_text(first.covers, words=words)
        parts = [words.say("map.subtitle", level=level, covers=shown)]
    elif kind_of(subject.statistic) in ("series", "running-counts"):
        shown = covers_text(first.covers, words=words)
        parts = [words.say("chart.time-bands", level=level, covers=shown)]
    elif first.inner is not None:
        parts = [words.say("chart.two-intervals", level=level)]
    elif len(covers) > 1:
        parts = [words.say("chart.intervals", level=level)]
    else:
        shown = covers_text(first.covers, words=words)
        parts = [words.say("chart.one-interval", level=level, covers=shown)]
    total = total_of(subject.release.noisy, subject.statistic)
    if total is not None and subject.cells[0].key:
        parts.append(
            words.say(f"chart.total.{'once' if total.once else 'often'}", total=total_text(total))
        )
    return words.say("chart.joint").join(parts)


def _survival(subject: Subject) -> Drawn:
    statistic, dataset = subject.statistic, subject.release.plan.dataset
    unit = statistic.time_domain(dataset).unit if isinstance(statistic, Survival) else ""
    return survival_curves(subject.cells, unit=unit, words=subject.words)


def _choice(subject: Subject) -> Drawn:
    chart = chance_of_being_chosen(subject.release, subject.statistic, words=subject.words)
    return chart, (subject.words.say("chart.choice"),)


def _rates(subject: Subject) -> Drawn:
    return rates(subject.cells, axis=subject.axis(subject.cells), words=subject.words)


def _observed_over_expected(subject: Subject) -> Drawn:
    return observed_over_expected(
        subject.release,
        subject.statistic,
        cells=subject.cells,
        axis=subject.axis(subject.cells),
        words=subject.words,
    )


def _degrees(subject: Subject) -> Drawn:
    cells = [cell for cell in subject.cells if cell.quantity == "count"]
    titles = (subject.names[0], subject.axis(cells))
    return degree_bars(cells, titles=titles), hollow_note(cells, words=subject.words)


def _levels(subject: Subject) -> Drawn:
    def bars(cells: Sequence[Cell]) -> Drawn:
        return groups(subject, cells, bars=True)

    return levels(subject.cells, draw=bars, words=subject.words)


def _areas(subject: Subject) -> Drawn:
    statistic, plan = subject.statistic, subject.release.plan
    outlines = outlines_of(statistic, plan=plan, outlines=subject.outlines)
    if outlines is None:
        above = by_group(subject)
    else:
        above = choropleth(subject.cells, outlines=outlines, words=subject.words)
    below = preview(forecast(plan, statistic), words=subject.words)
    return with_preview(above[0], below, words=subject.words), above[1]


def _series(subject: Subject) -> Drawn:
    values = [cell for cell in subject.cells if cell.quantity != "count"]
    titles = (subject.names[-1], subject.axis(values))
    chart, notes = series_lines(subject.cells, titles=titles, words=subject.words)
    return chart, (*notes, *hollow_note(subject.cells, words=subject.words))


def _running_counts(subject: Subject) -> Drawn:
    return running_lines(subject.cells, x_title=subject.names[-1], words=subject.words)


_BUILDERS: Mapping[str, Callable[[Subject], Drawn]] = {
    "count": one_number,
    "histogram": histogram,
    "sum": sums,
    "mean": by_group,
    "variance": moments,
    "proportion": by_group,
    "quantiles": quantiles,
    "key-selection": selected,
    "table-1": lambda s: (differences(s.cells, words=s.words), ()),
    "data-quality": lambda s: usable_parts(s.cells, words=s.words),
    "incidence": _rates,
    "standardized-rate": _rates,
    "smr": _observed_over_expected,
    "weighted-proportion": _rates,
    "weighted-mean": _rates,
    "survival": _survival,
    "chi-squared-test": lambda s: departures(s.cells, unit=s.axis(s.cells), words=s.words),
    "two-proportions-test": lambda s: compared(s.cells, unit=s.axis(s.cells), words=s.words),
    "trend-test": lambda s: shares(s.cells, unit=s.axis(s.cells), words=s.words),
    "two-means-test": lambda s: compared(s.cells, unit=s.axis(s.cells), words=s.words),
    "linear-regression": lambda s: coefficients(
        s.cells, statistic=s.statistic, dataset=s.release.plan.dataset, words=s.words
    ),
    "logistic-regression": lambda s: ratios(
        s.cells, statistic=s.statistic, dataset=s.release.plan.dataset, words=s.words
    ),
    "multinomial-regression": lambda s: ratios(
        s.cells, statistic=s.statistic, dataset=s.release.plan.dataset, words=s.words
    ),
    "poisson-regression": lambda s: ratios(
        s.cells, statistic=s.statistic, dataset=s.release.plan.dataset, words=s.words
    ),
    "hazard-regression": lambda s: ratios(
        s.cells, statistic=s.statistic, dataset=s.release.plan.dataset, words=s.words
    ),
    "degree-histogram": _degrees,
    "hierarchy": _levels,
    "area-rate": _areas,
    "series": _series,
    "running-counts": _running_counts,
    "top-category": _choice,
    "top-features": _choice,
}
