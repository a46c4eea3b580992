"""What reports say of a linear regression."""

from confide.drawing.asking import by_heads, of_outcome
from confide.drawing.findings import coefficient_headline
from confide.drawing.words import Words
from confide.statistics.kind import Kind
from confide.statistics.regression.linear import LinearRegression
from confide.statistics.regression.section import LinearRegressionSection


def _axis(statistic: LinearRegression, unit: str, words: Words) -> str:
    del unit
    return words.named(statistic.outcome)


KIND = Kind(
    name="linear-regression",
    spec=LinearRegression,
    section=LinearRegressionSection,
    bias="towards 0 where the noise of the moments is large",
    title=of_outcome("title.linear-regression"),
    groups=by_heads("head.term"),
    axis=_axis,
    headline=coefficient_headline,
    assumes="assumes.equal-spread",
    figure="confide.drawing.charts.forest:coefficients",
    figure_tells=True,
    evaluation="confide.statistics.regression.off_figure:off_in_subgroups",
    audit="confide.statistics.regression.audit:AUDITED",
)
