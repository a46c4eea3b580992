"""Tests of hypotheses and regressions, as study.yaml writes them."""

from fractions import Fraction
from typing import Any, Literal

from confide.errors import ContractError
from confide.files.kinds.section import StatisticSection
from confide.files.texts import Exact
from confide.files.where import read_where
from confide.plans.plan import Statistic
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression, Method
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.regression.linear import LinearRegression
from confide.tables.schema import Dataset


class ChiSquaredTestSection(StatisticSection):
    """Whether two categories are independent."""

    kind: Literal["chi-squared-test"]
    by: list[str]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return ChiSquaredTest(**common, by=tuple(self.by))

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a share."""
        del dataset
        return "1"


class TwoProportionsTestSection(StatisticSection):
    """Whether a condition holds equally often in two groups."""

    kind: Literal["two-proportions-test"]
    of: dict[str, Any]
    by: list[str]
    groups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return TwoProportionsTest(
            **common,
            of=read_where(self.of, table=common["table"], dataset=dataset),
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


class TrendTestSection(StatisticSection):
    """Whether a share rises or falls over ordered categories."""

    kind: Literal["trend-test"]
    of: dict[str, Any]
    by: list[str]
    scores: list[Exact] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return TrendTest(
            **common,
            of=read_where(self.of, table=common["table"], dataset=dataset),
            by=tuple(self.by),
            scores=tuple(self.scores or ()),
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a share."""
        del dataset
        return "1"


class TwoMeansTestSection(StatisticSection):
    """Whether a number is equally large in two groups."""

    kind: Literal["two-means-test"]
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


class LinearRegressionSection(StatisticSection):
    """How a number depends on others and on categories."""

    kind: Literal["linear-regression"]
    outcome: str
    covariates: list[str]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        covariates = tuple(self.covariates)
        return LinearRegression(**common, outcome=self.outcome, covariates=covariates)

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the outcome."""
        return self.domain_of(self.outcome, dataset=dataset).unit


class LogisticRegressionSection(StatisticSection):
    """How the odds of a condition depend on numbers and categories."""

    kind: Literal["logistic-regression"]
    of: dict[str, Any]
    covariates: list[str]
    hold_out: Exact = Fraction(0)
    method: Literal["rounds", "one-shot"] = "rounds"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return LogisticRegression(
            **common,
            of=read_where(self.of, table=common["table"], dataset=dataset),
            covariates=tuple(self.covariates),
            hold_out=self.hold_out,
            method=Method(self.method),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of log odds."""
        del dataset
        return "1"


class MultinomialRegressionSection(StatisticSection):
    """How the odds of each class of a category depend on numbers and categories."""

    kind: Literal["multinomial-regression"]
    outcome: str
    covariates: list[str]
    reference: str = ""
    hold_out: Exact = Fraction(0)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return MultinomialRegression(
            **common,
            outcome=self.outcome,
            covariates=tuple(self.covariates),
            reference=self.reference,
            hold_out=self.hold_out,
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of log odds."""
        del dataset
        return "1"


class PoissonRegressionSection(StatisticSection):
    """How a rate of events depends on numbers and categories."""

    kind: Literal["poisson-regression"]
    events: str
    time: str | None = None
    covariates: list[str]

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return PoissonRegression(
            **common,
            events=self.events,
            time=self.time,
            covariates=tuple(self.covariates),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a log rate."""
        del dataset
        return "1"


class HazardRegressionSection(StatisticSection):
    """How the hazard of an event depends on numbers and categories."""

    kind: Literal["hazard-regression"]
    time: str
    of: dict[str, Any]
    covariates: list[str]
    edges: list[Exact]
    entry: str | None = None
    hold_out: Exact = Fraction(0)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        if self.entry is not None:
            raise ContractError(
                f"Regression {self.id!r}: delayed entry (left truncation) is not supported: exits "
                "do not say who was at risk.",
                hint="Let the time run from the entry (a per-patient value days-between), or start "
                "at a landmark that all have reached: where: {...}.",
            )
        return HazardRegression(
            **common,
            time=self.time,
            of=read_where(self.of, table=common["table"], dataset=dataset),
            covariates=tuple(self.covariates),
            edges=tuple(self.edges),
            hold_out=self.hold_out,
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a log hazard."""
        del dataset
        return "1"
