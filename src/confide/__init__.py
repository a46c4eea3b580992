"""Differentially private statistics from health records.

::

    import confide

    with confide.open("dataset.yaml") as ws:            # nothing is read
        plan = ws.plan(confide.Count(id="diabetes", table="participants", ...), epsilon="0.5")
        release = ws.release(plan)                      # charges, reads, adds noise, certifies
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from confide.plans.contribution import Counted, PerPatient
    from confide.plans.plan import Plan, Study
    from confide.release.release import Release
    from confide.statistics import (
        SMR,
        AreaRate,
        Count,
        DegreeHistogram,
        Hierarchy,
        Histogram,
        Incidence,
        KeySelection,
        Mean,
        Proportion,
        Quantiles,
        RunningCounts,
        Series,
        StandardizedRate,
        Sum,
        Survival,
        Variance,
        WeightedMean,
        WeightedProportion,
    )
    from confide.workspace import Workspace
    from confide.workspace import open_workspace as open  # noqa: A004 - confide.open reads well

_WHERE = {
    "open": ("confide.workspace", "open_workspace"),
    "Workspace": ("confide.workspace", "Workspace"),
    "Plan": ("confide.plans.plan", "Plan"),
    "Study": ("confide.plans.plan", "Study"),
    "Release": ("confide.release.release", "Release"),
    "Counted": ("confide.plans.contribution", "Counted"),
    "PerPatient": ("confide.plans.contribution", "PerPatient"),
    "AreaRate": ("confide.statistics", "AreaRate"),
    "Count": ("confide.statistics", "Count"),
    "DegreeHistogram": ("confide.statistics", "DegreeHistogram"),
    "Hierarchy": ("confide.statistics", "Hierarchy"),
    "Histogram": ("confide.statistics", "Histogram"),
    "KeySelection": ("confide.statistics", "KeySelection"),
    "Mean": ("confide.statistics", "Mean"),
    "Proportion": ("confide.statistics", "Proportion"),
    "Quantiles": ("confide.statistics", "Quantiles"),
    "RunningCounts": ("confide.statistics", "RunningCounts"),
    "Series": ("confide.statistics", "Series"),
    "Sum": ("confide.statistics", "Sum"),
    "Survival": ("confide.statistics", "Survival"),
    "Variance": ("confide.statistics", "Variance"),
    "Incidence": ("confide.statistics", "Incidence"),
    "StandardizedRate": ("confide.statistics", "StandardizedRate"),
    "SMR": ("confide.statistics", "SMR"),
    "WeightedMean": ("confide.statistics", "WeightedMean"),
    "WeightedProportion": ("confide.statistics", "WeightedProportion"),
}

__all__ = [
    "SMR",
    "AreaRate",
    "Count",
    "Counted",
    "DegreeHistogram",
    "Hierarchy",
    "Histogram",
    "Incidence",
    "KeySelection",
    "Mean",
    "PerPatient",
    "Plan",
    "Proportion",
    "Quantiles",
    "Release",
    "RunningCounts",
    "Series",
    "StandardizedRate",
    "Study",
    "Sum",
    "Survival",
    "Variance",
    "WeightedMean",
    "WeightedProportion",
    "Workspace",
    "open",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that importing confide is cheap."""
    if name not in _WHERE:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
    module, attribute = _WHERE[name]
    if module == "confide.workspace":
        from confide.regular_file import require_posix

        require_posix()
    return getattr(importlib.import_module(module), attribute)
