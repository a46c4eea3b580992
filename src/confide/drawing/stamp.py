"""What is written across a figure that nobody should take for a published one."""

import math
import re
from typing import Any

from confide.drawing.markup import tag, trusted

_BOX = re.compile(r'viewBox="(?P<x>[-0-9.]+) (?P<y>[-0-9.]+) (?P<w>[0-9.]+) (?P<h>[0-9.]+)"')
_COLOUR = "#b00020"
_LETTER = 0.62
"""Width of a letter, in parts of its height."""
_LEAST, _MOST = 9.0, 44.0
"""Heights of letters in pixels."""
_EVERY = 150.0
"""Pixels from one line to the next: a part that is cut out has one."""


def stamped(svg: str, *, mark: str) -> str:
    """Return an SVG with a mark across it; the same SVG where there is none.

    Example:
        >>> svg = '<svg viewBox="0 0 200 100"><rect/></svg>'
        >>> stamped(svg, mark="") == svg, "REHEARSAL" in stamped(svg, mark="REHEARSAL")
        (True, True)
    """
    box = _BOX.search(svg)
    if not mark or box is None:
        return svg
    left, top, width, height = (float(box[name]) for name in ("x", "y", "w", "h"))
    size = min(_MOST, max(_LEAST, 0.9 * width / (_LETTER * len(mark))))
    lines = max(1, round(height / _EVERY))
    across = left + width / 2
    drawn = [
        tag(
            "text",
            mark,
            x=f"{across:g}",
            y=f"{top + height * (line + 0.5) / lines:g}",
            font_size=f"{size:g}",
            transform=f"rotate({_slope(width, height / lines):g} {across:g} "
            f"{top + height * (line + 0.5) / lines:g})",
        )
        for line in range(lines)
    ]
    group = tag(
        "g",
        drawn,
        fill=_COLOUR,
        fill_opacity="0.22",
        font_family="sans-serif",
        font_weight="bold",
        text_anchor="middle",
        class_="made-up-mark",
    )
    start = svg.rindex("</svg>")
    return trusted(f"{svg[:start]}{group}{svg[start:]}")


def _slope(width: float, height: float) -> float:
    """Return by how many degrees a line rises: along the diagonal, but never steeply."""
    return -min(20.0, math.degrees(math.atan2(height, width)) / 2)


def marked(spec: dict[str, Any], *, mark: str) -> dict[str, Any]:
    """Return a specification in Vega-Lite whose title begins with a mark, where there is one.

    Example:
        >>> marked({"title": {"text": "Age"}}, mark="REHEARSAL")["title"]["text"]
        'REHEARSAL: Age'
    """
    if not mark:
        return spec
    title = spec.get("title", "")
    told = dict(title) if isinstance(title, dict) else {"text": title}
    return {**spec, "title": {**told, "text": f"{mark}: {told.get('text', '')}"}}
