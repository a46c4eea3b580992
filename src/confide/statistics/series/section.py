"""What study.yaml says of series."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.section import Counting
from confide.statistics.series.spec import Budget, Series, SeriesOf
from confide.statistics.shared_sections import OverTimeSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSection(OverTimeSection):
    """Sums or means of a column over time."""

    column: str
    of: SeriesOf = SeriesOf.MEAN
    n_min: Counting | None = None
    budget: Budget = Budget.JOINT

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Series(
            **common,
            **self.axis(),
            column=self.column,
            of=self.of,
            n_min=self.n_min,
            budget=self.budget,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the column."""
        return self.domain_of(self.column, dataset=dataset).unit
