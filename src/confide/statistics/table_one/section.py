"""What study.yaml says of table 1."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.section import Counting, Exact, Quantity, StatisticSection, exact
from confide.statistics.table_one.lines import FLAT, Characteristic, MedianInterval, Summary
from confide.statistics.table_one.spec import TableOne
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableSection:
    """One variable of a Table 1."""

    column: str
    show: list[Summary] = field(default_factory=list)
    bins: Counting | None = None
    edges: list[Exact] = field(default_factory=list)
    within: Quantity | None = None
    interval: Literal["by-rank", "none"] = "by-rank"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOneSection(StatisticSection):
    """Characteristics by group and overall."""

    variables: list[str | VariableSection]
    by: list[str] = field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        variables = tuple(self._variable(item, dataset=dataset) for item in self.variables)
        return TableOne(**common, variables=variables, by=tuple(self.by))

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the statistic's error: the errors asked of its variables."""
        del dataset
        return "{asked error}"

    def _variable(self, item: str | VariableSection, *, dataset: Dataset) -> Characteristic:
        if isinstance(item, str):
            return Characteristic(column=item, bins=FLAT)
        no_cells = Summary.MEDIAN_IQR in item.show
        return Characteristic(
            column=item.column,
            show=tuple(item.show),
            bins=FLAT if item.bins is None and not no_cells else item.bins,
            edges=tuple(item.edges),
            interval=MedianInterval(item.interval),
            within=None if item.within is None else self._within(item, dataset=dataset),
        )

    def _within(self, item: VariableSection, *, dataset: Dataset) -> Fraction:
        """Read "2 %" of a variable with labels, "1 mm[Hg]" of a number."""
        of = self.domain_of(item.column, dataset=dataset)
        number, _, unit = str(item.within).strip().partition(" ")
        expected = "%" if of.keys else of.unit
        if unit.strip() not in ("", expected):
            raise ContractError(
                f"Variable {item.column!r}: expected an error in {expected or '1'}, got {unit}.",
                hint=f'Write within: "2 {expected}".',
            )
        try:
            amount = exact(number)
        except ValueError as error:
            raise ContractError(f"Variable {item.column!r}: {error}.") from None
        return amount / 100 if unit.strip() == "%" and of.keys else amount
