"""What reports say of rates of areas."""

import math
from collections.abc import Sequence

from confide.drawing.areas import spine_text
from confide.drawing.asking import Asking, by_key_names, counted
from confide.drawing.cells import Cell
from confide.drawing.conditions import label
from confide.drawing.headlines import main_range, usable
from confide.drawing.words import Words
from confide.statistics.area_rate.section import AreaRateSection
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind

_MOST, _SHOWN = 20, 10
"""Areas of which a page shows all, and how many it shows of more."""


def _title(statistic: AreaRate, asking: Asking) -> str:
    words = asking.words
    rate = asking.told(statistic.of) or words.say(f"title.rate.{counted(statistic)}")
    return words.say("title.area-rate", rate=rate, area=label(statistic.key_names[0]))


def _axis(statistic: AreaRate, unit: str, words: Words) -> str:
    del statistic
    return words.say("axis.rate", unit=unit)


def _bounded(statistic: AreaRate, asking: Asking) -> Sequence[str]:
    said = [spine_text(statistic.spine, asking)]
    if statistic.same_error_above is not None:
        size = f"{statistic.same_error_above:,}"
        said.append(asking.words.say("bounded.weighted", size=size))
    return said


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the lowest and highest stable rate; where none is stable, that and what to do."""
    if all(cell.flags for cell in cells):
        return words.say("headline.no-stable-rate", areas=f"{len(cells):,}")
    return main_range(cells, words)


def _cited(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the most precise rates where there are more than a page holds, as published."""
    if len(cells) <= _MOST:
        return cells
    precise = sorted(usable(cells), key=_imprecision)[:_SHOWN]
    return [cell for cell in cells if cell in precise]


def _imprecision(cell: Cell) -> float:
    return cell.half_width / cell.value if cell.value else math.inf


def _note(statistic: AreaRate) -> str:
    del statistic
    return "page.rows-precise"


KIND = Kind(
    name="area-rate",
    spec=AreaRate,
    section=AreaRateSection,
    bias=RATIO,
    title=_title,
    groups=by_key_names,
    axis=_axis,
    headline=_headline,
    cited=_cited,
    cited_note=_note,
    figure="confide.statistics.area_rate.figure:draw",
    subtitle="confide.statistics.area_rate.figure:subtitle",
    bounded=_bounded,
    outlined=AreaRate.outlined,
    audit="confide.statistics.area_rate.audit:AUDITED",
)
