"""What study.yaml says of survival."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.section import Counting, Exact, StatisticSection, WholeRange
from confide.statistics.survival.method import Method
from confide.statistics.survival.survival import Survival
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalSection(StatisticSection):
    """Time to an event, by arm."""

    time: str
    status: str
    censored: str | list[str]
    by: list[str] = field(default_factory=list)
    bins: Counting | None = None
    edges: list[Exact] | None = None
    until: Exact | None = None
    entry: str | None = None
    method: Literal["exit-histogram", "per-time-point"] = "exit-histogram"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        if self.entry is not None:
            raise ContractError(
                f"Survival {self.id!r}: delayed entry (left truncation) is not supported: entries "
                "need a second histogram, which doubles the sensitivity, and intervals need pairs "
                "of entry and exit.",
                hint="Let the time run from the entry (a per-patient value days-between), or start "
                "at a landmark that all have reached: where: {...}.",
            )
        if self.bins is not None and self.edges is not None:
            raise ContractError(
                f"Survival {self.id!r} states both bins and edges.", hint="Keep one of them."
            )
        extra: dict[str, Any] = {} if self.bins is None else {"bins": self.bins}
        extra |= {} if self.edges is None else {"edges": tuple(self.edges)}
        return Survival(
            **common,
            time=self.time,
            status=self.status,
            censored=(self.censored,) if isinstance(self.censored, str) else tuple(self.censored),
            by=tuple(self.by),
            until=self.until,
            method=Method(self.method),
            **extra,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of a share that survives."""
        del dataset
        return "1"

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the width of [0, 1]."""
        del dataset
        return WholeRange(
            width=Fraction(1),
            unit="",
            hint="Survival lies between 0 and 1; write e.g. within: 0.02.",
        )
