"""What study.yaml says of variance."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.shared_sections import NumberSection
from confide.statistics.variance.spec import Variance
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSection(NumberSection):
    """The variance and standard deviation of a column."""

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Variance(**common, column=self.column, by=tuple(self.by))
