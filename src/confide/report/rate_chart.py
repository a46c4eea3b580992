"""Figures of rates: dots with intervals by group, ratios beside them, and the funnel plot.

*Privacy:* drawn from the release alone, so it costs nothing.

References:
    [Spi05] Spiegelhalter. Funnel plots for comparing institutional performance. Statistics in
        Medicine 24(8), 2005. https://doi.org/10.1002/sim.1970
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.plans.plan import Noisy, Statistic
from confide.release.release import Release
from confide.report.cells import Cell, hollow_note, label_of
from confide.report.describe import quantity_text
from confide.report.marks import Chart, Frame, Row, dots, row_of, side_by_side
from confide.report.style import DOT, INK, MAIN, MUTED, PALE, PAPER, WARNING, WIDTH
from confide.report.words import Words
from confide.statistics.smr import SMR, Expected

MOST_GROUPS = 40
_MOST_IN_ORDER = 12  # more groups than these are drawn in the order of their rates
_LEAST_FUNNEL = 3
_LINE = 80
_MOST_NAMED = 8
INNER_LEVEL, OUTER_LEVEL = 0.95, 0.998


def rates(published: Sequence[Cell], *, axis: str, words: Words) -> tuple[Chart, tuple[str, ...]]:
    """Return the rates of the groups, and beside them their ratios to one of them."""
    first = published[0].quantity
    cells = [cell for cell in published if cell.quantity == first]
    ratios = {cell.key: cell for cell in published if cell.quantity == "rate ratio"}
    shown, notes = _in_order(cells, words=words)
    notes += hollow_note(shown, words=words)
    groups = tuple(label_of(cell.key, words=words) for cell in shown)
    left = _dots(shown, words=words, groups=groups, title=axis)
    if not ratios:
        return left, notes
    title = quantity_text("rate ratio", words=words)
    right = _dots(
        [ratios[cell.key] for cell in shown if cell.key in ratios],
        words=words,
        groups=groups,
        title=words.say("chart.log"),
        at_one=True,
    )
    (baseline,) = {label_of(cell.key, words=words) for cell in cells if cell.key not in ratios}
    panels = [(quantity_text(first, words=words), left), (title, right)]
    return side_by_side(panels), (words.say("chart.baseline", group=baseline), *notes)


def observed_over_expected(
    release: Release,
    statistic: Statistic,
    *,
    cells: Sequence[Cell],
    axis: str,
    words: Words,
) -> tuple[Chart, tuple[str, ...]]:
    """Return a funnel of the groups; dots where they are too few for one."""
    cells = [cell for cell in cells if cell.quantity == "smr"]
    if not is_funnel(cells) or not isinstance(statistic, SMR):
        groups = tuple(label_of(cell.key, words=words) for cell in cells)
        chart = _dots(cells, words=words, groups=groups, title=axis, at_one=True)
        return chart, hollow_note(cells, words=words)
    found = expected_by_group(release, statistic)
    points = [_point(c, found[c.key], words=words) for c in cells if c.value is not None]
    outside = [point.name for point in points if point.outside]
    named = words.say("comma").join(outside[:_MOST_NAMED])
    told = (
        words.say_count("chart.outside", len(outside), groups=named)
        if outside
        else words.say("chart.inside")
    )
    chart = _funnel(points, _lines(points, found), words=words)
    return chart, (words.say("chart.funnel"), told, *hollow_note(cells, words=words))


def is_funnel(cells: Sequence[Cell]) -> bool:
    """Return whether there are enough ratios for a funnel."""
    known = [cell for cell in cells if cell.quantity == "smr" and cell.value is not None]
    return len(known) >= _LEAST_FUNNEL


def _in_order(cells: Sequence[Cell], *, words: Words) -> tuple[list[Cell], tuple[str, ...]]:
    """Return the cells to draw: as published when few, else by rate, the largest first."""
    if len(cells) <= _MOST_IN_ORDER:
        return list(cells), ()
    known = [cell for cell in cells if cell.value is not None]
    by_rate = sorted(known, key=lambda cell: (-(cell.value or 0.0), cell.key))
    if len(cells) <= MOST_GROUPS:
        unknown = [cell for cell in cells if cell.value is None]
        return [*by_rate, *unknown], (words.say("chart.caterpillar"),)
    note = words.say("chart.largest", shown=str(MOST_GROUPS), cells=f"{len(cells):,}")
    return by_rate[:MOST_GROUPS], (words.say("chart.caterpillar"), note)


def _dots(
    cells: Sequence[Cell],
    *,
    words: Words,
    groups: tuple[str, ...],
    title: str,
    at_one: bool = False,
) -> Chart:
    """Return dots with intervals, and a line at 1 where ratios are drawn."""
    import altair as alt

    rows = [
        row_of(
            cell,
            group=label_of(cell.key, words=words),
            missing=words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags),
        )
        for cell in cells
    ]
    above = all(row["low"] is None or row["low"] > 0 for row in rows)
    chart = dots(rows, frame=Frame(groups=groups, x_title=title, log=at_one and above))
    if not at_one:
        return chart
    line = alt.Chart(alt.Data(values=[{"at": 1.0}]))
    return chart + line.mark_rule(color=MUTED, strokeDash=[4, 4]).encode(x=alt.X("at:Q"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """One group of a funnel."""

    name: str
    expected: float
    ratio: float
    flagged: bool
    outside: bool


def _point(cell: Cell, found: Expected, *, words: Words) -> _Point:
    at, ratio = found.cell.base, cell.value or 0.0
    low, high = found.limits(at=at, level=OUTER_LEVEL)
    return _Point(
        name=label_of(cell.key, words=words),
        expected=at,
        ratio=ratio,
        flagged=bool(cell.flags),
        outside=not low <= ratio <= high,
    )


def expected_by_group(release: Release, statistic: SMR) -> dict[tuple[str, ...], Expected]:
    """Return observed and expected events of each group of a release."""
    noisy: Mapping[str, Noisy] = {
        m.name: values
        for m, values in zip(release.plan.measurements, release.noisy.values, strict=True)
        if m.statistic == statistic.id
    }
    return statistic.expected(
        noisy, mechanisms=release.plan.mechanisms(statistic.id), dataset=release.plan.dataset
    )


def _lines(points: Sequence[_Point], found: Mapping[tuple[str, ...], Expected]) -> list[Row]:
    """Return the control limits over the range of the points; every group has the same noise."""
    least, most = 0.8 * min(p.expected for p in points), 1.1 * max(p.expected for p in points)
    typical = max(found.values(), key=lambda each: each.cell.base)
    rows: list[Row] = []
    for step in range(_LINE + 1):
        at = least * (most / least) ** (step / _LINE)
        for level in (INNER_LEVEL, OUTER_LEVEL):
            low, high = typical.limits(at=at, level=level)
            rows.append({"expected": at, "low": low, "high": high, "outer": level == OUTER_LEVEL})
    return rows


def _funnel(points: Sequence[_Point], lines: Sequence[Row], *, words: Words) -> Chart:
    import altair as alt

    top = max(*(p.ratio for p in points), min(_inner_top(lines), 3.0)) * 1.08
    wide = max(p.expected for p in points) > 20 * min(p.expected for p in points)
    x_scale = alt.Scale(type="log", nice=False) if wide else alt.Scale(zero=False, nice=False)
    y_scale = alt.Scale(domain=[0, top], nice=False)
    x = alt.X("expected:Q", title=quantity_text("expected", words=words), scale=x_scale)

    def y(field: str) -> object:
        return alt.Y(f"{field}:Q", title=quantity_text("smr", words=words), scale=y_scale)

    layers = []
    for outer, dash in ((True, [1, 0]), (False, [5, 4])):
        data = alt.Data(values=[row for row in lines if row["outer"] is outer])
        if outer:
            band = alt.Chart(data).mark_area(color=PALE, opacity=0.45, clip=True)
            layers.append(band.encode(x=x, y=y("low"), y2=alt.Y2("high:Q")))
        for field in ("low", "high"):
            edge = alt.Chart(data).mark_line(
                color=MUTED, strokeDash=dash, strokeWidth=1.2, clip=True
            )
            layers.append(edge.encode(x=x, y=y(field)))
    one = alt.Chart(alt.Data(values=[{"ratio": 1.0}])).mark_rule(color=INK, strokeWidth=0.8)
    layers.append(one.encode(y=y("ratio")))
    rows = [
        {
            "name": point.name,
            "expected": point.expected,
            "ratio": point.ratio,
            "outside": point.outside,
            "colour": WARNING if point.outside else MAIN,
            "fill": PAPER if point.flagged else WARNING if point.outside else MAIN,
        }
        for point in points
    ]
    data = alt.Data(values=rows)
    dot = alt.Chart(data).mark_point(size=DOT, strokeWidth=1.6, opacity=1)
    layers.append(
        dot.encode(
            x=x,
            y=y("ratio"),
            stroke=alt.Stroke("colour:N", scale=None),
            fill=alt.Fill("fill:N", scale=None),
        )
    )
    far = alt.Data(values=[row for row in rows if row["outside"]][:_MOST_NAMED])
    name = alt.Chart(far).mark_text(align="left", dx=8, fontSize=11, color=INK)
    layers.append(name.encode(x=x, y=y("ratio"), text=alt.Text("name:N")))
    return alt.layer(*layers).properties(width=WIDTH, height=330)


def _inner_top(lines: Sequence[Row]) -> float:
    return max((float(row["high"]) for row in lines if not row["outer"]), default=2.0)
