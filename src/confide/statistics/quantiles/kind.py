"""What reports say of quantiles."""

from collections.abc import Mapping, Sequence

from confide.drawing.asking import Asking
from confide.drawing.cells import Cell
from confide.drawing.headlines import medians
from confide.drawing.words import Words
from confide.statistics.kind import Kind
from confide.statistics.quantiles.section import QuantilesSection
from confide.statistics.quantiles.spec import QuantileInterval, Quantiles


def _title(statistic: Quantiles, asking: Asking) -> str:
    alone = "-alone" if statistic.alone else ""
    return asking.words.say(f"title.quantiles{alone}", column=asking.words.named(statistic.column))


def _said(statistic: Quantiles) -> str:
    return (QuantileInterval.NONE if statistic.alone else statistic.interval).value


def _width(statistic: Quantiles, cells: Sequence[Cell], words: Words) -> Mapping[str, str]:
    """Return how near to a quantile its value may be taken to be."""
    del cells
    return {"width": words.say(f"quantiles.width.{_said(statistic)}")}


def _least(statistic: Quantiles, cells: Sequence[Cell], words: Words) -> Mapping[str, str]:
    """Return which differences are too small to be read."""
    del cells
    return {"least": words.say(f"quantiles.least.{_said(statistic)}")}


KIND = Kind(
    name="quantiles",
    spec=Quantiles,
    section=QuantilesSection,
    bias="at most the width of a bin",
    title=_title,
    fit=_width,
    unfit=_least,
    headline=medians,
    figure="confide.statistics.quantiles.figure:draw",
    subtitle="confide.statistics.quantiles.figure:subtitle",
    audit="confide.statistics.quantiles.audit:AUDITED",
)
