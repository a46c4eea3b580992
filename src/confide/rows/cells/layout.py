"""Where each declared table lies in the source, and of which physical types its columns are.

Types come from the schema of the source, never from its rows.  They decide how a cell is read as
text, number, date or person id; a type that cannot be read as declared is refused by name.
"""

import difflib
import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.cells.code_texts import impossible
from confide.rows.cells.physical import FAR_MOMENTS, Physical, digits_of, physical
from confide.tables.by_code import Accepted
from confide.tables.schema import Column, Dataset, Kind, Table


class Ids(enum.Enum):
    """How person ids are compared, over all tables of a data set."""

    INTEGER = "integer"
    TEXT = "text"


_UNREADABLE = {Physical.OTHER, Physical.MILLISECONDS, Physical.LONG, Physical.COMPUTED}
_READABLE = {
    Kind.NUMBER: {
        Physical.INTEGER,
        Physical.WIDE,
        Physical.REAL,
        Physical.DECIMAL,
        Physical.ROUNDED,
        Physical.TEXT,
        Physical.BOOLEAN,
        Physical.NOTHING,
    },
    Kind.DATE: {Physical.DATE, Physical.MOMENT, Physical.TEXT, Physical.NOTHING},
    Kind.CATEGORY: set(Physical) - {Physical.MOMENT, *_UNREADABLE},
    Kind.TEXT: set(Physical) - {Physical.MOMENT, *_UNREADABLE},
}

_NAMELESS = re.compile(r"column\d+")
_NUMERIC = {
    Physical.INTEGER,
    Physical.WIDE,
    Physical.REAL,
    Physical.DECIMAL,
    Physical.NOTHING,
}

_DIGITS_OF_BIGINT = 18
"""Every whole number of so many digits has 64 bits with a sign."""
_IN_PART = {
    Physical.REAL: "floating-point numbers, of which those alone that are whole and below 2⁵³ are",
    Physical.DECIMAL: "decimals with places, of which those alone that are whole numbers are",
}

