"""What reports say of a count."""

import math
from collections.abc import Mapping, Sequence

from confide.drawing.asking import Asking, counted, unit_axis
from confide.drawing.cells import Cell
from confide.drawing.conditions import label
from confide.drawing.headlines import one, usable
from confide.drawing.numbers import fixed
from confide.drawing.words import Words
from confide.statistics.bias import ZERO
from confide.statistics.count.section import CountSection
from confide.statistics.count.spec import Count
from confide.statistics.kind import Kind


def _title(statistic: Count, asking: Asking) -> str:
    words, what = asking.words, counted(statistic)
    if asking.condition:
        return words.say(f"title.whom.{what}", condition=asking.condition)
    return words.say(f"title.count.{what}", table=label(statistic.table))


def _headline(cells: Sequence[Cell], words: Words) -> str:
    return one(usable(cells)[0], words=words)


def _width(statistic: Count, cells: Sequence[Cell], words: Words) -> Mapping[str, str]:
    """Return the whole width of the interval."""
    del statistic
    width = max((cell.half_width for cell in cells), default=0.0)
    unit = cells[0].unit if cells else "persons"
    return {"width": words.amount(fixed(math.ceil(2 * width), decimals=0), unit)}


KIND = Kind(
    name="count",
    spec=Count,
    section=CountSection,
    bias=f"{ZERO}; the posterior mean is drawn towards 0 and up from below it",
    title=_title,
    titled_with_condition=True,
    axis=unit_axis,
    headline=_headline,
    fit=_width,
    unfit=_width,
    figure="confide.statistics.count.figure:draw",
    audit="confide.statistics.count.audit:AUDITED",
)
