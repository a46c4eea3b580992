"""What reports say of quantiles."""

from confide.drawing.asking import of_column
from confide.drawing.headlines import medians
from confide.statistics.kind import Kind
from confide.statistics.quantiles.section import QuantilesSection
from confide.statistics.quantiles.spec import Quantiles

KIND = Kind(
    name="quantiles",
    spec=Quantiles,
    section=QuantilesSection,
    bias="at most the width of a bin",
    title=of_column("title.quantiles"),
    headline=medians,
    figure="confide.statistics.quantiles.figure:draw",
    audit="confide.statistics.quantiles.audit:AUDITED",
)
