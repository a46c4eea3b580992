"""Counts, histograms, proportions and selected keys, as study.yaml writes them."""

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from confide.files.kinds.section import StatisticSection, WholeRange
from confide.files.texts import Counting, Positive
from confide.files.where import read_where
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.count import Count
from confide.statistics.histogram import Histogram
from confide.statistics.key_selection import KeySelection
from confide.statistics.proportion import Proportion
from confide.tables.schema import Dataset


class CountSection(StatisticSection):
    """How many patients, or events."""

    kind: Literal["count"]
    count: Literal["patients", "events"] = "patients"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Count(**common, counted=Counted(self.count))

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit


class HistogramSection(StatisticSection):
    """How many patients, or events, in each cell."""

    kind: Literal["histogram"]
    by: list[str] = Field(default_factory=list)
    count: Literal["patients", "events"] = "patients"
    threshold: Counting | None = None
    round_to: Counting = 1

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Histogram(
            **common,
            by=tuple(self.by),
            counted=Counted(self.count),
            threshold=self.threshold,
            round_to=self.round_to,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit


class ProportionSection(StatisticSection):
    """The share of patients for whom a condition holds."""

    kind: Literal["proportion"]
    of: dict[str, Any]
    by: list[str] = Field(default_factory=list)
    per: Counting = 1

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        of = read_where(self.of, table=common["table"], dataset=dataset)
        by, share = tuple(self.by), self.expect.share
        return Proportion(**common, of=of, by=by, per=self.per, expect_share=share)

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the width of [0, per]."""
        del dataset
        return WholeRange(
            width=Fraction(self.per),
            unit="" if self.per == 1 else f" per {self.per}",
            hint='Write {name}: "3 %" for three percentage points, or per: 100.',
        )

    def per_one(self) -> int:
        """Return what the share is reported per."""
        return self.per


class KeySelectionSection(StatisticSection):
    """The values of a text column that enough patients have."""

    kind: Literal["key-selection"]
    key: str
    delta: Positive | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return KeySelection(**common, key=self.key)

    def selection_delta(self) -> Fraction | None:
        """Return the δ of the selection."""
        return self.delta
