"""Tables and columns of dataset.yaml: kinds, bounds, categories, and what a NULL becomes.

*Privacy:* a bound or category must be public knowledge; one that is missing is refused, never taken
from the data.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from confide.errors import (
    ContractError,
    InvalidParameterError,
    UnboundedError,
    UnknownNameError,
)
from confide.files.public.private_places import PrivatePlaces
from confide.files.public.public_table import public_table
from confide.files.texts import Bound, Counting, Digits, Positive, Section, beside
from confide.files.units import UnitsSection, read_codes, read_units
from confide.public_csv import csv_lines
from confide.tables.dialect import Dialect, Quote, Separator, Thousands
from confide.tables.encoding import Encoding
from confide.tables.relation import EPOCH
from confide.tables.schema import Column, Kind, Outside, Table
from confide.tables.source_files import Sheet

LABEL_OF_CODES = "code"
MOST_NAMES = 5_000
"""Names of codes stand in every plan of the data set, and so in every row of the ledger."""


_OF_ALL = ("from_", "kind", "missing", "source", "label", "digits")
_TAKES = {
    "number": ("lower", "upper", "step", "unit", "units", "nulls", "outside"),
    "year": ("lower", "upper", "step", "unit", "units", "nulls", "outside"),
    "date": ("lower", "upper", "nulls"),
    "category": ("categories", "nulls", "other"),
    "text": ("names",),
}
"""What a column of each kind reads; what it does not read is refused."""


class ColumnSection(Section):
    """One declared column."""

    from_: str | None = Field(default=None, alias="from")
    kind: Literal["number", "year", "date", "category", "text"] | None = None
    lower: Bound | None = None
    upper: Bound | None = None
    step: Positive = Fraction(1)
    unit: str = ""
    categories: dict[str, str] | list[str] | None = None
    nulls: str = "drop"
    other: str = "drop"
    outside: Outside = Outside.CLIP
    missing: list[str] = Field(default_factory=list)
    units: UnitsSection | None = None
    names: dict[str, str] = Field(default_factory=dict)
    source: str = ""
    label: str = ""
    digits: Digits | None = None


class DialectSection(Section):
    """How the CSV files of a table are written."""

    separator: Separator | None = None
    quote: Quote = Quote.DOUBLE
    decimal: Literal[".", ","] = "."
    thousands: Thousands = Thousands.NONE
    dates: str | list[str] = Field(default_factory=list)

    def read(self) -> Dialect:
        """Return the dialect that it declares."""
        return Dialect(
            separator=self.separator,
            quote=self.quote,
            decimal=self.decimal,
            thousands=self.thousands,
            dates=(self.dates,) if isinstance(self.dates, str) else tuple(self.dates),
        )


class SheetSection(Section):
    """Where a table stands in its workbook."""

    name: str = ""
    header: Counting = 1
    rows_from: Counting | None = None


class TableSection(Section):
    """One declared table."""

    from_: str | None = Field(default=None, alias="from")
    id: str = ""
    other_id: str = ""
    rows_per_patient: Literal["1", 1] | None = None
    weight: str = ""
    only: dict[str, list[str]] = Field(default_factory=dict)
    without: dict[str, list[str]] = Field(default_factory=dict)
    usual_rows: dict[Counting, Positive] = Field(default_factory=dict)
    encoding: Encoding = Encoding.UTF_8
    dialect: DialectSection = Field(default_factory=DialectSection)
    sheet: str | SheetSection = Field(default_factory=SheetSection)
    query: str = ""
    label: str = ""
    columns: dict[str, ColumnSection]


def with_category_files(
    value: dict[str, Any], *, path: Path, private: Callable[[], PrivatePlaces]
) -> dict[str, Any]:
    """Replace ``categories`` and ``names: {file: x.csv}`` by the codes and labels of the file.

    With ``column``, the labels are the distinct values of that column of a file with a head.

    Args:
        value: Content of dataset.yaml.
        path: Of dataset.yaml.
        private: Asked, if a file is named, which files are not public.
    """
    tables = value.get("tables")
    if not isinstance(tables, dict):
        return value
    for table in tables.values():
        columns = table.get("columns") if isinstance(table, dict) else None
        for column in columns.values() if isinstance(columns, dict) else ():
            named = column.get("categories") if isinstance(column, dict) else None
            if isinstance(named, dict) and set(named) in ({"file"}, {"file", "column"}):
                file = beside(str(named["file"]), of=path)
                column["categories"] = (
                    _category_column(file, str(named["column"]), private=private())
                    if "column" in named
                    else _category_file(file, private=private())
                )
            called = column.get("names") if isinstance(column, dict) else None
            if isinstance(called, dict) and set(called) == {"file"}:
                file = beside(str(called["file"]), of=path)
                column["names"] = _category_file(file, private=private())
    return value


def _category_column(path: Path, name: str, *, private: PrivatePlaces) -> list[str]:
    rows = public_table(path, private=private)
    if name not in rows[0]:
        raise UnknownNameError(f"column of {path.name}", name, known=rows[0])
    return list(dict.fromkeys(row[name] for row in rows))


def _category_file(path: Path, *, private: PrivatePlaces) -> dict[str, str]:
    rows = csv_lines(path, opened=lambda file: private.refuse(file, path=path))
    if rows[0][0].lower() == LABEL_OF_CODES:
        rows = rows[1:]
    if not rows or len(rows[0]) > 2:
        raise ContractError(
            f"{path.name} should hold one or two columns.", hint="Write code,label on each line."
        )
    named: dict[str, str] = {}
    for row in rows:
        if named.setdefault(row[0], row[-1]) != row[-1]:
            raise ContractError(
                f"{path.name} gives the code {row[0]!r} two labels.", hint="Write one of them."
            )
    return named


def read_table(name: str, section: TableSection) -> Table:
    """Return the table that a section declares.

    Raises:
        ContractError: If a column breaks its contract; without bounds, UnboundedError.
    """
    if section.weight and section.weight not in section.columns:
        raise UnknownNameError(f"column of {name}", section.weight, known=section.columns)
    if section.query and section.from_:
        raise ContractError(
            f"Table {name!r} has both `from` and `query`.",
            hint="Leave `from` out: a query names its table after FROM.",
        )
    return Table(
        name=name,
        source=section.from_ or name,
        columns=tuple(_column(key, column) for key, column in section.columns.items()),
        one_row_per_patient=section.rows_per_patient is not None,
        id_column=section.id,
        weight=section.weight,
        other_id=section.other_id,
        only=read_codes(section.only),
        without=read_codes(section.without),
        usual_rows=_shares(section.usual_rows),
        encoding=section.encoding,
        dialect=section.dialect.read(),
        sheet=_sheet(section.sheet),
        query=section.query.strip(),
    )


def _sheet(section: str | SheetSection) -> Sheet:
    if isinstance(section, str):
        return Sheet(name=section)
    return Sheet(name=section.name, header=section.header, rows_from=section.rows_from)


def _shares(stated: dict[int, Fraction]) -> tuple[tuple[int, Fraction], ...]:
    """Return rows of a patient with the share of patients who have so many, the fewest first."""
    whole = sum(stated.values(), Fraction(0))
    return tuple((rows, stated[rows] / whole) for rows in sorted(stated))


def _column(name: str, section: ColumnSection) -> Column:
    kind = section.kind or ("category" if section.categories is not None else None)
    if kind is None:
        raise UnboundedError(
            f"Column {name!r} says neither its kind nor its categories.",
            hint="Write kind: number with lower and upper, kind: date, categories, or kind: text.",
        )
    if section.units is not None and kind not in ("number", "year"):
        raise ContractError(f"Column {name!r} is no number, so it has no units.")
    if section.names and kind != "text":
        raise ContractError(
            f"Column {name!r}: names are of a text.",
            hint="Labels of categories stand with them: categories: {1125315: acetaminophen}.",
        )
    if unread := section.unread(*_OF_ALL, *_TAKES[kind]):
        raise ContractError(
            f"Column {name!r} is of kind {kind}, which does not read {', '.join(unread)}.",
            hint=f"Leave it out; a column of this kind takes {', '.join(_TAKES[kind])}.",
        )
    source = section.from_ or name
    match kind:
        case "category":
            return _category(name, section, source=source)
        case "text":
            return Column(
                name=name,
                kind=Kind.TEXT,
                source=source,
                because=section.source,
                absent=_absent(section),
                names=_names(name, section.names),
            )
        case "date":
            return _date_column(name, section, source=source)
        case _:
            return _number(name, section, source=source)


def _category(name: str, section: ColumnSection, *, source: str) -> Column:
    declared = section.categories or {}
    if isinstance(declared, list):
        _require_once(name, declared)
    pairs = declared if isinstance(declared, dict) else {label: label for label in declared}
    keys = tuple(dict.fromkeys(pairs.values()))

    def policy(word: str) -> int | None:
        if word == "drop":
            return None
        if word not in keys:
            raise ContractError(
                f"Column {name!r}: {word!r} is not one of its categories.",
                hint="Write drop, or a declared category.",
            )
        return keys.index(word)

    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source,
        keys=keys,
        codes=tuple((code, keys.index(label)) for code, label in pairs.items()),
        nulls=policy(section.nulls),
        other=policy(section.other),
        because=section.source,
        absent=_absent(section),
    )


def _absent(section: ColumnSection) -> tuple[str, ...]:
    """Return the texts that mean missing; the empty one, which always does, may be listed."""
    return tuple(code for code in section.missing if code)


def _require_once(name: str, labels: list[str]) -> None:
    twice = next((label for label, times in Counter(labels).items() if times > 1), None)
    if twice is not None:
        raise ContractError(
            f"Column {name!r} lists the category {twice!r} twice.",
            hint="Write each once; to join several codes under a label, write {code: label}.",
        )


def _date_column(name: str, section: ColumnSection, *, source: str) -> Column:
    if not hasattr(section.lower, "toordinal") or not hasattr(section.upper, "toordinal"):
        raise UnboundedError(
            f"Column {name!r} needs its first and last date.",
            hint="Write lower: 2010-01-01, upper: 2026-12-31, from public knowledge.",
        )
    if section.nulls != "drop":
        raise ContractError(f"Column {name!r}: a missing date can only be dropped.")
    if section.lower >= section.upper:  # type: ignore[operator]
        raise InvalidParameterError(
            f"Column {name!r}: expected lower before upper, got {section.lower} and "
            f"{section.upper}.",
            hint="Write lower: 2010-01-01, upper: 2026-12-31.",
        )
    return Column(
        name=name,
        kind=Kind.DATE,
        source=source,
        lower=section.lower.toordinal() - EPOCH,  # type: ignore[union-attr]
        upper=section.upper.toordinal() - EPOCH,  # type: ignore[union-attr]
        because=section.source,
        absent=_absent(section),
    )


def _number(name: str, section: ColumnSection, *, source: str) -> Column:
    if not isinstance(section.lower, Fraction) or not isinstance(section.upper, Fraction):
        raise UnboundedError(
            f"Column {name!r} has no clip bounds, so no finite noise would protect it.",
            hint=f"Declare lower and upper for {name!r} from public knowledge.",
        )
    if section.lower >= section.upper:
        raise InvalidParameterError(
            f"Column {name!r}: expected lower < upper, got {section.lower} and {section.upper}.",
            hint="Write the lower bound as lower.",
        )
    step = section.step
    unit = "a" if section.kind == "year" else section.unit
    return Column(
        name=name,
        kind=Kind.NUMBER,
        source=source,
        lower=_grid(name, section.lower, step),
        upper=_grid(name, section.upper, step),
        scale=step,
        unit=unit,
        nulls=None
        if section.nulls == "drop"
        else _grid(name, _constant(name, section.nulls), step),
        outside=section.outside,
        because=section.source,
        absent=_absent(section),
        units=None if section.units is None else read_units(name, section.units, unit=unit),
    )


def _names(name: str, stated: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what the codes of a text are called, few enough to stand in every plan."""
    if len(stated) > MOST_NAMES:
        raise ContractError(
            f"Column {name!r} names {len(stated):,} codes, and a plan holds at most "
            f"{MOST_NAMES:,}.",
            hint="Name those that a study may ask for, such as the ingredients of drugs.",
        )
    return tuple(stated.items())


def _constant(name: str, text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ContractError(
            f"Column {name!r}: expected nulls: drop or a number within the bounds."
        ) from None


def _grid(name: str, physical: Fraction, step: Fraction) -> int:
    steps = physical / step
    if steps.denominator != 1:
        raise ContractError(
            f"Column {name!r}: {float(physical):g} is not a multiple of the step {step}.",
            hint="Use bounds on the grid, or a finer step.",
        )
    return int(steps)
