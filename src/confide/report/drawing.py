"""Charts as files: static SVG and PNG, drawn in this process, without a browser or a network.

The same chart gives the same bytes.  The first drawing of a process loads the renderer (about half
a second); the others take a few hundredths.
"""

import re
from dataclasses import dataclass
from typing import Any

from confide.report.marks import Chart

_PNG_SCALE = 2.0
_NAMESPACES = re.compile(r' xmlns(:xlink)?="[^"]*"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure as published.

    Attributes:
        svg: A whole SVG document.
        png: The same at twice the size.
    """

    svg: str
    png: bytes


def draw(chart: Chart) -> Drawing:
    """Return a chart as SVG and PNG."""
    import vl_convert

    spec: dict[str, Any] = chart.to_dict()
    svg: str = vl_convert.vegalite_to_svg(spec)
    png: bytes = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
    return Drawing(svg=svg, png=png)


def inline(svg: str, *, name: str) -> str:
    """Return an SVG to stand inside a page: no namespaces, no ids shared with another figure.

    Example:
        >>> inline('<svg xmlns="http://www.w3.org/2000/svg"><clipPath id="a"/></svg>', name="f1")
        '<svg><clipPath id="f1-a"/></svg>'
    """
    bare = _NAMESPACES.sub("", svg, count=2)
    bare = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', bare)
    return re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", bare)
