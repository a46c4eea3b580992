"""What study.yaml says of hypothesis tests."""

from dataclasses import dataclass
from typing import Any

from confide.plans.plan import Statistic
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.section import Condition, Exact, StatisticSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiSquaredTestSection(StatisticSection):
    """Whether two categories are independent."""

    by: list[str]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return ChiSquaredTest(**common, by=tuple(self.by))

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a share."""
        del dataset
        return "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoProportionsTestSection(StatisticSection):
    """Whether a condition holds equally often in two groups."""

    of: Condition
    by: list[str]
    groups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return TwoProportionsTest(
            **common,
            of=self.of,
            by=tuple(self.by),
            groups=tuple(self.groups or ()),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a share."""
        del dataset
        return "1"

    def per_one(self) -> int:
        """Return what the share is reported per."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendTestSection(StatisticSection):
    """Whether a share rises or falls over ordered categories."""

    of: Condition
    by: list[str]
    scores: list[Exact] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return TrendTest(
            **common,
            of=self.of,
            by=tuple(self.by),
            scores=tuple(self.scores or ()),
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a share."""
        del dataset
        return "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoMeansTestSection(StatisticSection):
    """Whether a number is equally large in two groups."""

    column: str
    by: list[str]
    groups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        groups = tuple(self.groups or ())
        return TwoMeansTest(**common, column=self.column, by=tuple(self.by), groups=groups)

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the column."""
        return self.domain_of(self.column, dataset=dataset).unit
