"""What study.yaml says of quantiles."""

from dataclasses import dataclass
from typing import Annotated, Any

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.quantiles.spec import Quantiles
from confide.statistics.section import Counting, Exact, Form
from confide.statistics.shared_sections import PlacedSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesSection(PlacedSection):
    """Quantiles of a column."""

    at: list[Exact] | None = None
    bins: Counting | None = None
    edges: Annotated[list[Exact], Form.TWO_OR_MORE] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        if self.bins is not None and self.edges is not None:
            raise ContractError(
                f"Quantiles {self.id!r} states both bins and edges.", hint="Keep one of them."
            )
        extra: dict[str, Any] = {} if self.at is None else {"at": tuple(self.at)}
        extra |= {} if self.bins is None else {"bins": self.bins}
        extra |= {} if self.edges is None else {"edges": tuple(self.edges)}
        return Quantiles(**common, column=self.column, by=tuple(self.by), **extra)
