"""What study.yaml says of histogram."""

from dataclasses import dataclass, field
from typing import Any, Literal

from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.histogram.spec import Histogram
from confide.statistics.section import Counting, StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramSection(StatisticSection):
    """How many patients, or events, in each cell."""

    by: list[str] = field(default_factory=list)
    count: Literal["patients", "events"] = "patients"
    threshold: Counting | None = None
    round_to: Counting = 1

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Histogram(
            **common,
            by=tuple(self.by),
            counted=Counted(self.count),
            threshold=self.threshold,
            round_to=self.round_to,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit
