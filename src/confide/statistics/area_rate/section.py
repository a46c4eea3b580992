"""What study.yaml says of area rate."""

from dataclasses import dataclass
from typing import Any, Literal

from confide.errors import UnknownNameError
from confide.plans.contribution import Counted
from confide.plans.plan import Statistic
from confide.statistics.area_rate.spec import AreaRate, Denominator
from confide.statistics.section import Condition, Counting
from confide.statistics.shared_sections import AreaSection
from confide.tables.filter import Everything
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaRateSection(AreaSection):
    """How many of the people of each area."""

    area: str | None = None
    of: Condition | None = None
    denominator: Literal["public", "rows"] = "public"
    per: Counting = 100_000
    same_error_above: Counting | None = None

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        spine = self.declared_spine(dataset)
        area = spine.levels[0] if self.area is None else self.area
        if area not in spine.levels:
            raise UnknownNameError(f"level of {spine.name}", area, known=spine.levels)
        return AreaRate(
            **common,
            spine=spine.name,
            area=area,
            of=self.of or Everything(),
            denominator=Denominator(self.denominator),
            counted=Counted(self.count),
            per=self.per,
            same_error_above=self.same_error_above,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what a rate is per."""
        del dataset
        return "1" if self.per == 1 else f"per {self.per}"
