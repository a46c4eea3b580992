"""Sums, means, variances and quantiles of a column, as study.yaml writes them."""

from typing import Any, Literal

from pydantic import Field

from confide.errors import ContractError
from confide.files.kinds.section import StatisticSection, WholeRange
from confide.files.texts import Counting, Exact
from confide.plans.plan import Statistic
from confide.statistics.mean import Mean
from confide.statistics.quantiles import Quantiles
from confide.statistics.total import Sum
from confide.statistics.variance import Variance
from confide.tables.schema import Dataset


class NumberSection(StatisticSection):
    """A statistic of one number."""

    column: str
    by: list[str] = Field(default_factory=list)

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the column."""
        return self.domain_of(self.column, dataset=dataset).unit


class PlacedSection(NumberSection):
    """A statistic that lies between the declared bounds of its column."""

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the distance of the declared bounds."""
        of = self.domain_of(self.column, dataset=dataset)
        return WholeRange(
            width=(of.upper - of.lower) * of.scale,
            unit=f" {of.unit}".rstrip(),
            hint="Any number between the declared bounds is as good; ask for a smaller error.",
        )


class SumSection(NumberSection):
    """The sum of a column."""

    kind: Literal["sum"]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Sum(**common, column=self.column, by=tuple(self.by))


class MeanSection(PlacedSection):
    """The mean of a column."""

    kind: Literal["mean"]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Mean(**common, column=self.column, by=tuple(self.by))


class VarianceSection(NumberSection):
    """The variance and standard deviation of a column."""

    kind: Literal["variance"]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Variance(**common, column=self.column, by=tuple(self.by))


class QuantilesSection(PlacedSection):
    """Quantiles of a column."""

    kind: Literal["quantiles"]
    at: list[Exact] | None = None
    bins: Counting | None = None
    edges: list[Exact] | None = Field(default=None, min_length=2)

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
