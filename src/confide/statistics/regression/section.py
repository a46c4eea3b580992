"""What study.yaml says of linear regression."""

from dataclasses import dataclass
from typing import Any, ClassVar

from confide.plans.plan import Statistic
from confide.statistics.regression.linear import LinearRegression
from confide.statistics.section import StatisticSection
from confide.statistics.shared_sections import NO_GROUPS
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearRegressionSection(StatisticSection):
    """How a number depends on others and on categories."""

    instead: ClassVar = NO_GROUPS

    outcome: str
    covariates: list[str]
    subgroups: list[str] | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        covariates = tuple(self.covariates)
        return LinearRegression(
            **common,
            outcome=self.outcome,
            covariates=covariates,
            subgroups=tuple(self.subgroups or ()),
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the outcome."""
        return self.domain_of(self.outcome, dataset=dataset).unit
