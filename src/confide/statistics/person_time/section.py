"""What study.yaml says of person time."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.plans.rounds.held_out import Recalibration
from confide.statistics.person_time.few_events import HazardFit
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.section import Condition, Exact, StatisticSection
from confide.statistics.shared_sections import CONDITION, NO_GROUPS
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonRegressionSection(StatisticSection):
    """How a rate of events depends on numbers and categories."""

    instead: ClassVar = NO_GROUPS | {"outcome": "Its outcome is called events."}

    events: str
    time: str | None = None
    covariates: list[str]
    hold_out: Exact = Fraction(0)
    recalibrate: Literal["none", "intercept", "line"] = "none"
    subgroups: list[str] | None = None
    method: Literal["auto", "rounds", "wide"] = "auto"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return PoissonRegression(
            **common,
            events=self.events,
            time=self.time,
            covariates=tuple(self.covariates),
            hold_out=self.hold_out,
            recalibrate=Recalibration(self.recalibrate),
            subgroups=tuple(self.subgroups or ()),
            method=HazardFit(self.method),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a log rate."""
        del dataset
        return "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardRegressionSection(StatisticSection):
    """How the hazard of an event depends on numbers and categories."""

    instead: ClassVar = NO_GROUPS | dict.fromkeys(("outcome", "event", "events"), CONDITION)

    time: str
    of: Condition
    covariates: list[str]
    edges: list[Exact]
    entry: str | None = None
    hold_out: Exact = Fraction(0)
    recalibrate: Literal["none", "intercept", "line"] = "none"
    subgroups: list[str] | None = None
    method: Literal["auto", "rounds", "wide"] = "auto"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
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
            of=self.of,
            covariates=tuple(self.covariates),
            edges=tuple(self.edges),
            hold_out=self.hold_out,
            recalibrate=Recalibration(self.recalibrate),
            subgroups=tuple(self.subgroups or ()),
            method=HazardFit(self.method),
            expect_share=self.expect.share,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that of a log hazard."""
        del dataset
        return "1"
