"""What reports say of a mean."""

from confide.drawing.asking import of_column
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.mean.section import MeanSection
from confide.statistics.mean.spec import Mean

KIND = Kind(
    name="mean",
    spec=Mean,
    section=MeanSection,
    bias=RATIO,
    title=of_column("title.mean"),
    figure="confide.drawing.charts.by_group:by_group",
    audit="confide.statistics.mean.audit:AUDITED",
)
