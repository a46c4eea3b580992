"""Tables of many variables, as study.yaml writes them."""

from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from confide.errors import ContractError
from confide.files.kinds.section import StatisticSection
from confide.files.texts import Counting, Exact, Quantity, Section, exact
from confide.plans.plan import Statistic
from confide.statistics.data_quality import DataQuality
from confide.statistics.table_one import Characteristic, Summary, TableOne
from confide.tables.schema import Dataset


class VariableSection(Section):
    """One variable of a Table 1."""

    column: str
    show: list[Summary] = Field(default_factory=list)
    bins: Counting = 32
    edges: list[Exact] = Field(default_factory=list)
    within: Quantity | None = None


def _form(value: object) -> str:
    return "name" if isinstance(value, str) else "variable"


_Variable: TypeAlias = Annotated[
    Annotated[str, Tag("name")] | Annotated[VariableSection, Tag("variable")], Discriminator(_form)
]
"""A name, or a mapping; told apart first, so that an error is about the one that was meant."""


class TableOneSection(StatisticSection):
    """Characteristics by group and overall."""

    kind: Literal["table-1"]
    variables: list[_Variable]
    by: list[str] = Field(default_factory=list)

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
            return Characteristic(column=item)
        return Characteristic(
            column=item.column,
            show=tuple(item.show),
            bins=item.bins,
            edges=tuple(item.edges),
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


class DataQualitySection(StatisticSection):
    """Missing, out-of-range and unknown cells of each field."""

    kind: Literal["data-quality"]
    fields: list[str] = Field(default_factory=list)
    by: list[str] = Field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        return DataQuality(**common, fields=tuple(self.fields), by=tuple(self.by))

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of a share of rows."""
        del dataset
        return "%"
