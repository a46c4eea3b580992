"""Maps of rates: few classes, hatching where a rate is unstable, a legend; static and in pixels.

Everything is placed by :mod:`outlines` beforehand, so that the renderer neither projects nor fits.
Hatching is drawn as lines with a pale edge, to be seen on every class.  Classes hold about equal
numbers of stable areas; their limits are rounded, so that they can be said.

*Privacy:* colours are those of published rates; outlines are public.

References:
    [BP02] Brewer, Pickle. Evaluation of methods for classifying epidemiological data on choropleth
        maps in series. Annals of the AAG 92(4), 2002. https://doi.org/10.1111/1467-8306.00310
"""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from confide.drawing.cells import Cell
from confide.drawing.charts.hatching import SPACING, Segment, hatching
from confide.drawing.charts.outlines import MOST_CORNERS, Outlines, Ring, placed, signed_area, wound
from confide.drawing.charts.style import CLASSES, FAINT, INK, MUTED, PAPER, WIDTH, room_for
from confide.drawing.charts.vega import Chart, Row, field, layer, mark
from confide.drawing.numbers import clean, fixed
from confide.drawing.words import Words

TALLEST = 500
_BOX, _LINE, _GAP = (22, 14), 24, 18
"""Pixels of the legend: a box, a line of boxes, the space between two entries."""
_LARGER = "\0"
"""Before the label of a larger area, so that both kinds are placed together."""
_FEW = 4
"""Stable areas a class; with fewer, unstable ones help to set the limits."""
UNSTABLE = "unstable"
NO_VALUE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassLimits:
    """Limits between classes, increasing; class i is from limits[i−1] up to limits[i].

    Attributes:
        limits: Between neighbouring classes.
        decimals: That limits are shown with.
    """

    limits: tuple[float, ...]
    decimals: int

    def of(self, value: float) -> int:
        """Return the class of a value."""
        return bisect.bisect_right(self.limits, value)

    def labels(self, *, words: Words) -> list[str]:
        """Return what the classes are called, lowest first."""
        shown = [fixed(limit, decimals=self.decimals) for limit in self.limits]
        if not shown:
            return [words.say("map.all")]
        middle = [
            words.say("map.between", low=low, high=high) for low, high in itertools.pairwise(shown)
        ]
        return [
            words.say("map.below", high=shown[0]),
            *middle,
            words.say("map.from", low=shown[-1]),
        ]


