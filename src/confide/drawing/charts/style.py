"""How figures look: colours, sizes and the chart theme.

Colours are told apart with the common colour-vision deficiencies [OI08], and every series has a
shape of its own as well.

References:
    [OI08] Okabe, Ito. Color universal design. 2008. https://jfly.uni-koeln.de/color/
"""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

INK = "#1d2b36"
MUTED = "#5b6b77"
FAINT = "#e6eaed"
PAPER = "#ffffff"
MAIN = "#1b5e8c"
PALE = "#c5dbea"
WARNING = "#a8480b"
SERIES = ("#1b5e8c", "#c8580a", "#1a7f5a", "#8a4f9e", "#9a7b00", "#5b6b77")
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
SEQUENTIAL = ("#f4f8fb", "#9cc3dd", "#1b5e8c")
CLASSES = ("#edf4fa", "#bdd7ea", "#86b6d9", "#4689bb", "#174f7d")
"""Fills of a map, lowest first: one hue, even steps of lightness, so that they print in grey."""

WIDTH = 530
NARROW = 352
"""Pixels of a whole figure on a telephone, with its labels, where letters keep their size."""
ROW = 24
LABEL_LIMIT = 400
"""Longest label of an axis; what is longer ends in an ellipsis."""
LETTER = 7.4
"""Width of an average letter at the size of labels, in the widest of the usual fonts."""
OUTER, INNER = 1.8, 5.5
DOT = 46
RIDGE_NAME, RIDGE, RIDGE_LINE = 20, 58, 13
"""Pixels of a group in a figure of distributions: its name, its bars, a line a quantile."""
FONT = "sans-serif"


def room_for(labels: Iterable[str]) -> int:
    """Return the width that the longest label needs in whichever font a browser has.

    Figures are laid out with the fonts of this process; a browser's own are up to a fifth wider.

    Example:
        >>> room_for(["male", "female"])
        45
    """
    widest = max((sum(_width(letter) for letter in label) for label in labels), default=0.0)
    return min(LABEL_LIMIT, math.ceil(widest))


def _width(letter: str) -> float:
    return 13.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER


def theme() -> dict[str, Any]:
    """Return the Vega-Lite config of every figure."""
    axis = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": MUTED,
        "gridColor": FAINT,
        "domainColor": "#9aa7b0",
        "tickColor": "#9aa7b0",
        "titlePadding": 10,
        "labelLimit": LABEL_LIMIT,
        "domain": False,
        "ticks": False,
        "labelPadding": 8,
    }
    text = {"font": FONT, "fontSize": 12, "color": MUTED}
    return {
        "font": FONT,
        "background": PAPER,
        "padding": 14,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"tickCount": 6, "grid": True, "labelFlush": False, "labelSeparation": 8},
        "axisY": {"grid": False},
        "text": text,
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "font": FONT,
            "fontSize": 16,
            "fontWeight": 600,
            "color": INK,
            "subtitleFont": FONT,
            "subtitleFontSize": 12.5,
            "subtitleColor": MUTED,
            "subtitlePadding": 6,
            "offset": 16,
        },
        "legend": {
            "orient": "top",
            "title": None,
            "labelFont": FONT,
            "labelFontSize": 12,
            "labelColor": INK,
            "symbolSize": 80,
            "symbolStrokeWidth": 0,
            "symbolOpacity": 1,
            "offset": 8,
            "labelLimit": 200,
            "columnPadding": 18,
        },
    }
