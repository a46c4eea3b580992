"""What study.yaml says of degree histogram."""

from dataclasses import dataclass
from typing import Any

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.degree_histogram.spec import DegreeHistogram
from confide.statistics.section import Counting, PerPatientBounds, StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeHistogramSection(StatisticSection):
    """How many persons have how many contacts."""

    at_most: Counting
    persons: str = ""

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        if self.per_patient != PerPatientBounds():
            raise ContractError(
                f"Statistic {self.id!r}: a degree histogram is bounded by at-most alone.",
                hint="Leave per-patient out.",
            )
        if self.persons:
            dataset.table(self.persons)
        shared = {key: value for key, value in common.items() if key != "per_patient"}
        return DegreeHistogram(**shared, at_most=self.at_most, persons=self.persons)
