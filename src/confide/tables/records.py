"""Bounded rows of patients, whole: what a job trains on.

Rows are canonical integers of declared expressions; those that lack a value are left out, and each
patient keeps at most a public number of rows, by the secretly keyed order of their own rows.  So
one patient added or removed adds or removes that patient's rows, at most that many, and changes no
other row.

*Privacy:* records are exact and secret; a job hides what it makes of them.  A patient's ``fold`` is
a keyed hash of their id alone, so shards made of it are the same whoever else is there.
"""

from dataclasses import dataclass

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, Expression
from confide.tables.relation import Relation, check, column_of, domain
from confide.tables.schema import Dataset, Kind

MOST_FOLDS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTexts:
    """Texts of the persons of a second table, one row each by the keyed order.

    Attributes:
        relation: Which rows.
        texts: Declared texts, in the order of the columns ``t0, t1, …``; one may be missing.
    """

    relation: Relation
    texts: tuple[ColumnOf, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Rows that a job reads.

    Attributes:
        relation: Which rows; those that lack a value are left out.
        reads: Numbers, categories and dates, in the order of the columns ``e0, e1, …``.
        bounds: Rows that each patient keeps.
        folds: Patients are parted by keyed hash into this many folds.
        unit: Whose rows each ``patient`` is: a patient's, or where the job says so a hospital's;
            or the row itself, which is then its own and in no fold.
        texts: Declared texts of the same rows, for a job that compares them and lets none leave, or
            selects those of enough patients: in the order of the columns ``t0, t1, …``; one may be
            missing.
        other: Texts of a second table that they are compared with.
    """

    relation: Relation
    reads: tuple[Expression, ...]
    bounds: RowBound
    folds: int = 1000
    unit: Entity = Entity.PATIENT
    texts: tuple[ColumnOf, ...] = ()
    other: OtherTexts | None = None

    def __post_init__(self) -> None:
        if not self.reads and not self.texts:
            raise ContractError("A job reads no column.", hint="Name the columns it needs.")
        if not 1 <= self.folds <= MOST_FOLDS:
            raise InvalidParameterError(f"Expected 1 to 2**20 folds, got {self.folds}.")


def check_records(records: Records, *, dataset: Dataset) -> None:
    """Refuse records that are not declared, or whose bound on a patient would not hold.

    Raises:
        ContractError: If a name or kind does not fit, or the unit is another than the job's.
    """
    check(records.relation, *records.reads, dataset=dataset)
    if records.unit is Entity.EDGE or dataset.unit.entity != records.unit:
        raise ContractError(
            f"The job reads the rows of {records.unit.value}s, and protects {records.unit.value}s.",
            hint=f"Write protects: {{unit: {records.unit.value}, …}} in dataset.yaml.",
        )
    if records.unit is Entity.EVENT and records.bounds.max_rows != 1:
        raise ContractError("With the event as privacy unit each row stands for itself.")
    for expression in records.reads:
        if domain(expression, dataset=dataset).kind is Kind.TEXT:
            raise ContractError(
                "A job reads no text: its values are not public.",
                hint="Declare categories for it.",
            )
    _check_texts(records.texts, of=records.relation, dataset=dataset)
    if records.other is not None:
        check(records.other.relation, dataset=dataset)
        _check_texts(records.other.texts, of=records.other.relation, dataset=dataset)


def _check_texts(texts: tuple[ColumnOf, ...], *, of: Relation, dataset: Dataset) -> None:
    """Refuse texts of another table, or columns that are declared as something else."""
    for text in texts:
        if text.table != of.table or column_of(text, dataset).kind is not Kind.TEXT:
            raise ContractError(
                f"Column {text.column!r} is no text of {of.table!r}.",
                hint="Declare it as {kind: text} in dataset.yaml.",
            )
