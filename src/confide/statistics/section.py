"""What every item of ``statistics`` in study.yaml says, whatever its kind; as data, of no format.

Each kind has a section of its own, with its own keys and a :meth:`StatisticSection.statistic` that
makes the spec.  How a key is written is a :class:`Form`; the room of files reads it.
"""

import datetime as dt
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from typing import Annotated, Any, ClassVar, TypeAlias

from confide.drawing.labels import Look
from confide.errors import InvalidParameterError
from confide.plans.plan import Statistic
from confide.privacy.exact import exact as exact_number
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset, Domain

LEVEL = Fraction(95, 100)


class Form(Enum):
    """How a value is written."""

    EXACT = auto()
    POSITIVE = auto()
    LEVEL = auto()
    COUNTING = auto()
    QUANTITY = auto()
    DAY = auto()
    DIGITS = auto()
    CONDITION = auto()
    TWO_OR_MORE = auto()


Exact: TypeAlias = Annotated[Fraction, Form.EXACT]
Positive: TypeAlias = Annotated[Fraction, Form.POSITIVE]
Level: TypeAlias = Annotated[Fraction, Form.LEVEL]
Counting: TypeAlias = Annotated[int, Form.COUNTING]
Quantity: TypeAlias = Annotated[str, Form.QUANTITY]
Day: TypeAlias = Annotated[dt.date, Form.DAY]
Digits: TypeAlias = Annotated[int, Form.DIGITS]
"""Most decimals that a number is shown with."""
Condition: TypeAlias = Annotated[Any, Form.CONDITION]
"""A mapping as it is written; a predicate where :meth:`StatisticSection.statistic` is asked."""


def exact(value: object) -> Fraction:
    """Return the exact number that somebody wrote; ValueError says what stands beside its place.

    Example:
        >>> exact("0.1")
        Fraction(1, 10)
    """
    try:
        return exact_number(value)
    except InvalidParameterError as refused:
        message = str(refused).removesuffix(".")
        raise ValueError(message[:1].lower() + message[1:]) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSection:
    """The error one can live with."""

    within: Quantity | None = None
    within_share: Positive | None = None
    mdape: Positive | None = None
    width: Quantity | None = None
    level: Level = LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectSection:
    """Public planning values."""

    count: Positive | None = None
    share: Positive | None = None
    auc: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PerPatientBounds:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticSection:
    """One statistic and what it may spend."""

    instead: ClassVar[Mapping[str, str]] = {}
    """What to write in place of keys that people look for here and that it does not have."""

    id: str
    kind: str
    title: str = ""
    table: str | None = None
    cohort: str | None = None
    where: dict[str, Any] = field(default_factory=dict)
    per_patient: PerPatientBounds = field(default_factory=PerPatientBounds)
    level: Level = LEVEL
    expect: ExpectSection = field(default_factory=ExpectSection)
    error: ErrorSection | None = None
    share: Positive | None = None
    digits: Digits | None = None

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
        del dataset
        raise NotImplementedError

    def look(self, statistic: Any, *, dataset: Dataset) -> Look:
        """Return how its numbers are shown: nothing of the plan, so nothing that is charged.

        Args:
            statistic: The spec that the section makes.
            dataset: Public facts.
        """
        del statistic, dataset
        return Look(digits=self.digits)

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
