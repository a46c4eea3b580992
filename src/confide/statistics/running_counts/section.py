"""What study.yaml says of running counts."""

from dataclasses import dataclass, field
from typing import Any, Literal

from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.running_counts.spec import RunningCounts
from confide.statistics.section import Counting, Day
from confide.statistics.shared_sections import OverTimeSection, day_number
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCountsSection(OverTimeSection):
    """Running and rolling counts of patients or events."""

    through: Day | None = None
    by: list[str] = field(default_factory=list)
    count: Literal["patients", "events"] = "patients"
    rolling: Counting | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return RunningCounts(
            **common,
            **self.axis(),
            through=day_number(self.through),
            groups=tuple(self.by),
            counted=Counted(self.count),
            rolling=self.rolling,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit
