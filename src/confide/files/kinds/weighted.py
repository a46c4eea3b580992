"""Weighted proportions and means, as study.yaml writes them."""

from typing import Any, Literal

from pydantic import Field

from confide.files.kinds.counts import ProportionSection
from confide.files.kinds.numbers import PlacedSection
from confide.files.kinds.section import ExpectSection
from confide.files.texts import Positive
from confide.files.where import read_where
from confide.plans.plan import Statistic
from confide.statistics.weighted_mean import WeightedMean
from confide.statistics.weighted_proportion import WeightedProportion
from confide.tables.schema import Dataset


class WeightExpectSection(ExpectSection):
    """Public planning values of a weighted statistic."""

    weight: Positive | None = None


class WeightedProportionSection(ProportionSection):
    """The weighted share of patients for whom a condition holds."""

    kind: Literal["weighted-proportion"]  # type: ignore[assignment]
    expect: WeightExpectSection = Field(default_factory=WeightExpectSection)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return WeightedProportion(
            **common,
            of=read_where(self.of, table=common["table"], dataset=dataset),
            by=tuple(self.by),
            per=self.per,
            expect_share=self.expect.share,
            expect_weight=self.expect.weight,
        )


class WeightedMeanSection(PlacedSection):
    """The weighted mean of a column."""

    kind: Literal["weighted-mean"]
    expect: WeightExpectSection = Field(default_factory=WeightExpectSection)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return WeightedMean(
            **common,
            column=self.column,
            by=tuple(self.by),
            expect_weight=self.expect.weight,
        )
