"""Differentially private statistics from health records.

::

    import confide

    with confide.open("dataset.yaml") as ws:            # nothing is read
        plan = ws.plan(confide.Count(id="diabetes", table="participants", ...), epsilon="0.5")
        release = ws.release(plan)                      # charges, reads, adds noise, certifies
"""

import importlib

from confide.version import __version__ as __version__

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from confide import errors, learning
    from confide.jobs.federated.training.fedavg import FedAvg
    from confide.jobs.federated.training.spec import DPSGDOverSites
    from confide.jobs.learning.dp_sgd import DPSGD
    from confide.jobs.learning.pate.job import Pate
    from confide.jobs.linkage.spec import Linkage
    from confide.jobs.synthesis.acceptance.check import SynthesisCheck
    from confide.jobs.synthesis.analyses import (
        AnalysisOf,
        LogisticIn,
        MeanIn,
        ShareIn,
        SurvivalIn,
    )
    from confide.jobs.synthesis.deep.spec import DeepSynthesis
    from confide.jobs.synthesis.spec import Synthesis
    from confide.plans.contribution import Counted, PerPatient
    from confide.plans.person_time import Per
    from confide.plans.plan import Plan, Study
    from confide.plans.public_numbers import PublicNumber
    from confide.report.load import load
    from confide.report.release import Release
    from confide.service.synthesis.combining import combine
    from confide.statistics import (
        SMR,
        AreaRate,
        Characteristic,
        ChiSquaredTest,
        Count,
        DataQuality,
        DegreeHistogram,
        HazardRegression,
        Hierarchy,
        Histogram,
        Incidence,
        KeySelection,
        LinearRegression,
        LogisticRegression,
        Mean,
        MedianDifference,
        MultinomialRegression,
        PoissonRegression,
        Proportion,
        Quantiles,
        RunningCounts,
        Series,
        StandardizedRate,
        Sum,
        Summary,
        Survival,
        TableOne,
        TopCategory,
        TopFeatures,
        TrendTest,
        TwoMeansTest,
        TwoProportionsTest,
        Variance,
        WeightedMean,
        WeightedProportion,
    )
    from confide.tables.expression import BinOf, ColumnOf, ValueOf
    from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
    from confide.workspace import Workspace
    from confide.workspace import open_workspace as open  # noqa: A004 - confide.open reads well

_WHERE = {
    "open": ("confide.workspace", "open_workspace"),
    "DPSGD": ("confide.jobs.learning.dp_sgd", "DPSGD"),
    "FedAvg": ("confide.jobs.federated.training.fedavg", "FedAvg"),
    "DPSGDOverSites": ("confide.jobs.federated.training.spec", "DPSGDOverSites"),
    "Pate": ("confide.jobs.learning.pate.job", "Pate"),
    "Linkage": ("confide.jobs.linkage.spec", "Linkage"),
    "AnalysisOf": ("confide.jobs.synthesis.analyses", "AnalysisOf"),
    "LogisticIn": ("confide.jobs.synthesis.analyses", "LogisticIn"),
    "MeanIn": ("confide.jobs.synthesis.analyses", "MeanIn"),
    "ShareIn": ("confide.jobs.synthesis.analyses", "ShareIn"),
    "SurvivalIn": ("confide.jobs.synthesis.analyses", "SurvivalIn"),
    "DeepSynthesis": ("confide.jobs.synthesis.deep.spec", "DeepSynthesis"),
    "Synthesis": ("confide.jobs.synthesis.spec", "Synthesis"),
    "SynthesisCheck": ("confide.jobs.synthesis.acceptance.check", "SynthesisCheck"),
    "combine": ("confide.service.synthesis.combining", "combine"),
    "Counted": ("confide.plans.contribution", "Counted"),
    "PerPatient": ("confide.plans.contribution", "PerPatient"),
    "Per": ("confide.plans.person_time", "Per"),
    "Plan": ("confide.plans.plan", "Plan"),
    "Study": ("confide.plans.plan", "Study"),
    "PublicNumber": ("confide.plans.public_numbers", "PublicNumber"),
    "load": ("confide.report.load", "load"),
    "Release": ("confide.report.release", "Release"),
    "BinOf": ("confide.tables.expression", "BinOf"),
    "ColumnOf": ("confide.tables.expression", "ColumnOf"),
    "ValueOf": ("confide.tables.expression", "ValueOf"),
    "All": ("confide.tables.filter", "All"),
    "AnyOf": ("confide.tables.filter", "AnyOf"),
    "Between": ("confide.tables.filter", "Between"),
    "Everything": ("confide.tables.filter", "Everything"),
    "IsIn": ("confide.tables.filter", "IsIn"),
    "Not": ("confide.tables.filter", "Not"),
    "Workspace": ("confide.workspace", "Workspace"),
}
"""What is not in confide.statistics."""

__all__ = [
    "DPSGD",
    "SMR",
    "All",
    "AnalysisOf",
    "AnyOf",
    "AreaRate",
    "Between",
    "BinOf",
    "Characteristic",
    "ChiSquaredTest",
    "ColumnOf",
    "Count",
    "Counted",
    "DPSGDOverSites",
    "DataQuality",
    "DeepSynthesis",
    "DegreeHistogram",
    "Everything",
    "FedAvg",
    "HazardRegression",
    "Hierarchy",
    "Histogram",
    "Incidence",
    "IsIn",
    "KeySelection",
    "LinearRegression",
    "Linkage",
    "LogisticIn",
    "LogisticRegression",
    "Mean",
    "MeanIn",
    "MedianDifference",
    "MultinomialRegression",
    "Not",
    "Pate",
    "Per",
    "PerPatient",
    "Plan",
    "PoissonRegression",
    "Proportion",
    "PublicNumber",
    "Quantiles",
    "Release",
    "RunningCounts",
    "Series",
    "ShareIn",
    "StandardizedRate",
    "Study",
    "Sum",
    "Summary",
    "Survival",
    "SurvivalIn",
    "Synthesis",
    "SynthesisCheck",
    "TableOne",
    "TopCategory",
    "TopFeatures",
    "TrendTest",
    "TwoMeansTest",
    "TwoProportionsTest",
    "ValueOf",
    "Variance",
    "WeightedMean",
    "WeightedProportion",
    "Workspace",
    "combine",
    "errors",
    "learning",
    "load",
    "open",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that importing confide is cheap."""
    if name not in __all__:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
    if name in ("errors", "learning"):
        return importlib.import_module(f"confide.{name}")
    module, attribute = _WHERE.get(name, ("confide.statistics", name))
    if module == "confide.workspace":
        from confide.regular_file import require_posix

        require_posix()
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
