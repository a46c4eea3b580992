"""What study.yaml says of weighted proportion."""

from dataclasses import dataclass, field
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.shared_sections import ShareSection, WeightExpectSection
from confide.statistics.weighted_proportion.spec import WeightedProportion
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedProportionSection(ShareSection):
    """The weighted share of patients for whom a condition holds."""

    expect: WeightExpectSection = field(default_factory=WeightExpectSection)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return WeightedProportion(
            **common,
            of=self.of,
            by=tuple(self.by),
            per=self.per,
            expect_share=self.expect.share,
            expect_weight=self.expect.weight,
        )
