"""What study.yaml says of count."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.count.spec import Count
from confide.statistics.section import StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSection(StatisticSection):
    """How many patients, or events."""

    instead: ClassVar = {
        "by": "A count has no groups: write kind: histogram, which counts in each.",
        "column": "A count looks at no column: write kind: sum or mean of a number, or histogram.",
    }

    count: Literal["patients", "events"] = "patients"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Count(**common, counted=Counted(self.count))

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit
