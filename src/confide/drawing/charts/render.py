"""Charts as files: static SVG and PNG, drawn in this process, without a browser or a network.

The same chart gives the same bytes.  The first drawing of a process loads the renderer (about half
a second); the others take a few hundredths.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confide.drawing.charts.style import MUTED
from confide.drawing.charts.vega import Chart

_PNG_SCALE = 2.0
_PAIRS = re.compile("[\U00010000-\U0010ffff]")
_NAMESPACES = re.compile(r' xmlns(:xlink)?="[^"]*"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure as published.

    Attributes:
        svg: A whole SVG document.
        png: The same at twice the size.
        untitled: The SVG without its title, for a page that has the title as a heading.
    """

    svg: str
    png: bytes
    untitled: str


def draw(chart: Chart) -> Drawing:
    """Return a chart as SVG and PNG.

    Raises:
        ValueError: If it cannot be drawn.
    """
    import vl_convert

    spec = _drawable(chart.to_dict())
    svg: str = vl_convert.vegalite_to_svg(spec)
    png: bytes = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
    untitled: str = vl_convert.vegalite_to_svg(_without_title(spec))
    return Drawing(svg=svg, png=png, untitled=untitled)


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG alone."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_drawable(chart.to_dict()))
    return svg


def _drawable(spec: Any) -> Any:
    """Return a specification in whose texts every character is one unit of UTF-16.

    The renderer shortens long labels by units, and fails at the half of a pair that it leaves; its
    fonts have few of these characters.
    """
    match spec:
        case str():
            return _PAIRS.sub("\N{WHITE SQUARE}", spec)
        case dict():
            return {_drawable(name): _drawable(value) for name, value in spec.items()}
        case list():
            return [_drawable(each) for each in spec]
        case _:
            return spec


def _without_title(spec: Mapping[str, Any]) -> dict[str, Any]:
    small = {"fontSize": 12.5, "fontWeight": "normal", "color": MUTED, "offset": 14}
    subtitle = spec.get("title", {}).get("subtitle", "")
    return {**spec, "title": {"text": subtitle, **small}}


def inline(svg: str, *, name: str) -> str:
    """Return an SVG to stand inside a page: no namespaces, no ids shared with another figure.

    Example:
        >>> inline('<svg xmlns="http://www.w3.org/2000/svg"><clipPath id="a"/></svg>', name="f1")
        '<svg><clipPath id="f1-a"/></svg>'
    """
    bare = _NAMESPACES.sub("", svg, count=2)
    bare = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', bare)
    return re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", bare)
