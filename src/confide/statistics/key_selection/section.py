"""What study.yaml says of key selection."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.section import Positive, StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySelectionSection(StatisticSection):
    """The values of a text column that enough patients have."""

    key: str
    delta: Positive | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return KeySelection(**common, key=self.key)

    def selection_delta(self) -> Fraction | None:
        """Return the δ of the selection."""
        return self.delta
