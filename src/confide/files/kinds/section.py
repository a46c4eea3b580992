"""What every item of ``statistics`` in study.yaml says, whatever its kind.

Each kind is a subclass with its own keys and a :meth:`StatisticSection.statistic` that makes the
spec; a key that belongs to another kind is unknown here, so it is refused by name.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import Field

from confide.files.texts import Counting, Level, Positive, Quantity, Section
from confide.plans.plan import Statistic
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset, Domain

LEVEL = Fraction(95, 100)


class ErrorSection(Section):
    """The error one can live with."""

    within: Quantity | None = None
    within_share: Positive | None = None
    mdape: Positive | None = None
    width: Quantity | None = None
    level: Level = LEVEL


class ExpectSection(Section):
    """Public planning values."""

    count: Positive | None = None
    share: Positive | None = None
    auc: Positive | None = None


class PerPatientBounds(Section):
    """What one patient may contribute."""

    cells: Counting | None = None
    rows: Counting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRange:
    """The width of everything that a number could be: an error as wide says nothing.

    Attributes:
        width: In the unit.
        unit: With a leading space; "" for a pure number.
        hint: What to write instead.
    """

    width: Fraction
    unit: str
    hint: str


class StatisticSection(Section):
    """One statistic and what it may spend."""

    id: str
    kind: str
    title: str = ""
    table: str | None = None
    cohort: str | None = None
    where: dict[str, Any] = Field(default_factory=dict)
    per_patient: PerPatientBounds = Field(default_factory=PerPatientBounds)
    level: Level = LEVEL
    expect: ExpectSection = Field(default_factory=ExpectSection)
    error: ErrorSection | None = None
    share: Positive | None = None

    @abstractmethod
    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec.

        Args:
            common: What the specs of all kinds share: id, table, where, per_patient, level, expect
                and title.
            dataset: Public facts.

        Raises:
            ContractError: If a name, unit or bound does not fit.
        """

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of an error that the section asks for."""
        del dataset
        return "persons"

    def whole_range(self, dataset: Dataset) -> WholeRange | None:
        """Return how wide an error is too wide; None when there is no such width."""
        del dataset
        return None

    def per_one(self) -> int | None:
        """Return what a share is reported per, so that an error in % is understood; else None."""
        return None

    def selection_delta(self) -> Fraction | None:
        """Return the δ that the statistic asks for, if it is one that spends δ."""
        return None

    def declared_table(self, dataset: Dataset) -> str:
        """Return whose rows the statistic is about."""
        return self.table or dataset.tables[0].name

    def domain_of(self, column: str, *, dataset: Dataset) -> Domain:
        """Return the public domain of a column that the section names."""
        table = self.declared_table(dataset)
        return domain(resolve(column, table=table, dataset=dataset), dataset=dataset)
