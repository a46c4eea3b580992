"""What study.yaml says of top category."""

from dataclasses import dataclass, field
from typing import Any, Literal

from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.shared_sections import ChoiceSection
from confide.statistics.top_category.spec import TopCategory
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TopCategorySection(ChoiceSection):
    """The categories that most patients, or events, fall into."""

    by: list[str] = field(default_factory=list)
    count: Literal["patients", "events"] = "patients"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return TopCategory(
            **common,
            by=tuple(self.by),
            counted=Counted(self.count),
            size=self.size,
            lead=self.lead,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit
