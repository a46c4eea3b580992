"""What study.yaml says of quantiles."""

from dataclasses import dataclass
from typing import Any, Literal

from confide.plans.plan import Statistic
from confide.privacy.ranks import MOST_TOGETHER
from confide.statistics.quantiles.spec import QuantileInterval, Quantiles
from confide.statistics.section import Exact
from confide.statistics.shared_sections import DistributionSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesSection(DistributionSection):
    """Quantiles of a column."""

    at: list[Exact] | None = None
    interval: Literal["by-rank", "none"] = "by-rank"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        extra = self.stated_cells("Quantiles")
        extra |= {} if self.at is None else {"at": tuple(self.at)}
        interval = QuantileInterval(self.interval)
        together = self.at is None or 1 < len(set(self.at)) == len(self.at) <= MOST_TOGETHER
        if interval is QuantileInterval.NONE and together:
            interval = QuantileInterval.TOGETHER
        return Quantiles(
            **common,
            column=self.column,
            by=tuple(self.by),
            interval=interval,
            **extra,
        )
