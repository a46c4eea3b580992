"""What reports say of a sum."""

from confide.drawing.asking import of_column
from confide.statistics.kind import Kind
from confide.statistics.sum.section import SumSection
from confide.statistics.sum.spec import Sum

KIND = Kind(
    name="sum",
    spec=Sum,
    section=SumSection,
    bias="none of the noise; clipping moves the sum itself",
    title=of_column("title.sum"),
    figure="confide.drawing.charts.by_group:sums",
    audit="confide.statistics.sum.audit:AUDITED",
)
