"""What reports say of a weighted mean."""

from confide.drawing.asking import of_column
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.weighted_mean.section import WeightedMeanSection
from confide.statistics.weighted_mean.spec import WeightedMean

KIND = Kind(
    name="weighted-mean",
    spec=WeightedMean,
    section=WeightedMeanSection,
    bias=RATIO,
    title=of_column("title.weighted-mean"),
    weighted=True,
    figure="confide.drawing.charts.rates:rates",
    audit="confide.statistics.weighted_mean.audit:AUDITED",
)
