"""What reports say of a weighted proportion."""

from confide.drawing.asking import of_condition, share_axis
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.weighted_proportion.section import WeightedProportionSection
from confide.statistics.weighted_proportion.spec import WeightedProportion

KIND = Kind(
    name="weighted-proportion",
    spec=WeightedProportion,
    section=WeightedProportionSection,
    bias=RATIO,
    title=of_condition("title.weighted-proportion"),
    axis=share_axis,
    weighted=True,
    figure="confide.drawing.charts.rates:rates",
    audit="confide.statistics.weighted_proportion.audit:AUDITED",
)
