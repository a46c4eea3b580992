"""Files of Stata (.dta), SPSS (.sav, .zsav) and SAS (.sas7bdat, .xpt): cells as they are stored.

A value label is no value: a cell is its code, and categories in dataset.yaml name the codes.
Missing values of every sort (``.``, ``.a`` to ``.z``, user-defined codes of SPSS) are missing.  A
number is a day or a moment if its column's format says so; weeks, months and quarters stay numbers.
A number of four bytes is the shortest decimal that is that number again: 70.1, not 70.0999984741.

*Privacy:* names, formats and labels stand in the file's dictionary, which is read before a charge;
rows afterwards.  A text that is none in the file's encoding stops the reader: what fails then is
reading, and `confide check` tells it before.

References:
    [ReadStat] Miller. ReadStat: a C library for SAS, Stata and SPSS files, with its lists of
        formats. https://github.com/WizardMac/ReadStat
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.errors import ContractError, MissingExtraError
from confide.rows.sources.exported.cell_text import cell_text
from confide.rows.sources.exported.workbook import EXTRA
from confide.tables.dialect import SERIAL
from confide.tables.encoding import Encoding
from confide.tables.schema import Kind, Table
from confide.tables.source import SourceKind

ROWS_AT_ONCE = 100_000
"""Rows that are in memory at once."""
_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_OF_1960 = dt.datetime.fromisoformat("1960-01-01")
_OF_1582 = dt.datetime.fromisoformat("1582-10-14")
_DAY = 86_400.0
_FORMAT = re.compile(r"[A-Z]+(?:8601[A-Z]+)?")
_SPSS_DAYS = {"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"}
_SPSS_MOMENTS = {"DATETIME", "YMDHMS"}
_TIMES = {"TIME", "DTIME", "MTIME", "TOD", "HHMM", "MMSS", "TIMEAMPM", "E8601TM", "IS8601TM"}
_SAS_DAYS = {
    *("DATE", "DAY", "DDMMYY", "DDMMYYB", "DDMMYYC", "DDMMYYD", "DDMMYYN", "DDMMYYP", "DDMMYYS"),
    *("MMDDYY", "MMDDYYB", "MMDDYYC", "MMDDYYD", "MMDDYYN", "MMDDYYP", "MMDDYYS", "YYMMDD"),
    *("YYMMDDB", "YYMMDDC", "YYMMDDD", "YYMMDDN", "YYMMDDP", "YYMMDDS", "JULIAN", "MONYY"),
    *("WEEKDATE", "WEEKDATX", "WORDDATE", "WORDDATX", "YYMM", "YYMON", "E8601DA", "B8601DA"),
    *("IS8601DA", "NLDATE", "EURDFDD", "EURDFDE"),
}
_SAS_MOMENTS = {
    *("DATETIME", "DATEAMPM", "E8601DT", "B8601DT", "IS8601DT", "MDYAMPM", "DTDATE", "NLDATM"),
    *("E8601DN", "B8601DN", "DTMONYY", "DTYEAR", "DTWKDATX", "EURDFDT"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A column as the file's dictionary describes it.

    Attributes:
        name: Of the column.
        label: In words; "" for none.
        labels: Pairs of a code and what it means.
        is_text: Whether its cells are texts.
        is_day: Whether they are days or moments.
    """

    name: str
    label: str
    labels: tuple[tuple[str, str], ...]
    is_text: bool
    is_day: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalExport:
    """The rows of such a file.

    Attributes:
        kind: Stata, SPSS or SAS.
        read: Columns whose cells are read; those of others stay empty.
        encoding: Of texts, where the file says nothing or a wrong one; UTF-8 for what it says.
        pointed: Columns whose numbers are written with this dialect's decimal.
        decimal: That sign.
    """

    kind: SourceKind
    read: frozenset[str]
    encoding: Encoding = Encoding.UTF_8
    pointed: frozenset[str] = frozenset()
    decimal: str = "."

    def lines(self, path: Path) -> Iterator[Sequence[str]]:
        """Yield the names of all columns, then the cells of each row.

        Raises:
            OSError: If the file cannot be read as one of its kind.
        """
        _, about = _parsed(path, encoding=self.encoding, metadataonly=True)
        names = list(about.column_names)
        yield names
        folded = {name.lower() for name in self.read}
        used = [name for name in names if name in self.read or name.lower() in folded]
        if not used:
            return
        cells = {name: self._cell(name, about=about) for name in used}
        empty = [""] * len(names)
        places = [names.index(name) for name in used]
        offset = 0
        while True:
            columns, _ = _parsed(
                path,
                encoding=self.encoding,
                usecols=used,
                row_offset=offset,
                row_limit=ROWS_AT_ONCE,
            )
            texts = [[*map(cells[name], columns[name])] for name in used]
            for row in zip(*texts, strict=True):
                line = empty.copy()
                for place, text in zip(places, row, strict=True):
                    line[place] = text
                yield line
            if len(texts[0]) < ROWS_AT_ONCE:
                return
            offset += ROWS_AT_ONCE

    def _cell(self, name: str, *, about: Any) -> Callable[[object], str]:
        made = _reading(
            str(about.original_variable_types.get(name) or ""),
            stored=about.readstat_variable_types[name],
            kind=self.kind,
        )
        if name not in self.pointed:
            return made
        return lambda value: (
            made(value) if isinstance(value, str) else made(value).replace(".", self.decimal)
        )


