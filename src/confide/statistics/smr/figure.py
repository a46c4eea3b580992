"""The figure of standardised ratios: a funnel plot [Spi05]; dots where groups are few.

*Privacy:* drawn from the release alone, so it costs nothing.

References:
    [Spi05] Spiegelhalter. Funnel plots for comparing institutional performance. Statistics in
        Medicine 24(8), 2005. https://doi.org/10.1002/sim.1970
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.drawing.cells import Cell, hollow_note, label_of
from confide.drawing.charts.rates import rate_dots
from confide.drawing.charts.style import DOT, INK, MAIN, MUTED, PALE, PAPER, WARNING, WIDTH
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, Row, Spec, field, layer, mark, until
from confide.drawing.quantities import quantity_text
from confide.drawing.words import Words
from confide.plans.plan import Noisy
from confide.statistics.smr.spec import Expected

_LEAST_FUNNEL = 3
_LINE = 80
_MOST_NAMED = 8
INNER_LEVEL, OUTER_LEVEL = 0.95, 0.998


def draw(subject: Subject) -> Drawn:
    """Return a funnel of the groups; dots where they are too few for one."""
    words, axis = subject.words, subject.axis(subject.cells)
    cells = [cell for cell in subject.cells if cell.quantity == "smr"]
    if not _is_funnel(cells):
        groups = tuple(label_of(cell.key, words=words) for cell in cells)
        chart = rate_dots(cells, words=words, groups=groups, title=axis, at_one=True)
        return chart, hollow_note(cells, words=words)
    found = _expected_by_group(subject)
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


def subtitle(subject: Subject) -> str:
    """Return what stands in place of the usual words on intervals; "" where nothing does."""
    return subject.words.say("chart.control-limits") if _is_funnel(subject.cells) else ""


def _is_funnel(cells: Sequence[Cell]) -> bool:
    """Return whether there are enough ratios for a funnel."""
    known = [cell for cell in cells if cell.quantity == "smr" and cell.value is not None]
    return len(known) >= _LEAST_FUNNEL


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


def _expected_by_group(subject: Subject) -> dict[tuple[str, ...], Expected]:
    """Return observed and expected events of each group."""
    statistic, plan = subject.statistic, subject.plan
    noisy: Mapping[str, Noisy] = {
        m.name: values
        for m, values in zip(plan.measurements, subject.values, strict=True)
        if m.statistic == statistic.id
    }
    found: dict[tuple[str, ...], Expected] = statistic.expected(
        noisy, mechanisms=plan.mechanisms(statistic.id), dataset=plan.dataset
    )
    return found


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
    top = max(*(p.ratio for p in points), min(_inner_top(lines), 3.0)) * 1.08
    wide = max(p.expected for p in points) > 20 * min(p.expected for p in points)
    x_scale = {"type": "log", "nice": False} if wide else {"zero": False, "nice": False}
    y_scale = {"domain": [0, top], "nice": False}
    x = field("expected:Q", title=quantity_text("expected", words=words), scale=x_scale)

    def y(name: str) -> Spec:
        return field(f"{name}:Q", title=quantity_text("smr", words=words), scale=y_scale)

    layers = []
    for outer, dash in ((True, [1, 0]), (False, [5, 4])):
        data = [row for row in lines if row["outer"] is outer]
        if outer:
            band = mark("area", data, color=PALE, opacity=0.45, clip=True)
            layers.append(band.encode(x=x, y=y("low"), y2=until("high")))
        for side in ("low", "high"):
            edge = mark("line", data, color=MUTED, strokeDash=dash, strokeWidth=1.2, clip=True)
            layers.append(edge.encode(x=x, y=y(side)))
    one = mark("rule", [{"ratio": 1.0}], color=INK, strokeWidth=0.8)
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
    dot = mark("point", rows, size=DOT, strokeWidth=1.6, opacity=1)
    layers.append(
        dot.encode(
            x=x,
            y=y("ratio"),
            stroke=field("colour:N", scale=None),
            fill=field("fill:N", scale=None),
        )
    )
    far = [row for row in rows if row["outside"]][:_MOST_NAMED]
    name = mark("text", far, align="left", dx=8, fontSize=11, color=INK)
    layers.append(name.encode(x=x, y=y("ratio"), text=field("name:N")))
    return layer(*layers).properties(width=WIDTH, height=330)


def _inner_top(lines: Sequence[Row]) -> float:
    return max((float(row["high"]) for row in lines if not row["outer"]), default=2.0)
