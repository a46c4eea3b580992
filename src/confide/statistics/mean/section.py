"""What study.yaml says of mean."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.mean.spec import Mean
from confide.statistics.shared_sections import PlacedSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSection(PlacedSection):
    """The mean of a column."""

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Mean(**common, column=self.column, by=tuple(self.by))