def statistical_export(table: Table, *, kind: SourceKind, read: frozenset[str]) -> Any:
    """Return what writes the file of a table.

    Raises:
        ContractError: If its days are declared as a spreadsheet's.
    """
    if SERIAL in table.dialect.dates:
        raise ContractError(
            f"Table {table.name!r}: days of {kind.value} are counted as their format says.",
            hint=f"Leave {SERIAL} out of dialect: {{dates: ...}}.",
        )
    numbers = (column.source for column in table.columns if column.kind is Kind.NUMBER)
    return StatisticalExport(
        kind=kind,
        read=read,
        encoding=table.encoding,
        pointed=frozenset(() if table.dialect.decimal == "." else numbers),
        decimal=table.dialect.decimal,
    )


def variables(path: Path, *, kind: SourceKind, table: str, encoding: Encoding) -> list[Variable]:
    """Return what the dictionary of a file says of its columns; no row is read.

    Raises:
        ContractError: If it cannot be read, or repeats a name.
        MissingExtraError: Without the library.
    """
    about = None
    try:
        _, about = _parsed(path, encoding=encoding, metadataonly=True)
    except OSError:
        raise ContractError(
            f"Table {table!r}: {path.name!r} cannot be read as a file of {kind.value}.",
            hint="Is it whole, without a password, and named by its kind? Save it again.",
        ) from None
    folded = [name.lower() for name in about.column_names]
    twice = next((name for name in folded if folded.count(name) > 1), "")
    if twice:
        raise ContractError(
            f"Table {table!r}: {path.name!r} names a column {twice!r} twice; capitals make no "
            "difference.",
            hint="Give each column a name of its own.",
        )
    return [_variable(name, about=about, kind=kind) for name in about.column_names]


def _variable(name: str, *, about: Any, kind: SourceKind) -> Variable:
    labels: Mapping[object, object] = about.variable_value_labels.get(name) or {}
    form = str(about.original_variable_types.get(name) or "")
    return Variable(
        name=name,
        label=str(about.column_names_to_labels.get(name) or "").strip(),
        labels=tuple((cell_text(code), str(label).strip()) for code, label in labels.items()),
        is_text=about.readstat_variable_types[name].startswith("string"),
        is_day=_reckoned(form, kind=kind)[0] in ("day", "moment"),
    )


def _parsed(path: Path, *, encoding: Encoding, **given: Any) -> tuple[Any, Any]:
    """Return columns and dictionary of a file, with days as numbers.

    Raises:
        OSError: If it cannot be read.
    """
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("pyreadstat", extra=EXTRA) from None
    read = getattr(pyreadstat, _READERS[path.suffix.lower()])
    if path.suffix.lower() != ".xpt" or encoding is not Encoding.UTF_8:
        given["encoding"] = None if encoding is Encoding.UTF_8 else encoding.value
    failed = ""
    try:
        return read(str(path), disable_datetime_conversion=True, output_format="dict", **given)  # type: ignore[no-any-return]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - messages of the library hold cells
        failed = type(error).__name__
    raise OSError(failed)


def _reading(form: str, *, stored: str, kind: SourceKind) -> Callable[[object], str]:
    """Return what writes a cell of a column with this format and type."""
    what, days_in_units, origin = _reckoned(form, kind=kind)
    match what:
        case "day":
            return lambda value: _moment(value, unit=days_in_units, origin=origin)[:10]
        case "moment":
            return lambda value: _moment(value, unit=days_in_units, origin=origin)
        case "time":
            return lambda value: _time(value, unit=days_in_units)
    return _single if stored == "float" else cell_text


def _reckoned(form: str, *, kind: SourceKind) -> tuple[str, float, dt.datetime]:
    """Return whether a format shows days, moments or times; seconds of its unit; its origin."""
    if kind is SourceKind.STATA:
        if form.startswith(("%tc", "%tC", "%-tc", "%-tC")):
            return "moment", 0.001, _OF_1960
        day = form.startswith(("%td", "%-td", "%d", "%-d"))
        return "day" if day else "", _DAY, _OF_1960
    found = _FORMAT.match(form.upper())
    name = found[0] if found else ""
    if kind is SourceKind.SPSS:
        if name in _TIMES:
            return "time", 1.0, _OF_1582
        what = "moment" if name in _SPSS_MOMENTS else "day" if name in _SPSS_DAYS else ""
        return what, 1.0, _OF_1582
    if name in _SAS_DAYS:
        return "day", _DAY, _OF_1960
    if name in _TIMES:
        return "time", 1.0, _OF_1960
    return "moment" if name in _SAS_MOMENTS else "", 1.0, _OF_1960


def _moment(value: object, *, unit: float, origin: dt.datetime) -> str:
    """Return a number of units since an origin as a moment; as the number beyond all years."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return cell_text(value)
    try:
        return cell_text(origin + dt.timedelta(milliseconds=round(value * unit * 1000)))
    except OverflowError:
        return cell_text(value)


def _time(value: object, *, unit: float) -> str:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return cell_text(value)
    try:
        return cell_text(dt.timedelta(seconds=round(value * unit)))
    except OverflowError:
        return cell_text(value)


def _single(value: object) -> str:
    """Return a number of four bytes as the shortest decimal that is it again."""
    if not isinstance(value, float) or value.is_integer() or not math.isfinite(value):
        return cell_text(value)
    import numpy as np

    return str(np.float32(value))
