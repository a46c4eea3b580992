"""Whole texts that were read once and kept: ``tests/golden/texts``.

A text is compared without what differs from run to run: digests, keys and the version.
``KEEP_TEXTS=1 pytest ...`` keeps new ones; read what `git diff` shows of them.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from confide.drawing.charts.vega import Chart
from confide.version import __version__

FOLDER = Path(__file__).parent / "golden" / "texts"
_PICTURES = re.compile(r"<svg.*?</svg>|<style>.*?</style>", re.DOTALL)
_TOLD = ("values", "domain", "text", "subtitle", "title", "field", "datum")
_RANDOM = re.compile(r"\b[0-9a-f]{16,}\b")


def assert_kept(name: str, text: str) -> None:
    """Assert that a text is the one that was kept under a name."""
    found = _RANDOM.sub("0…0", text).replace(__version__, "VERSION")
    found = "\n".join(line.rstrip() for line in found.splitlines()) + "\n"
    file = FOLDER / name
    if os.environ.get("KEEP_TEXTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def page_text(html: str) -> str:
    """Return the words and numbers of a page, without its pictures and layout."""
    words = re.sub(r"<[^>]*>", "\n", _PICTURES.sub("", html))
    return "\n".join(line.strip() for line in unescape(words).splitlines() if line.strip())


def chart_text(chart: Chart) -> str:
    """Return the data, words and domains of a figure, one a line, without its layout."""
    return "\n".join(number_text(each) for each in _told(chart.to_dict()))


def _told(part: object) -> Iterator[object]:
    match part:
        case dict():
            for name, each in part.items():
                if name in _TOLD:
                    yield {name: each}
                if name not in {"values", "domain"}:
                    yield from _told(each)
        case list() | tuple():
            for each in part:
                yield from _told(each)


def number_text(value: object) -> str:
    """Return nested values on one line of JSON; numbers have nine digits."""
    text = json.dumps(value, sort_keys=True, default=str)
    return json.dumps(json.loads(text, parse_float=lambda text: float(f"{float(text):.9g}")))


def digest_of(text: str) -> str:
    """Return what tells a text apart, where the text itself would be too long to be kept."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
