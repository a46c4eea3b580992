"""Charts as files: static SVG and PNG, drawn in this process, without a browser or a network.

The same chart gives the same bytes.  The first drawing of a process loads the renderer (about half
a second); the others take a few hundredths.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from confide.drawing.charts.vega import Chart
from confide.drawing.stamp import stamped

_PNG_SCALE = 2.0
_PAIRS = re.compile("[\U00010000-\U0010ffff]")
_TITLE = '<g class="mark-group role-title">'
_TEXT = re.compile(r'<g class="mark-text role-title-(?:sub)?t[^"]*".*?</g>', re.DOTALL)
_SIZE = re.compile(
    r'width="(?P<width>[0-9.]+)" height="(?P<height>[0-9.]+)" viewBox="0 0 [0-9.]+ [0-9.]+">'
    r'<rect width="(?P=width)" height="(?P=height)"'
)
_NAMESPACES = re.compile(r' xmlns(:xlink)?="[^"]*"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure as published.

    Attributes:
        svg: A whole SVG document.
        png: The same at twice the size.
        untitled: The SVG without its title, for a page that tells it.
        narrow: The same laid out for a narrow screen; "" where none was wanted.
    """

    svg: str
    png: bytes
    untitled: str
    narrow: str


def draw(chart: Chart, *, narrow: Chart | None = None, mark: str = "") -> Drawing:
    """Return a chart as SVG and PNG, and as SVG for a narrow screen.

    Args:
        chart: With its title.
        narrow: The same, narrow and without a title, for a page; None where none is wanted.
        mark: What is written across it; "" for nothing.

    Raises:
        ValueError: If it cannot be drawn.
    """
    import vl_convert

    spec = _drawable(chart.to_dict())
    bare: str = vl_convert.vegalite_to_svg(spec)
    svg = stamped(bare, mark=mark)
    png: bytes = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
    small = "" if narrow is None else stamped(svg_of(narrow), mark=mark)
    untitled = stamped(_without_title(bare, spec), mark=mark)
    return Drawing(svg=svg, png=png, untitled=untitled, narrow=small)


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


def _without_title(svg: str, spec: Any) -> str:
    """Return the same drawing cut below its title: drawing it again would take as long."""
    title, look = spec.get("title"), spec.get("config", {}).get("title", {})
    start = svg.rfind(_TITLE)
    if not title or start < 0:
        return svg
    high = look["fontSize"] + look["offset"]
    high += look["subtitlePadding"] + look["subtitleFontSize"] if title.get("subtitle") else 0
    bare = svg[:start] + _TEXT.sub("", svg[start:])
    return _SIZE.sub(lambda found: _cut(found, by=math.floor(high)), bare, count=1)


def _cut(found: re.Match[str], *, by: int) -> str:
    width, height = found["width"], float(found["height"]) - by
    size = f'width="{width}" height="{height:g}"'
    return f'{size} viewBox="0 {by} {width} {height:g}"><rect y="{by}" {size}'


def inline(svg: str, *, name: str) -> str:
    """Return an SVG to stand inside a page: no namespaces, no ids shared with another figure.

    Example:
        >>> inline('<svg xmlns="http://www.w3.org/2000/svg"><clipPath id="a"/></svg>', name="f1")
        '<svg><clipPath id="f1-a"/></svg>'
    """
    bare = _NAMESPACES.sub("", svg, count=2)
    bare = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', bare)
    return re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", bare)
