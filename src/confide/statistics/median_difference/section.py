"""What study.yaml says of a difference of medians."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.median_difference.spec import MedianDifference
from confide.statistics.shared_sections import DistributionSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianDifferenceSection(DistributionSection):
    """How much larger a median is in one group than in another."""

    by: list[str]
    groups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return MedianDifference(
            **common,
            column=self.column,
            by=tuple(self.by),
            groups=tuple(self.groups or ()),
            **self.stated_cells("Median difference"),
        )
