"""Kinds of statistic over time: series of a number, and running counts."""

import datetime as dt
from typing import Any, Literal

from pydantic import Field

from confide.files.kinds.section import StatisticSection
from confide.files.texts import Counting, Day
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.running_counts import RunningCounts
from confide.statistics.series import Budget, Series, SeriesOf
from confide.tables.expression import DatePart
from confide.tables.relation import EPOCH
from confide.tables.schema import Dataset


class _OverTime(StatisticSection):
    """A statistic with a time axis."""

    over: str
    every: DatePart | None = None
    since: Day | None = None
    until: Day | None = None

    def axis(self) -> dict[str, Any]:
        """Return the fields of the time axis."""
        return {
            "over": self.over,
            "every": self.every,
            "since": _number(self.since),
            "until": _number(self.until),
        }


class SeriesSection(_OverTime):
    """Sums or means of a column over time."""

    kind: Literal["series"]
    column: str
    of: SeriesOf = SeriesOf.MEAN
    n_min: Counting | None = None
    budget: Budget = Budget.JOINT

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return Series(
            **common,
            **self.axis(),
            column=self.column,
            of=self.of,
            n_min=self.n_min,
            budget=self.budget,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the column."""
        return self.domain_of(self.column, dataset=dataset).unit


class RunningCountsSection(_OverTime):
    """Running and rolling counts of patients or events."""

    kind: Literal["running-counts"]
    through: Day | None = None
    by: list[str] = Field(default_factory=list)
    count: Literal["patients", "events"] = "patients"
    rolling: Counting | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return RunningCounts(
            **common,
            **self.axis(),
            through=_number(self.through),
            groups=tuple(self.by),
            counted=Counted(self.count),
            rolling=self.rolling,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit


def _number(day: dt.date | None) -> int | None:
    """Return days since 1970-01-01."""
    return None if day is None else day.toordinal() - EPOCH
