"""Hierarchies and rates of areas, as study.yaml writes them."""

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from confide.errors import ContractError, UnknownNameError
from confide.files.kinds.section import StatisticSection
from confide.files.texts import Counting, Positive
from confide.files.where import read_where
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.area_rate.spec import AreaRate, Denominator
from confide.statistics.hierarchy.spec import Hierarchy
from confide.tables.schema import Dataset
from confide.tables.spine import Spine


class AreaSection(StatisticSection):
    """A statistic of the areas of a spine."""

    spine: str | None = None
    count: Literal["patients", "events"] = "patients"

    def declared_spine(self, dataset: Dataset) -> Spine:
        """Return the spine that is named, or the only one.

        Raises:
            ContractError: If none is named and there is not exactly one.
        """
        if self.spine is not None:
            return dataset.spine(self.spine)
        if len(dataset.spines) != 1:
            raise ContractError(
                f"Statistic {self.id!r} does not say which spine it is about.",
                hint="Write spine: name, of one that dataset.yaml declares.",
            )
        return dataset.spines[0]


class HierarchySection(AreaSection):
    """How many patients, or events, in each area of every level."""

    kind: Literal["hierarchy"]
    shares: dict[str, Positive] = Field(default_factory=dict)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        spine = self.declared_spine(dataset)
        for name in self.shares:
            spine.level(name)
        missing = [name for name in spine.levels if name not in self.shares]
        if self.shares and missing:
            raise ContractError(
                f"Hierarchy {self.id!r}: the shares leave out {missing[0]!r}.",
                hint="Give each level its share, or leave all out.",
            )
        shares: tuple[Fraction, ...] = ()
        if self.shares:
            shares = tuple(self.shares[name] for name in spine.levels)
        return Hierarchy(**common, spine=spine.name, counted=Counted(self.count), shares=shares)

    def error_unit(self, dataset: Dataset) -> str:
        """Return what is counted."""
        del dataset
        return Counted(self.count).unit


class AreaRateSection(AreaSection):
    """How many of the people of each area."""

    kind: Literal["area-rate"]
    area: str | None = None
    of: dict[str, Any] | None = None
    denominator: Literal["public", "rows"] = "public"
    per: Counting = 100_000
    same_error_above: Counting | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        spine = self.declared_spine(dataset)
        area = spine.levels[0] if self.area is None else self.area
        if area not in spine.levels:
            raise UnknownNameError(f"level of {spine.name}", area, known=spine.levels)
        table = common["table"]
        return AreaRate(
            **common,
            spine=spine.name,
            area=area,
            of=read_where(self.of or {}, table=table, dataset=dataset),
            denominator=Denominator(self.denominator),
            counted=Counted(self.count),
            per=self.per,
            same_error_above=self.same_error_above,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what a rate is per."""
        del dataset
        return "1" if self.per == 1 else f"per {self.per}"
