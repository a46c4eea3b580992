"""What study.yaml says of proportion."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.proportion.spec import Proportion
from confide.statistics.shared_sections import ShareSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionSection(ShareSection):
    """The share of patients for whom a condition holds."""

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        by, share = tuple(self.by), self.expect.share
        return Proportion(**common, of=self.of, by=by, per=self.per, expect_share=share)
