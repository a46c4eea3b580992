"""What study.yaml says of data quality."""

from dataclasses import dataclass, field
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.section import StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class DataQualitySection(StatisticSection):
    """Missing, out-of-range and unknown cells of each field."""

    fields: list[str] = field(default_factory=list)
    by: list[str] = field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return DataQuality(**common, fields=tuple(self.fields), by=tuple(self.by))

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of a share of rows."""
        del dataset
        return "%"