_WITHDREW = (
    "Patients of this folder withdrew consent, and rows of table {table!r} do not say whose they "
    "are"
)
_OF_WHOM = (
    "Name the column of the patient's id in dataset.yaml, protects: {id: ...}; for a model write "
    "fit(..., patients=ids)."
)
_APART = (
    "delete the rows of who withdrew in the data, and keep these in a folder of their own, with "
    "a ledger of its own."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A column as the source names it.

    Attributes:
        name: In the source.
        physical: Family of its type.
        type_name: Of its type, in the engine's words; ours where the engine says less.
        moment: Type of timestamps that may lie beyond all dates.
        broken: What the reader writes for bytes that are no text, so that two ids may become one;
            "" where it meets none.
        narrowed: Whether the reader drops bits that the source keeps, with the same consequence.
    """

    name: str
    physical: Physical
    type_name: str = ""
    moment: exp.DType | None = None
    broken: str = ""
    narrowed: bool = False

    @classmethod
    def of(cls, name: str, *, type_name: str, broken: str = "", narrowed: bool = False) -> Self:
        """Return a column by the name of its type."""
        return cls(
            name=name,
            physical=physical(type_name),
            type_name=type_name,
            moment=FAR_MOMENTS.get(type_name),
            broken=broken,
            narrowed=narrowed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A declared table in the source.

    Attributes:
        relation: How SQL names it.
        columns: Columns of the source, by the name that the data set declares for them.
        lines: All records of its files, of which some may be no rows; None where all are.
        numbers: Columns that are read in place of others where a number is asked for.
        dates: The same where a date is.
    """

    relation: exp.Table
    columns: Mapping[str, Found]
    lines: exp.Table | None = None
    numbers: Mapping[str, Found] = field(default_factory=dict)
    dates: Mapping[str, Found] = field(default_factory=dict)

    def of(self, column: Column) -> Found:
        """Return the column of the source that a declared one has its value of.

        What is asked of its text (codes, or whether it is there) is ``columns[column.source]``.
        """
        found = self.columns[column.source]
        instead = {Kind.NUMBER: self.numbers, Kind.DATE: self.dates}.get(column.kind, {})
        return instead.get(column.source, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """All declared tables of one data set that were found.

    Attributes:
        tables: By declared name.
        missing: Why a declared table was not found, by declared name; raised when it is used.
        ids: How person ids are compared.
        withdrawn: Whether anybody withdrew consent, so that ids are compared with a list.
    """

    tables: Mapping[str, Located]
    ids: Ids
    missing: Mapping[str, str] = field(default_factory=dict)
    withdrawn: bool = False

    def located(self, table: Table) -> Located:
        """Return where a table lies.

        Raises:
            ContractError: If it was not found, or a declared column is missing or unreadable.
        """
        found = self.tables.get(table.name)
        if found is None:
            raise ContractError(
                self.missing.get(table.name, f"Table {table.name!r} was not found in the source."),
                hint=f"Check {'FROM in the `query`' if table.query else '`from`'} of table "
                f"{table.name!r} in dataset.yaml.",
            )
        if found.columns and all(_NAMELESS.fullmatch(name) for name in found.columns):
            raise ContractError(
                f"Table {table.name!r} has no column names: its header was loaded as a row.",
                hint="Load it again with its header, or leave the table out of dataset.yaml.",
            )
        for column in (*table.columns, *map(_of_codes, (*table.conditions, *table.without))):
            _readable(column, table=table, located=found)
        return found

    def problem(self, table: Table, *, dataset: Dataset) -> str:
        """Return why a declared table cannot be used; empty when it can."""
        try:
            self.located(table)
            self.persons_of(table, dataset=dataset)
        except ContractError as error:
            return str(error)
        return ""

    def remarks_on_ids(self, dataset: Dataset) -> tuple[str, ...]:
        """Return what is to be known of person ids, from the types of their columns alone."""
        if dataset.unit.entity is Entity.EVENT:
            return ()
        return (*self._in_part(dataset), *self._unlike(dataset))

    def _in_part(self, dataset: Dataset) -> Iterator[str]:
        """Yield a remark on each type of which some values identify nobody."""
        tables: dict[Physical, list[str]] = {}
        for table in dataset.tables:
            located = self.tables.get(table.name)
            for name in (id_column(table, dataset=dataset), table.other_id):
                found = None if located is None else located.columns.get(name)
                whole = found is None or found.type_name.endswith(",0)")
                if found is not None and not whole and found.physical in _IN_PART:
                    tables.setdefault(found.physical, []).append(repr(table.name))
        for physical_type, names in tables.items():
            yield (
                f"Person ids are {_IN_PART[physical_type]} somebody's, in "
                f"{', '.join(dict.fromkeys(names))}: other rows are left out. `confide prepare` "
                "counts them for the steward. Write ids as integers or text."
            )

    def _unlike(self, dataset: Dataset) -> tuple[str, ...]:
        """Return a remark if ids are text in one table and numbers in another."""
        if self.ids is not Ids.TEXT:
            return ()
        whole: list[str] = []
        texts: list[str] = []
        for table in dataset.tables:
            located = self.tables.get(table.name)
            name = id_column(table, dataset=dataset)
            found = None if located is None else located.columns.get(name)
            if found is not None:
                (whole if found.physical in _NUMERIC else texts).append(repr(table.name))
        if not whole or not texts:
            return ()
        said = (
            f"Person ids are numbers in {', '.join(whole)} and text in {', '.join(texts)}: they "
            "are compared as text, where 12 is '12' and neither '00012' nor '12 '."
        )
        return (said,)

    def persons_of(self, table: Table, *, dataset: Dataset) -> tuple[Found, ...]:
        """Return the columns of whose ids a row holds: of its person, and of a contact's other end.

        None with the event as privacy unit, until somebody withdrew consent: their rows are left
        out by the person's id, whatever the unit is.

        Raises:
            ContractError: If one is missing, or neither a number nor text; if somebody withdrew
                consent and rows do not say of which patient they are.
        """
        event = dataset.unit.entity is Entity.EVENT
        if event and not self.withdrawn:
            return ()
        if self.withdrawn and dataset.unit.entity is Entity.HOSPITAL:
            why = f"{_WITHDREW.format(table=table.name)}: ids are those of hospitals."
            raise ContractError(why, hint=_APART.capitalize())
        try:
            ends = (self.other_id_of(table),) if table.other_id else ()
            return (self.id_of(table, dataset=dataset), *ends)
        except ContractError:
            if not event:
                raise
            why = f"{_WITHDREW.format(table=table.name)}."
            raise ContractError(why, hint=f"{_OF_WHOM} Where no id is known, {_APART}") from None

    def id_of(self, table: Table, *, dataset: Dataset) -> Found:
        """Return the column that identifies the person, or under that unit the hospital.

        Raises:
            ContractError: If it is missing, or neither a number nor text.
        """
        return self._identity(table, name=id_column(table, dataset=dataset))

    def other_id_of(self, table: Table) -> Found:
        """Return the column that identifies the second person of a contact.

        Raises:
            ContractError: If it is missing, or neither a number nor text.
        """
        return self._identity(table, name=table.other_id)

    def _identity(self, table: Table, *, name: str) -> Found:
        found = self.located(table).columns.get(name)
        if found is None:
            raise ContractError(
                f"Table {table.name!r} has no id column {name!r} in the source.",
                hint=_near(name, table=table, located=self.located(table))
                + "Name it in protects: {id: ...}, or as `id` or `other-id` of the table.",
            )
        if found.physical not in {*_NUMERIC, Physical.TEXT}:
            raise ContractError(
                f"Column {name!r} of table {table.name!r} holds {found.physical.value}, "
                "which cannot identify a person.",
                hint="Person ids are integers or text.",
            )
        if found.narrowed:
            raise ContractError(
                f"Column {name!r} of table {table.name!r} is of a type narrower than what its "
                "files keep, and two of its numbers may be read as one, which cannot identify a "
                "person.",
                hint="Write it as integers of 32 or 64 bits, or as text.",
            )
        return found


def id_column(table: Table, *, dataset: Dataset) -> str:
    """Return the declared name of a table's person id."""
    return table.id_column or dataset.unit.id_column


def source_names(table: Table, *, dataset: Dataset) -> frozenset[str]:
    """Return the names of the source that a table is read by, those of its ids among them."""
    ids = {id_column(table, dataset=dataset), table.other_id}
    return frozenset((table.sources() | ids) - {""})


def ids_of(dataset: Dataset, *, tables: Mapping[str, Located]) -> Ids:
    """Return how person ids are compared: as text as soon as one table holds them as text.

    As text, too, where one may hold numbers that 64 bits with a sign do not: none of them is lost.
    """
    for table in dataset.tables:
        located = tables.get(table.name)
        if located is None:
            continue
        for name in (id_column(table, dataset=dataset), table.other_id):
            found = located.columns.get(name)
            if found is not None and (found.physical not in _NUMERIC or _is_long(found)):
                return Ids.TEXT
    return Ids.INTEGER


def _is_long(found: Found) -> bool:
    """Return whether whole numbers of a column's type may be longer than 64 bits with a sign."""
    if found.physical is Physical.DECIMAL:
        digits, after = digits_of(found.type_name)
        return digits - after > _DIGITS_OF_BIGINT
    return found.physical is Physical.WIDE or found.type_name == "UBIGINT"


def _of_codes(accepted: Accepted) -> Column:
    """Return the column of the source that holds codes, as it must be readable."""
    name = accepted.source
    codes = tuple((code, index) for index, code in enumerate(accepted.codes))
    return Column(name=name, kind=Kind.CATEGORY, source=name, keys=accepted.codes, codes=codes)


def _readable(column: Column, *, table: Table, located: Located) -> None:
    found = located.columns.get(column.source)
    where = f"of table {table.name!r}"
    if found is None:
        raise ContractError(
            f"Column {column.name!r} {where}: the source has no column {column.source!r}.",
            hint=_near(column.source, table=table, located=located)
            + "Write `from: <name in the data>`; names must match exactly.",
        )
    if found.physical not in _READABLE[column.kind]:
        raise ContractError(
            f"Column {column.name!r} {where} is declared as {column.kind.value}, but the source "
            f"holds {found.physical.value}.",
            hint="Declare another kind, or cast the column in the source.",
        )
    wrong = impossible(column, physical=found.physical, type_name=found.type_name)
    if wrong is not None:
        code, hint = wrong
        raise ContractError(
            f"Column {column.name!r} {where}: no row can have the code {code!r}, because the "
            f"source holds {_type_words(found)}.",
            hint=hint,
        )


def _type_words(found: Found) -> str:
    """Return what a column holds; the labels of an ENUM are its own affair."""
    enumerated = found.type_name.startswith("ENUM(")
    return "labels of an ENUM type" if enumerated else found.physical.value


def _near(name: str, *, table: Table, located: Located) -> str:
    """Return a sentence with the names of the source that are nearest; "" if none is near.

    The first line of a file that has no header is a row of somebody, so what differs in more than
    capitals, blanks and signs is told only where that line names a declared column.
    """
    found = list(dict.fromkeys(each.name for each in located.columns.values()))
    near = [each for each in found if plain_name(each) == plain_name(name)]
    if not near and any(column.source in located.columns for column in table.columns):
        near = difflib.get_close_matches(name, found, n=3, cutoff=0.7)
    return f"It has {', '.join(repr(each) for each in near)}. " if near else ""


def plain_name(name: str) -> str:
    """Return a name without capitals, blanks and signs, as misspelt ones are compared."""
    return "".join(each for each in name.casefold() if each.isalnum())
