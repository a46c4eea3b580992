"""What reports say of counts of areas that add up."""

import itertools
from collections.abc import Sequence

from confide.drawing.areas import spine_text
from confide.drawing.asking import Asking, by_key_names, counted, unit_axis
from confide.drawing.cells import Cell
from confide.drawing.conditions import label
from confide.drawing.headlines import number, usable, value_of
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.statistics.bias import ZERO
from confide.statistics.hierarchy.section import HierarchySection
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.kind import Kind

_MOST_AREAS = 40
"""Areas of a level that the table of a page holds."""


def _title(statistic: Hierarchy, asking: Asking) -> str:
    levels = asking.listed(asking.dataset.spine(statistic.spine).levels)
    return asking.words.say(f"title.hierarchy.{counted(statistic)}", levels=levels)


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the largest area of the first level."""
    known = usable(cells)
    top = [c for c in known if c.quantity == "count" and c.key[0] == known[0].key[0]]
    largest = max(top, key=value_of)
    if largest.flags:
        return words.say("headline.flagged")
    return words.say_count(
        "headline.hierarchy",
        len(top),
        level=label(largest.key[0]),
        key=clean(largest.key[1]),
        **number(largest, 0, words=words),
    )


def _cited(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the counts of the larger areas; files hold all areas, and three numbers of each.

    Levels are from the largest areas down: one of more areas than a page has room for ends them.
    """
    counts = [cell for cell in cells if cell.quantity == "count"]
    of: dict[str, list[Cell]] = {}
    for cell in counts:
        of.setdefault(cell.key[0], []).append(cell)
    whole = list(itertools.takewhile(lambda level: len(level) <= _MOST_AREAS, of.values()))
    return [cell for level in whole for cell in level] or counts


def _rest_in_file(statistic: Hierarchy) -> str:
    del statistic
    return "page.rows-larger"


def _bounded(statistic: Hierarchy, asking: Asking) -> Sequence[str]:
    return spine_text(statistic.spine, asking), asking.words.say("bounded.consistent")


KIND = Kind(
    name="hierarchy",
    spec=Hierarchy,
    section=HierarchySection,
    bias=f"{ZERO}; the unrounded estimate has none",
    title=_title,
    groups=by_key_names,
    axis=unit_axis,
    headline=_headline,
    figure="confide.statistics.hierarchy.figure:draw",
    cited=_cited,
    cited_note=_rest_in_file,
    bounded=_bounded,
    audit="confide.statistics.hierarchy.audit:AUDITED",
)
