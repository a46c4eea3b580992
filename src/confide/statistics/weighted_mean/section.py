"""What study.yaml says of weighted mean."""

from dataclasses import dataclass, field
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.shared_sections import PlacedSection, WeightExpectSection
from confide.statistics.weighted_mean.spec import WeightedMean
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMeanSection(PlacedSection):
    """The weighted mean of a column."""

    expect: WeightExpectSection = field(default_factory=WeightExpectSection)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return WeightedMean(
            **common,
            column=self.column,
            by=tuple(self.by),
            expect_weight=self.expect.weight,
        )