def classes_of(values: Sequence[float]) -> ClassLimits:
    """Return limits that cut values into at most five classes of about equal numbers.

    Example:
        >>> classes_of([float(v) for v in range(1, 101)]).limits
        (21.0, 41.0, 61.0, 81.0)
        >>> classes_of([0.0, 0.0, 0.0]).limits
        ()
    """
    ordered = sorted(values)
    if not ordered or ordered[0] == ordered[-1]:
        return ClassLimits(limits=(), decimals=0)
    cuts = [ordered[len(ordered) * i // len(CLASSES)] for i in range(1, len(CLASSES))]
    spread = (cuts[-1] - cuts[0]) or (ordered[-1] - ordered[0])
    decimals = 1 - math.floor(math.log10(spread))
    limits = sorted({round(cut, decimals) for cut in cuts})
    kept = tuple(limit for limit in limits if ordered[0] < limit <= ordered[-1])
    return ClassLimits(limits=kept, decimals=max(0, decimals))


def choropleth(
    cells: Sequence[Cell],
    *,
    outlines: Outlines,
    words: Words,
    unit: str = "",
    around: Outlines = MappingProxyType({}),
    width: int = WIDTH,
) -> tuple[Chart, tuple[str, ...]]:
    """Return the map of one rate an area, with what it leaves out.

    Args:
        cells: One an area; its label is its key.
        outlines: Of areas by label; areas that are not asked about are left out.
        words: Language.
        unit: What the legend says above its classes.
        around: Outlines of larger areas, whose borders and names are drawn; where there are none
            the areas are named themselves.
        width: Of the map, in pixels.
    """
    by_label = {cell.key[0]: cell for cell in cells}
    known = {label: rings for label, rings in outlines.items() if label in by_label}
    both = placed(
        {**known, **{_LARGER + label: rings for label, rings in around.items()}},
        width=width,
        tallest=TALLEST,
        most=MOST_CORNERS if width >= WIDTH else MOST_CORNERS // 3,
    )
    map_ = replace(both, rings={k: r for k, r in both.rings.items() if not k.startswith(_LARGER)})
    borders = {k[1:]: r for k, r in both.rings.items() if k.startswith(_LARGER)}
    shaky = {label for label, cell in by_label.items() if UNSTABLE in cell.flags}
    values = {cell.key[0]: cell.value for cell in cells if cell.value is not None}
    stable = [value for label, value in values.items() if label not in shaky]
    few = len(stable) < _FEW * len(CLASSES)
    classes = classes_of(list(values.values()) if few else stable)
    drawn = {label: _class(by_label[label], classes) for label in map_.rings}
    legend = _legend(
        classes, drawn=set(drawn.values()), shaky=bool(shaky), width=width, words=words
    )
    first = _LINE if unit else 0
    legend = [replace(entry, ring=entry.ring + np.array([0.0, first])) for entry in legend]
    top = first + _LINE * (1 + max(entry.line for entry in legend)) + 10
    areas = [_feature(_down(rings, top), shade=drawn[label]) for label, rings in map_.rings.items()]
    lines = [
        segment
        for label, rings in map_.rings.items()
        if label in shaky
        for segment in hatching(_down(rings, top))
    ]
    boxes = [_feature([entry.ring], shade=entry.shade) for entry in legend]
    lines += [s for e in legend if e.shade == UNSTABLE for s in hatching([e.ring], spacing=SPACING)]
    shades = [*map(str, range(len(CLASSES))), NO_VALUE, UNSTABLE]
    colour = field(
        "properties.shade:N",
        legend=None,
        scale={"domain": shades, "range": [*CLASSES, FAINT, PAPER]},
    )
    height = top + map_.height
    layers = [
        _shape(areas, stroke=MUTED, strokeWidth=0.4, strokeJoin="round").encode(color=colour),
        _shape(boxes, stroke=MUTED, strokeWidth=0.6).encode(color=colour),
        *_hatched(lines),
        *_borders([ring for rings in borders.values() for ring in _down(rings, top)]),
        _texts(legend, unit=unit, width=width, height=height),
        *_names(borders or map_.rings, top=top, size=(width, height)),
    ]
    notes = [] if not shaky else [words.say("map.unstable-note", areas=f"{len(shaky):,}")]
    lost = [label for label in map_.lost if not label.startswith(_LARGER)]
    missing = len(by_label) - len(known)
    notes += [words.say("map.missing", areas=f"{missing:,}")] if missing else []
    notes += [words.say("map.lost", areas=f"{len(lost):,}")] if lost else []
    return layer(*layers).properties(width=width, height=height), tuple(notes)


def _borders(rings: Sequence[Ring]) -> list[Chart]:
    """Return the borders of larger areas, with a pale edge, to be seen on hatching."""
    if not rings:
        return []
    lines = [[*ring.round(2).tolist(), ring[0].round(2).tolist()] for ring in rings]
    feature = {
        "type": "Feature",
        "geometry": {"type": "MultiLineString", "coordinates": lines},
        "properties": {},
    }
    return [
        _shape([feature], filled=False, stroke=PAPER, strokeWidth=3.2, opacity=0.8),
        _shape([feature], filled=False, stroke=INK, strokeWidth=1.4, strokeJoin="round"),
    ]


def _names(areas: Outlines, *, top: float, size: tuple[float, float]) -> list[Chart]:
    """Return the names of areas that are wide enough to hold them, on a pale ground."""
    rows = []
    for label, rings in areas.items():
        ring = max(rings, key=lambda each: abs(signed_area(each)))
        low, high = ring.min(axis=0), ring.max(axis=0)
        text = clean(label)
        if room_for([text]) <= high[0] - low[0] and high[1] - low[1] >= _LINE:
            x, y = _middle(ring)
            rows.append({"x": x, "y": y + top, "text": text})
    if not rows:
        return []
    look = {"baseline": "middle", "fontSize": 12, "fontWeight": 600}
    ground = mark("text", rows, **look, color=PAPER, stroke=PAPER, strokeWidth=4, opacity=0.85)
    return [_at(ground, size), _at(mark("text", rows, **look, color=INK), size)]


def _middle(ring: Ring) -> tuple[float, float]:
    """Return the centre of mass of what a ring encloses."""
    after = np.roll(ring, -1, axis=0)
    cross = ring[:, 0] * after[:, 1] - after[:, 0] * ring[:, 1]
    middle = ((ring + after) * cross[:, None]).sum(axis=0) / (3 * cross.sum())
    return round(float(middle[0]), 1), round(float(middle[1]), 1)


def _class(cell: Cell, classes: ClassLimits) -> str:
    return NO_VALUE if cell.value is None else str(classes.of(cell.value))


def _down(rings: Sequence[Ring], top: float) -> list[Ring]:
    return [ring + np.array([0.0, top]) for ring in rings]


def _feature(rings: Sequence[Ring], *, shade: str) -> Row:
    closed = [[*ring.round(2).tolist(), ring[0].round(2).tolist()] for ring in wound(rings)]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": closed},
        "properties": {"shade": shade},
    }


def _shape(features: Sequence[Row], **style: object) -> Chart:
    as_placed = {"type": "identity", "scale": 1, "translate": [0, 0]}
    return mark("geoshape", features, clip=False, **style).properties(projection=as_placed)


def _hatched(lines: Sequence[Segment]) -> list[Chart]:
    if not lines:
        return []
    geometry = {"type": "MultiLineString", "coordinates": [list(map(list, s)) for s in lines]}
    feature = {"type": "Feature", "geometry": geometry, "properties": {}}
    return [
        _shape([feature], filled=False, stroke=PAPER, strokeWidth=2.0, opacity=0.75),
        _shape([feature], filled=False, stroke=INK, strokeWidth=0.8, opacity=0.9),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A box of the legend with its text.

    Attributes:
        text: Beside the box.
        shade: What fills it.
        ring: Corners of the box.
        line: Which line of boxes it is in.
    """

    text: str
    shade: str
    ring: Ring
    line: int


def _legend(
    classes: ClassLimits, *, drawn: set[str], shaky: bool, width: int, words: Words
) -> list[_Entry]:
    wanted = [(text, str(place)) for place, text in enumerate(classes.labels(words=words))]
    wanted += [(words.say("map.unstable"), UNSTABLE)] if shaky else []
    wanted += [(words.say("map.none"), NO_VALUE)] if NO_VALUE in drawn else []
    entries, x, line = [], 0.0, 0
    for text, shade in wanted:
        room = _BOX[0] + 6 + room_for([text])
        if x and x + room > width:
            x, line = 0.0, line + 1
        entries.append(_Entry(text=text, shade=shade, ring=_box(x, line * _LINE), line=line))
        x += room + _GAP
    return entries


def _box(x: float, y: float) -> Ring:
    wide, high = _BOX
    return np.array([[x, y], [x + wide, y], [x + wide, y + high], [x, y + high]], dtype=np.float64)


def _texts(legend: Sequence[_Entry], *, unit: str, width: float, height: float) -> Chart:
    rows: list[Row] = [{"x": 0.0, "y": _BOX[1] / 2, "text": unit}] if unit else []
    rows += [
        {
            "x": float(entry.ring[1, 0]) + 6,
            "y": float(entry.ring[0, 1]) + _BOX[1] / 2,
            "text": entry.text,
        }
        for entry in legend
    ]
    names = mark("text", rows, align="left", baseline="middle", fontSize=12, color=INK)
    return _at(names, (width, height))


def _at(texts: Chart, size: tuple[float, float]) -> Chart:
    """Return texts at their pixels from the upper left corner of a map."""
    across = {"domain": [0, size[0]], "nice": False, "zero": False}
    downwards = {"domain": [0, size[1]], "nice": False, "zero": False, "reverse": True}
    return texts.encode(
        x=field("x:Q", axis=None, scale=across),
        y=field("y:Q", axis=None, scale=downwards),
        text=field("text:N"),
    )
