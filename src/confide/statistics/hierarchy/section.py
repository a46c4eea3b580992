"""What study.yaml says of hierarchy."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from confide.errors import ContractError
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.section import Positive
from confide.statistics.shared_sections import AreaSection
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchySection(AreaSection):
    """How many patients, or events, in each area of every level."""

    shares: dict[str, Positive] = field(default_factory=dict)

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
