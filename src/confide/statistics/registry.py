"""Every kind of statistic, listed once."""

from collections.abc import Mapping
from typing import Any

from confide.drawing.words import own_words
from confide.errors import ContractError, UnsupportedError
from confide.plans.plan import Statistic
from confide.statistics.area_rate.kind import KIND as AREA_RATE
from confide.statistics.count.kind import KIND as COUNT
from confide.statistics.data_quality.kind import KIND as DATA_QUALITY
from confide.statistics.degree_histogram.kind import KIND as DEGREE_HISTOGRAM
from confide.statistics.hierarchy.kind import KIND as HIERARCHY
from confide.statistics.histogram.kind import KIND as HISTOGRAM
from confide.statistics.hypothesis_tests.kinds import CHI_SQUARED, TREND, TWO_MEANS, TWO_PROPORTIONS
from confide.statistics.incidence.kind import KIND as INCIDENCE
from confide.statistics.key_selection.kind import KIND as KEY_SELECTION
from confide.statistics.kind import Kind
from confide.statistics.logistic.kinds import LOGISTIC, MULTINOMIAL
from confide.statistics.mean.kind import KIND as MEAN
from confide.statistics.median_difference.kind import KIND as MEDIAN_DIFFERENCE
from confide.statistics.person_time.kinds import HAZARD, POISSON
from confide.statistics.proportion.kind import KIND as PROPORTION
from confide.statistics.quantiles.kind import KIND as QUANTILES
from confide.statistics.regression.kind import KIND as REGRESSION
from confide.statistics.running_counts.kind import KIND as RUNNING_COUNTS
from confide.statistics.series.kind import KIND as SERIES
from confide.statistics.smr.kind import KIND as SMR
from confide.statistics.standardized_rate.kind import KIND as STANDARDIZED_RATE
from confide.statistics.sum.kind import KIND as SUM
from confide.statistics.survival.kind import KIND as SURVIVAL
from confide.statistics.table_one.kind import KIND as TABLE_ONE
from confide.statistics.top_category.kind import KIND as TOP_CATEGORY
from confide.statistics.top_features.kind import KIND as TOP_FEATURES
from confide.statistics.variance.kind import KIND as VARIANCE
from confide.statistics.weighted_mean.kind import KIND as WEIGHTED_MEAN
from confide.statistics.weighted_proportion.kind import KIND as WEIGHTED_PROPORTION


def registered(*kinds: Kind) -> tuple[Kind, ...]:
    """Return kinds that are complete together.

    Raises:
        ContractError: If two have one name or spec, or one lacks a language that others have.
    """
    languages = {language for kind in kinds for language in own_words(kind.folder)}
    for place, kind in enumerate(kinds):
        lacking = sorted(languages - own_words(kind.folder).keys())
        if lacking:
            raise ContractError(f"Kind {kind.name!r} lacks words in {' and '.join(lacking)}.")
        if any(kind.name == other.name or kind.spec is other.spec for other in kinds[:place]):
            raise ContractError(f"Kind {kind.name!r} is registered twice.")
    return kinds


KINDS: tuple[Kind, ...] = registered(
    COUNT,
    HISTOGRAM,
    SUM,
    MEAN,
    VARIANCE,
    PROPORTION,
    QUANTILES,
    KEY_SELECTION,
    TABLE_ONE,
    DATA_QUALITY,
    INCIDENCE,
    STANDARDIZED_RATE,
    SMR,
    WEIGHTED_PROPORTION,
    WEIGHTED_MEAN,
    SURVIVAL,
    CHI_SQUARED,
    TWO_PROPORTIONS,
    TREND,
    TWO_MEANS,
    MEDIAN_DIFFERENCE,
    REGRESSION,
    LOGISTIC,
    MULTINOMIAL,
    POISSON,
    HAZARD,
    DEGREE_HISTOGRAM,
    HIERARCHY,
    AREA_RATE,
    SERIES,
    RUNNING_COUNTS,
    TOP_CATEGORY,
    TOP_FEATURES,
)
"""In the order in which they are told."""

STATISTICS: Mapping[str, type[Any]] = {kind.name: kind.spec for kind in KINDS}
"""Every spec, by the word that study files use."""

_BY_SPEC: Mapping[type[Any], Kind] = {kind.spec: kind for kind in KINDS}


def kind_of(statistic: Statistic) -> Kind:
    """Return the kind of a statistic.

    Raises:
        UnsupportedError: If it is none of those listed.

    Example:
        >>> from confide.statistics.count.spec import Count
        >>> kind_of(Count(id="diabetes", table="person")).name
        'count'
    """
    found = _BY_SPEC.get(type(statistic))
    if found is None:
        raise UnsupportedError(f"{type(statistic).__name__} is not a registered statistic.")
    return found
