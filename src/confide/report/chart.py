"""One figure a statistic: every number with its interval, on a light ground, for print and screen.

A dot is a published number; a thin line is its interval; where two were published, a thick pale
line inside it is the interval of the noise alone.  A hollow dot is flagged.  More than 40 cells:
the 40 largest are shown and a note says so; tables hold them all.

*Privacy:* drawn from the release alone, so it costs nothing.

References:
    [CM84] Cleveland, McGill. Graphical perception. JASA 79(387), 1984.
        https://doi.org/10.1080/01621459.1984.10478080
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from confide.plans.allocate import forecast
from confide.plans.mechanisms import additive, coordinate, threshold, vector
from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.area_charts import levels, outlines_of, preview, with_preview
from confide.report.cells import Cell, cells_of, labels_of, largest
from confide.report.characteristics import differences
from confide.report.choice import CHOICES, chance_of_being_chosen, chosen_text
from confide.report.choropleth import choropleth
from confide.report.degree_chart import degree_bars
from confide.report.describe import (
    covers_text,
    group_titles,
    is_over_time,
    kind_of,
    quantity_text,
    title_of,
    total_of,
    total_text,
    value_title,
)
from confide.report.forest import coefficients, compared, departures, shares
from confide.report.marks import (
    Chart,
    Frame,
    Row,
    dots,
    heat_map,
    over_time,
    plausible,
    ridges,
    row_of,
    side_by_side,
    threshold_line,
    titled,
)
from confide.report.numbers import clean, fixed, percent
from confide.report.outlines import Outlines
from confide.report.quality import usable_parts
from confide.report.rate_chart import is_funnel, observed_over_expected, rates
from confide.report.style import RIDGE, RIDGE_LINE, RIDGE_NAME
from confide.report.survival_chart import survival_curves
from confide.report.time_panels import running_lines, series_lines
from confide.report.words import Words
from confide.statistics.quantiles import Quantiles
from confide.statistics.survival import Survival
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset

EMPTY: Mapping[tuple[str, str], Outlines] = MappingProxyType({})
MOST_CELLS = 40
_MOST_SERIES = 5
_MOST_RIDGES = 8
_MOST_TIMES = 400
_HEAT_ACROSS = 12
_POINTS = 160

Item = TypeVar("Item")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """One statistic of a release, as the builders below need it."""

    release: Release
    statistic: Statistic
    words: Words
    cells: tuple[Cell, ...]
    outlines: Mapping[tuple[str, str], Outlines]

    @property
    def names(self) -> tuple[str, ...]:
        return group_titles(self.statistic, plan=self.release.plan, words=self.words)

    def axis(self, cells: Sequence[Cell]) -> str:
        unit = cells[0].unit if cells else ""
        return value_title(self.statistic, unit=unit, words=self.words)


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
    subject = _Subject(
        release=release, statistic=statistic, words=words, cells=cells, outlines=outlines
    )
    chart, notes = _BUILDERS[kind_of(statistic)](subject)
    title = title_of(statistic, plan=release.plan, words=words)
    subtitle = _subtitle(subject)
    return Figure(chart=titled(chart, title=title, subtitle=subtitle), title=title, notes=notes)


def _subtitle(subject: _Subject) -> str:
    words, first = subject.words, subject.cells[0]
    if kind_of(subject.statistic) == "data-quality":
        return words.say("quality.subtitle", level=percent(first.level))
    if kind_of(subject.statistic) in CHOICES:
        return chosen_text(subject.release, subject.statistic, words=words)
    level = percent(first.level)
    covers = {cell.covers for cell in subject.cells}
    if kind_of(subject.statistic) == "histogram" and _is_grid(subject.cells):
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


def _one_number(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    cell = subject.cells[0]
    row = row_of(cell, group="")
    frame = Frame(groups=("",), x_title=subject.axis([cell]))
    values = subject.release.noisy.values
    names = [(m.statistic, m.name) for m in subject.release.plan.measurements]
    raw = coordinate(values[names.index((subject.statistic.id, "count"))], 0)
    noise = additive(subject.release.plan.mechanisms(subject.statistic.id)["count"])
    reach = max(4, math.ceil(4.2 * math.sqrt(noise.variance())))
    step = max(1, 2 * reach // _POINTS)
    peak = noise.pmf(0)
    curve = [
        (float(count), noise.pmf(raw - count) / peak)
        for count in range(max(0, raw - reach), max(0, raw + reach) + step, step)
    ]
    return plausible(curve, row=row, frame=frame), (subject.words.say("chart.plausible"),)


def _histogram(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    statistic, cells = subject.statistic, subject.cells
    axis = subject.axis(cells)
    if is_over_time(statistic, plan=subject.release.plan) and len(cells) <= _MOST_TIMES:
        rows = [row_of(cell, group=clean(cell.key[0])) for cell in cells]
        groups = tuple(row["group"] for row in rows)
        frame = Frame(groups=groups, x_title=subject.names[0])
        return over_time(rows, frame=frame, y_title=axis), ()
    if _is_grid(cells):
        return _grid(subject), _flag_notes(cells, words=subject.words)
    return _groups(subject, cells, bars=True)


def _is_grid(cells: Sequence[Cell]) -> bool:
    """Return whether a crosstab is better read as a grid of numbers than as dots."""
    if len(cells[0].key) != 2:
        return False
    down, across = (len({cell.key[axis] for cell in cells}) for axis in (0, 1))
    grouped = across <= _MOST_SERIES and down * across <= MOST_CELLS
    return not grouped and across <= _HEAT_ACROSS and down <= MOST_CELLS


def _grid(subject: _Subject) -> Chart:
    rows = []
    for cell in subject.cells:
        row = row_of(cell, group=clean(cell.key[0]), series=clean(cell.key[1]))
        row["text"] = "–" if cell.value is None else fixed(cell.value, decimals=0)
        rows.append(row)
    frame = Frame(
        groups=_distinct(row["group"] for row in rows),
        series=_distinct(row["series"] for row in rows),
        x_title="",
    )
    return heat_map(rows, frame=frame, titles=(subject.names[0], subject.names[1]))


def _by_group(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    return _groups(subject, subject.cells, bars=False)


def _sums(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    return _groups(subject, subject.cells, bars=bool(subject.cells[0].key))


def _selected(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    chart, notes = _groups(subject, subject.cells, bars=True)
    mechanisms = subject.release.plan.mechanisms(subject.statistic.id)
    tau = threshold(mechanisms["keys"]).threshold()
    text = subject.words.say("chart.threshold", threshold=fixed(tau, decimals=0))
    return chart + threshold_line(float(tau), text=text), notes


def _choice(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    chart = chance_of_being_chosen(subject.release, subject.statistic, words=subject.words)
    return chart, (subject.words.say("chart.choice"),)


def _moments(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    charts, notes = [], []
    for quantity in _distinct(cell.quantity for cell in subject.cells):
        cells = [cell for cell in subject.cells if cell.quantity == quantity]
        chart, said = _groups(subject, cells, bars=False)
        covers = covers_text(cells[0].covers, words=subject.words)
        name = quantity_text(quantity, words=subject.words)
        charts.append((subject.words.say("chart.panel", quantity=name, covers=covers), chart))
        notes += [note for note in said if note not in notes]
    return side_by_side(charts), tuple(notes)


def _groups(
    subject: _Subject, cells: Sequence[Cell], *, bars: bool
) -> tuple[Chart, tuple[str, ...]]:
    """Return dots by group, two-way where the last grouping is small enough to be a series."""
    words = subject.words
    shown, notes = largest(cells, most=MOST_CELLS, words=words)
    last = _distinct(cell.key[-1] for cell in shown) if len(shown[0].key) > 1 else ()
    two_way = len(shown) == len(cells) and 1 < len(last) <= _MOST_SERIES
    missing = {flag: words.say(f"flag.{flag}.short") for cell in shown for flag in cell.flags}
    rows = []
    labels = labels_of([cell.key[:-1] if two_way else cell.key for cell in shown], words=words)
    for cell in shown:
        named = cell.key[:-1] if two_way else cell.key
        rows.append(
            row_of(
                cell,
                group=labels[named],
                series=clean(cell.key[-1]) if two_way else "",
                missing=words.say("comma").join(missing[flag] for flag in cell.flags),
            )
        )
    frame = Frame(
        groups=_distinct(row["group"] for row in rows),
        series=_distinct(row["series"] for row in rows) if two_way else (),
        x_title=subject.axis(shown),
        zero=bars,
        bars=bars and not two_way,
    )
    return dots(rows, frame=frame), (*notes, *_flag_notes(shown, words=words))


def _survival(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    statistic, dataset = subject.statistic, subject.release.plan.dataset
    unit = statistic.time_domain(dataset).unit if isinstance(statistic, Survival) else ""
    return survival_curves(subject.cells, unit=unit, words=subject.words)


def _flag_notes(shown: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    hollow = any(cell.flags and cell.value is not None for cell in shown)
    return (words.say("chart.hollow"),) if hollow else ()


def _rates(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    return rates(subject.cells, axis=subject.axis(subject.cells), words=subject.words)


def _observed_over_expected(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    return observed_over_expected(
        subject.release,
        subject.statistic,
        cells=subject.cells,
        axis=subject.axis(subject.cells),
        words=subject.words,
    )


def _quantiles(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    statistic = subject.statistic
    groups = _distinct(cell.key for cell in subject.cells)
    if not isinstance(statistic, Quantiles) or len(groups) > _MOST_RIDGES:
        return _many_quantiles(subject)
    series = _distinct(cell.quantity for cell in subject.cells)
    names = {quantity: quantity_text(quantity, words=subject.words) for quantity in series}
    bins, rows, labels = [], [], []
    histogram = _histogram_values(subject)
    band = RIDGE_NAME + RIDGE + RIDGE_LINE * (len(series) + 1)
    for place, key in enumerate(groups):
        top = -place * band
        foot = top - RIDGE_NAME - RIDGE
        bins += _bins(histogram[place], statistic=statistic, subject=subject, foot=foot)
        text = subject.words.say("key.joint").join(clean(part) for part in key)
        labels.append({"text": text, "level": top - RIDGE_NAME / 2})
        for cell in subject.cells:
            if cell.key == key:
                row = row_of(cell, group=text, series=names[cell.quantity])
                row["level"] = foot - RIDGE_LINE * (series.index(cell.quantity) + 0.75)
                rows.append(row)
    frame = Frame(
        groups=tuple(str(label["text"]) for label in labels),
        series=tuple(names.values()),
        x_title=subject.axis(subject.cells),
    )
    chart = ridges(bins, rows=rows, frame=frame, labels=labels, height=band * len(groups))
    return chart, (
        subject.words.say("chart.ridges"),
        *_flag_notes(subject.cells, words=subject.words),
    )


def _many_quantiles(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    """Return one panel a quantile, for more groups than distributions can be drawn."""
    charts, notes = [], []
    for quantity in _distinct(cell.quantity for cell in subject.cells):
        cells = [cell for cell in subject.cells if cell.quantity == quantity]
        chart, said = _groups(subject, cells, bars=False)
        charts.append((quantity_text(quantity, words=subject.words), chart))
        notes += [note for note in said if note not in notes]
    return side_by_side(charts), tuple(notes)


def _histogram_values(subject: _Subject) -> list[tuple[int, ...]]:
    names = [(m.statistic, m.name) for m in subject.release.plan.measurements]
    place = names.index((subject.statistic.id, "histogram"))
    counts = vector(subject.release.noisy.values[place])
    width = len(counts) // max(1, len(_distinct(cell.key for cell in subject.cells)))
    return [counts[start : start + width] for start in range(0, len(counts), width)]


def _bins(
    counts: Sequence[int], *, statistic: Quantiles, subject: _Subject, foot: float
) -> list[Row]:
    edges = _physical_edges(statistic, dataset=subject.release.plan.dataset)
    tallest = max(1, *counts)
    return [
        {"low": low, "high": high, "foot": foot, "top": foot + RIDGE * max(0, count) / tallest}
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    ]


def _physical_edges(statistic: Quantiles, *, dataset: Dataset) -> list[float]:
    of = domain(resolve(statistic.column, table=statistic.table, dataset=dataset), dataset=dataset)
    return [of.physical(edge) for edge in statistic.edges(dataset)]


def _degrees(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    cells = [cell for cell in subject.cells if cell.quantity == "count"]
    titles = (subject.names[0], subject.axis(cells))
    return degree_bars(cells, titles=titles), _flag_notes(cells, words=subject.words)


def _levels(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    def bars(cells: Sequence[Cell]) -> tuple[Chart, tuple[str, ...]]:
        return _groups(subject, cells, bars=True)

    return levels(subject.cells, draw=bars, words=subject.words)


def _areas(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    statistic, plan = subject.statistic, subject.release.plan
    outlines = outlines_of(statistic, plan=plan, outlines=subject.outlines)
    if outlines is None:
        above = _by_group(subject)
    else:
        above = choropleth(subject.cells, outlines=outlines, words=subject.words)
    below = preview(forecast(plan, statistic), words=subject.words)
    return with_preview(above[0], below, words=subject.words), above[1]


def _series(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    values = [cell for cell in subject.cells if cell.quantity != "count"]
    titles = (subject.names[-1], subject.axis(values))
    chart, notes = series_lines(subject.cells, titles=titles, words=subject.words)
    return chart, (*notes, *_flag_notes(subject.cells, words=subject.words))


def _running_counts(subject: _Subject) -> tuple[Chart, tuple[str, ...]]:
    return running_lines(subject.cells, x_title=subject.names[-1], words=subject.words)


def _distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(items))


_BUILDERS: Mapping[str, Callable[[_Subject], tuple[Chart, tuple[str, ...]]]] = {
    "count": _one_number,
    "histogram": _histogram,
    "sum": _sums,
    "mean": _by_group,
    "variance": _moments,
    "proportion": _by_group,
    "quantiles": _quantiles,
    "key-selection": _selected,
    "table-1": lambda subject: (differences(subject.cells, words=subject.words), ()),
    "data-quality": lambda subject: usable_parts(subject.cells, words=subject.words),
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
    "degree-histogram": _degrees,
    "hierarchy": _levels,
    "area-rate": _areas,
    "series": _series,
    "running-counts": _running_counts,
    "top-category": _choice,
    "top-features": _choice,
}
