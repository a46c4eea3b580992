"""One statistic, one folder: its spec with the sensitivity lemma and the estimator, and its kind.

Adding one is one folder, one line in :mod:`confide.statistics.registry`, its spec's name here and
in :mod:`confide`, one docs page, and an example for the tests that walk over every kind:
CONTRIBUTING.md lists the places.
"""

from typing import Any

from confide.errors import ContractError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json, decode
from confide.plans.job import JobPlan
from confide.plans.plan import Measurement, Plan, Statistic, Study
from confide.plans.sites.federation import Federation
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.count.spec import Count
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.degree_histogram.spec import DegreeHistogram
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.histogram.spec import Histogram
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.incidence.spec import Incidence
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.mean.spec import Mean
from confide.statistics.median_difference.spec import MedianDifference
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.proportion.spec import Proportion
from confide.statistics.quantiles.spec import Quantiles
from confide.statistics.registry import STATISTICS
from confide.statistics.regression.linear import LinearRegression
from confide.statistics.running_counts.spec import RunningCounts
from confide.statistics.series.spec import Series
from confide.statistics.smr.spec import SMR
from confide.statistics.standardized_rate.spec import StandardizedRate
from confide.statistics.sum.spec import Sum
from confide.statistics.survival import Survival
from confide.statistics.table_one import Characteristic, Summary, TableOne
from confide.statistics.top_category.spec import TopCategory
from confide.statistics.top_features.spec import TopFeatures
from confide.statistics.variance.spec import Variance
from confide.statistics.weighted_mean.spec import WeightedMean
from confide.statistics.weighted_proportion.spec import WeightedProportion
from confide.tables.aggregates.shapes import SHAPES
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.schema import Dataset

__all__ = [
    "NAMES",
    "SMR",
    "STATISTICS",
    "AreaRate",
    "Characteristic",
    "ChiSquaredTest",
    "Count",
    "DataQuality",
    "DegreeHistogram",
    "HazardRegression",
    "Hierarchy",
    "Histogram",
    "Incidence",
    "KeySelection",
    "LinearRegression",
    "LogisticRegression",
    "Mean",
    "MedianDifference",
    "MultinomialRegression",
    "PoissonRegression",
    "Proportion",
    "Quantiles",
    "RunningCounts",
    "Series",
    "StandardizedRate",
    "Sum",
    "Summary",
    "Survival",
    "TableOne",
    "TopCategory",
    "TopFeatures",
    "TrendTest",
    "TwoMeansTest",
    "TwoProportionsTest",
    "Variance",
    "WeightedMean",
    "WeightedProportion",
    "read_asked",
    "read_job",
    "read_plan",
    "read_priced",
]

NAMES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        All,
        AnyOf,
        Between,
        Everything,
        IsIn,
        Not,
        *SHAPES,
        DiscreteLaplace,
        DiscreteGaussian,
        PolyaDifference,
        KeyThreshold,
        SetSelection,
        Peeling,
        QuantileSet,
    )
} | {"Predicate": Predicate}
"""Classes that canonical JSON may name, for :func:`confide.plans.canonical.decode`."""


def read_plan(value: Json) -> Plan:
    """Return the plan that :meth:`Plan.to_json` wrote.

    Raises:
        ContractError: If it is not a plan of this format, or a field is unknown.
    """
    if not isinstance(value, dict) or value.get("is") != "Plan":
        raise ContractError("Expected a plan.")
    known = {"is", "study", "dataset", "statistics", "measurements", "version", "federation"}
    unknown = value.keys() - known
    if unknown:
        raise ContractError(f"A plan has no field {min(unknown)!r}.")
    if value.get("version", 1) != 1:
        raise ContractError("This plan has a newer format.", hint="Upgrade confide.")
    try:
        study, dataset, statistics = read_asked(value)
        return Plan(
            study=study,
            dataset=dataset,
            statistics=statistics,
            measurements=tuple(
                decode(Measurement, item, names=NAMES) for item in _listed(value, "measurements")
            ),
            federation=decode(Federation, value["federation"], names=NAMES)
            if "federation" in value
            else None,
        )
    except KeyError as missing:
        raise ContractError(f"The plan lacks {missing}.") from None


def read_asked(value: Json) -> tuple[Study, Dataset, tuple[Statistic, ...]]:
    """Return study, data set and statistics of an object with fields of these names.

    Raises:
        ContractError: If one cannot be read.
        KeyError: If one is missing.
    """
    return (
        decode(Study, value["study"], names=NAMES),
        decode(Dataset, value["dataset"], names=NAMES),
        tuple(_read_statistic(spec) for spec in _listed(value, "statistics")),
    )


def read_job(value: Json) -> JobPlan:
    """Return the plan that :meth:`JobPlan.to_json` wrote.

    Raises:
        ContractError: If it is not a plan of this format, or a field is unknown.
    """
    plan: JobPlan = decode(JobPlan, value, names=NAMES)
    if plan.version != 1:
        raise ContractError("This plan has a newer format.", hint="Upgrade confide.")
    return plan


def read_priced(value: Json) -> Plan | JobPlan:
    """Return the plan of a study or of a job, whichever it is.

    Raises:
        ContractError: If it is of neither format, or a field is unknown.
    """
    is_job = isinstance(value, dict) and value.get("is") == "JobPlan"
    return read_job(value) if is_job else read_plan(value)


def _listed(value: Json, key: str) -> list[Json]:
    found = value[key]
    if not isinstance(found, list):
        raise ContractError(f"Expected a list as the plan's {key}.")
    return found


def _read_statistic(spec: Json) -> Statistic:
    classes = {kind.__name__: kind for kind in STATISTICS.values()}
    kind = classes.get(str(spec.get("is"))) if isinstance(spec, dict) else None
    if kind is None:
        raise ContractError("The plan holds an unknown statistic.")
    statistic: Statistic = decode(kind, spec, names=NAMES)
    return statistic
