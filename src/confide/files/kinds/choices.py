"""Top categories and top features, as study.yaml writes them."""

from typing import Any, Literal

from pydantic import Field

from confide.files.kinds.section import StatisticSection
from confide.files.texts import Counting, Positive
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.top_category import TopCategory
from confide.statistics.top_features import TopFeatures
from confide.tables.ranked import About
from confide.tables.schema import Dataset


class ChoiceSection(StatisticSection):
    """A choice among public candidates."""

    size: Counting = 1
    lead: Positive | None = None


class TopCategorySection(ChoiceSection):
    """The categories that most patients, or events, fall into."""

    kind: Literal["top-category"]
    by: list[str] = Field(default_factory=list)
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


class TopFeaturesSection(ChoiceSection):
    """The columns that go most strongly with an outcome."""

    kind: Literal["top-features"]
    features: list[str]
    outcome: str
    about: Literal["means", "centres"] = "means"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return TopFeatures(
            **common,
            features=tuple(self.features),
            outcome=self.outcome,
            about=About(self.about),
            size=self.size,
            lead=self.lead,
        )
