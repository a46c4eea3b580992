"""What study.yaml says of sum."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.shared_sections import NumberSection
from confide.statistics.sum.spec import Sum
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class SumSection(NumberSection):
    """The sum of a column."""

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Sum(**common, column=self.column, by=tuple(self.by))
