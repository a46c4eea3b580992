"""Degree histograms, as study.yaml writes them."""

from typing import Any, Literal

from confide.errors import ContractError
from confide.files.kinds.section import PerPatientBounds, StatisticSection
from confide.files.texts import Counting
from confide.plans.plan import Statistic
from confide.statistics.degree_histogram import DegreeHistogram
from confide.tables.schema import Dataset


class DegreeHistogramSection(StatisticSection):
    """How many persons have how many contacts."""

    kind: Literal["degree-histogram"]
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
