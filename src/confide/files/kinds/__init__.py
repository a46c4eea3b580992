"""The kinds of statistic that study.yaml knows: one section class each, told apart by ``kind``."""

from typing import Annotated, TypeAlias, get_args

from pydantic import BeforeValidator, Field

from confide.files.kinds.areas import AreaRateSection, HierarchySection
from confide.files.kinds.choices import TopCategorySection, TopFeaturesSection
from confide.files.kinds.comparisons import (
    ChiSquaredTestSection,
    HazardRegressionSection,
    LinearRegressionSection,
    LogisticRegressionSection,
    MultinomialRegressionSection,
    PoissonRegressionSection,
    TrendTestSection,
    TwoMeansTestSection,
    TwoProportionsTestSection,
)
from confide.files.kinds.counts import (
    CountSection,
    HistogramSection,
    KeySelectionSection,
    ProportionSection,
)
from confide.files.kinds.networks import DegreeHistogramSection
from confide.files.kinds.numbers import MeanSection, QuantilesSection, SumSection, VarianceSection
from confide.files.kinds.rates import IncidenceSection, SMRSection, StandardizedRateSection
from confide.files.kinds.section import StatisticSection
from confide.files.kinds.survival import SurvivalSection
from confide.files.kinds.tables import DataQualitySection, TableOneSection
from confide.files.kinds.times import RunningCountsSection, SeriesSection
from confide.files.kinds.weighted import WeightedMeanSection, WeightedProportionSection

__all__ = ["KINDS", "AnyStatistic", "StatisticSection"]

_Known: TypeAlias = (
    CountSection
    | HistogramSection
    | SumSection
    | MeanSection
    | VarianceSection
    | ProportionSection
    | QuantilesSection
    | KeySelectionSection
    | TableOneSection
    | DataQualitySection
    | IncidenceSection
    | StandardizedRateSection
    | SMRSection
    | WeightedProportionSection
    | WeightedMeanSection
    | SurvivalSection
    | ChiSquaredTestSection
    | TwoProportionsTestSection
    | TrendTestSection
    | TwoMeansTestSection
    | LinearRegressionSection
    | LogisticRegressionSection
    | MultinomialRegressionSection
    | PoissonRegressionSection
    | HazardRegressionSection
    | DegreeHistogramSection
    | HierarchySection
    | AreaRateSection
    | SeriesSection
    | RunningCountsSection
    | TopCategorySection
    | TopFeaturesSection
)

KINDS: tuple[str, ...] = tuple(
    get_args(section.model_fields["kind"].annotation)[0] for section in get_args(_Known)
)
"""Every word that ``kind`` may be."""

_OTHER_WORDS = {
    "median": "quantiles, with at: [0.5]",
    "quartiles": "quantiles, with at: [0.25, 0.5, 0.75]",
    "percentiles": "quantiles",
    "quantile": "quantiles",
    "average": "mean",
    "total": "sum",
    "sd": "variance",
    "prevalence": "proportion",
    "percentage": "proportion",
    "table1": "table-1",
    "characteristics": "table-1",
    "completeness": "data-quality",
    "rate": "incidence, or proportion where there is no time at risk",
    "incidence-rate": "incidence",
    "standardised-rate": "standardized-rate",
    "kaplan-meier": "survival",
    "log-rank": "survival, with by: [arm]",
    "chi-square": "chi-squared-test",
    "t-test": "two-means-test",
    "regression": "linear-regression, or logistic-regression for a condition",
    "logistic": "logistic-regression",
    "multinomial": "multinomial-regression",
    "softmax": "multinomial-regression",
    "poisson": "poisson-regression",
    "cox": "hazard-regression (Cox's partial likelihood is not a sum over patients)",
    "cox-regression": "hazard-regression (Cox's partial likelihood is not a sum over patients)",
}


def _kind(value: object) -> object:
    """Send other words for a statistic to the one that is known."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind in KINDS:
        return value
    if kind.lower() in _OTHER_WORDS:
        raise ValueError(f"unknown kind {kind!r}; write kind: {_OTHER_WORDS[kind.lower()]}")
    raise ValueError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")


AnyStatistic: TypeAlias = Annotated[
    Annotated[_Known, Field(discriminator="kind")], BeforeValidator(_kind)
]
"""One item of ``statistics``."""
