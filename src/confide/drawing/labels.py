"""What reports call columns, tables and curves, beside the names that plans hold.

Labels are public texts that a steward writes in dataset.yaml, and an analyst in study.yaml.  They
are kept out of the plan, as outlines of maps are: a plan's digest is what was charged, and a better
word for a column asks nothing new.

*Privacy:* display only; no number depends on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from confide.drawing.numbers import clean

_MOST_LETTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How one question of a study is shown.

    Attributes:
        digits: Most decimals of its numbers; None for as many as their uncertainty carries.
        event_free: What those without the event are: "alive", "free of heart disease".
        at: Times of a curve that its table and axis name, in the unit of its time.
        terms: Columns by whose names parts of its keys begin.
        periods: What periods are called in the unit that people count in, by their label.
        unit: UCUM code of that unit; "" where periods are told as they are.
    """

    digits: int | None = None
    event_free: str = ""
    at: tuple[float, ...] = ()
    terms: tuple[str, ...] = ()
    periods: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a report calls what a plan names.

    Attributes:
        columns: Label by name of a column, a derived column or a value of patients.
        tables: Whom the rows of a table are about, by its name: "residents".
        digits: Most decimals of a column's numbers, by its name.
        questions: How single questions are shown, by id.

    Example:
        >>> Labels(columns={"saps": "Severity (SAPS-I)"}).named("saps")
        'Severity (SAPS-I)'
        >>> Labels().named("age_band")
        'age band'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    digits: Mapping[str, int] = field(default_factory=dict)
    questions: Mapping[str, Look] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """Return what a column is called: its label, else its name with spaces."""
        return clean(self.columns.get(name) or name.replace("_", " "), most=_MOST_LETTERS)

    def people(self, table: str) -> str:
        """Return whom a table's rows are about; "" where nobody said."""
        return clean(self.tables.get(table, ""), most=_MOST_LETTERS)

    def look(self, statistic: Any) -> Look:
        """Return how a question is shown; its own digits go before those of its column."""
        found = self.questions.get(statistic.id, Look())
        terms = getattr(statistic, "covariates", ()) or getattr(statistic, "features", ())
        digits = self.digits.get(getattr(statistic, "column", ""))
        return replace(
            found, terms=tuple(terms), digits=digits if found.digits is None else found.digits
        )

    def __or__(self, more: "Labels") -> "Labels":
        """Return both; what ``more`` says goes before."""
        return Labels(
            columns={**self.columns, **more.columns},
            tables={**self.tables, **more.tables},
            digits={**self.digits, **more.digits},
            questions={**self.questions, **more.questions},
        )
