"""What reports say of a standardised rate."""

from collections.abc import Mapping, Sequence

from confide.drawing.asking import of_events, unit_axis
from confide.drawing.cells import Cell
from confide.drawing.words import Words
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.standardized_rate.section import StandardizedRateSection
from confide.statistics.standardized_rate.spec import StandardizedRate


def _strata(statistic: StandardizedRate, cells: Sequence[Cell], words: Words) -> Mapping[str, str]:
    del cells
    return {"strata": words.listed([words.named(name) for name in statistic.strata])}


KIND = Kind(
    name="standardized-rate",
    spec=StandardizedRate,
    section=StandardizedRateSection,
    bias=RATIO,
    title=of_events("title.standardized-rate"),
    axis=unit_axis,
    fit=_strata,
    figure="confide.drawing.charts.rates:rates",
    audit="confide.statistics.standardized_rate.audit:AUDITED",
)
