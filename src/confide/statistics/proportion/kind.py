"""What reports say of a proportion."""

from confide.drawing.asking import of_condition, share_axis
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.proportion.section import ProportionSection
from confide.statistics.proportion.spec import Proportion

KIND = Kind(
    name="proportion",
    spec=Proportion,
    section=ProportionSection,
    bias=RATIO,
    title=of_condition("title.proportion"),
    axis=share_axis,
    figure="confide.drawing.charts.by_group:by_group",
    audit="confide.statistics.proportion.audit:AUDITED",
)
