"""What study.yaml says of logistic."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from confide.plans.plan import Statistic
from confide.plans.rounds.held_out import Recalibration
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.rare_classes import ClassFit
from confide.statistics.logistic.regression import LogisticRegression, Method
from confide.statistics.section import Condition, Exact, StatisticSection
from confide.statistics.shared_sections import CONDITION, NO_GROUPS
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticRegressionSection(StatisticSection):
    """How the odds of a condition depend on numbers and categories."""

    instead: ClassVar = NO_GROUPS | {"outcome": CONDITION}

    of: Condition
    covariates: list[str]
    hold_out: Exact = Fraction(0)
    recalibrate: Literal["none", "intercept", "line"] = "none"
    subgroups: list[str] | None = None
    method: Literal["auto", "rounds", "one-shot", "wide"] = "auto"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return LogisticRegression(
            **common,
            of=self.of,
            covariates=tuple(self.covariates),
            hold_out=self.hold_out,
            recalibrate=Recalibration(self.recalibrate),
            subgroups=tuple(self.subgroups or ()),
            method=Method(self.method),
            expect_share=self.expect.share,
            expect_auc=self.expect.auc,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of log odds."""
        del dataset
        return "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MultinomialRegressionSection(StatisticSection):
    """How the odds of each class of a category depend on numbers and categories."""

    instead: ClassVar = NO_GROUPS

    outcome: str
    covariates: list[str]
    reference: str = ""
    hold_out: Exact = Fraction(0)
    method: Literal["auto", "rounds", "wide"] = "auto"
    recalibrate: Literal["none", "intercept", "line"] = "none"
    subgroups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return MultinomialRegression(
            **common,
            outcome=self.outcome,
            covariates=tuple(self.covariates),
            reference=self.reference,
            hold_out=self.hold_out,
            method=ClassFit(self.method),
            recalibrate=Recalibration(self.recalibrate),
            subgroups=tuple(self.subgroups or ()),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of log odds."""
        del dataset
        return "1"
