"""What study.yaml says of top features."""

from dataclasses import dataclass
from typing import Any, Literal

from confide.plans.plan import Statistic
from confide.statistics.shared_sections import ChoiceSection
from confide.statistics.top_features.spec import TopFeatures
from confide.tables.aggregates.ranked.ranked_features import About
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TopFeaturesSection(ChoiceSection):
    """The columns that go most strongly with an outcome."""

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
