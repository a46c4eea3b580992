"""Cells as they are read: without codes that mean missing, in one unit, of accepted rows alone.

*Privacy:* every expression here is a function of one row's cells and of what is declared.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from unicodedata import normalize

from sqlglot import exp

from confide.rows.cells.build import (
    DOUBLE,
    NULL,
    STAR,
    aliased,
    call,
    case,
    cast,
    equal,
    missing,
    named,
    negated,
    nested,
    own,
    plus,
    select,
    some,
    string,
    times,
)
from confide.rows.cells.clean import cell_of, in_steps, known_code, parsed, text
from confide.rows.cells.layout import Found, Located
from confide.rows.cells.operations import DateOfText, DoubleOf, Normal, NumberAndUnit, operation
from confide.rows.cells.physical import Physical
from confide.tables.by_code import InUnit
from confide.tables.schema import Column, Kind, Table

_OF_TEXT = (Kind.CATEGORY, Kind.TEXT)
_SAFE, _AS_TEXT, _AS_DATE = "cell ", "text ", "date "
"""Before the name of a column of the source: what is made of it; no two of these are one name."""


def source_rows(
    table: Table, *, located: Located, persons: Sequence[Found] = (), judged: bool = False
) -> exp.Subquery | exp.Table:
    """Return the rows of a table of the source as ``s``: each cell safe, as text, and as a date.

    Each is worked out once, however often it is looked at.  Of the columns that are read and of no
    other: an engine may decode what a file states of a column as soon as a query names it.

    Args:
        table: As declared.
        located: Where it lies.
        persons: Columns of ids that are read too.
        judged: Whether it is asked how the cells are as they came.
    """
    there = aliased(located.relation, "s")
    of_codes = (located.columns[name] for name in table.sources())
    values = (located.of(column) for column in table.columns)
    read = _each_once((*persons, *of_codes, *values))
    if not read:
        return there
    worded = {each.source for each in (*table.conditions, *table.without)}
    worded |= {c.source for c in table.columns if judged or c.absent or c.kind in _OF_TEXT}
    dated = [located.of(column) for column in table.columns if column.kind is Kind.DATE]
    worked_out = [
        named(text(cell(each), of=each), f"{_AS_TEXT}{each.name}")
        for each in _each_once(located.columns[name] for name in worded)
        if each.physical is not Physical.INTEGER
    ]
    worked_out += [
        named(operation(DateOfText, cell(each)), f"{_AS_DATE}{each.name}")
        for each in _each_once(dated)
        if each.physical is Physical.TEXT
    ]
    rows = select(*(named(cell_of(each), f"{_SAFE}{each.name}") for each in read), of=there)
    return nested(select(STAR, *worked_out, of=rows, alias="s") if worked_out else rows, "s")


def _each_once(columns: Iterable[Found]) -> list[Found]:
    """Return columns of the source by name: several declared ones may be of one."""
    by_name = {each.name: each for each in columns}
    return [by_name[name] for name in sorted(by_name)]


def cell(found: Found) -> exp.Expr:
    """Return a cell of :func:`source_rows`."""
    return own(f"{_SAFE}{found.name}", "s")


def read_value(column: Column, *, located: Located) -> exp.Expr:
    """Return a cell as a double in steps of its grid, in the column's unit; a date or text.

    NULL where it holds a code that means missing.
    """
    found = located.of(column)
    if column.units is None:
        return _unless_absent(_value(column, found=found), column=column, located=located)
    raw = _unless_absent(cell(found), column=column, located=located)
    if column.units.in_cell and found.physical is Physical.TEXT:
        raw, beside = (_extracted(raw, group) for group in (1, 2))
    else:
        beside = string("")
    number = operation(DoubleOf, raw, physical=found.physical)
    alike: dict[tuple[Fraction, Fraction], list[InUnit]] = {}
    for each in column.units.known:
        alike.setdefault((each.times, each.plus), []).append(each)

    def stands(codes: tuple[str, ...]) -> exp.Expr:
        if column.units is None or column.units.in_cell:
            return some(*(equal(beside, string(normalize("NFC", code.strip()))) for code in codes))
        return _is_one_of(located.columns[column.units.source], codes)

    branches = [
        (
            stands(tuple(each.code for each in same)),
            in_steps(_converted(number, factor=factor, offset=offset), column.scale),
        )
        for (factor, offset), same in alike.items()
    ]
    return case(*branches, default=cast(NULL, DOUBLE))


def is_blank(column: Column, *, located: Located) -> exp.Expr:
    """Return whether the cell of a declared column is empty, or a code that means missing."""
    found = located.columns[column.source]
    empty = missing(_word(found))
    return some(_is_absent(column, located=located), empty) if column.absent else empty


def word_of(column: Column, *, located: Located) -> exp.Expr:
    """Return the cell of a declared column as it is written, of rows that are judged."""
    return _word(located.columns[column.source])


def conditions(table: Table, *, located: Located) -> list[exp.Expr]:
    """Return what a row of the source must satisfy, to be a row of the table."""
    without = (_is_one_of(located.columns[each.source], each.codes) for each in table.without)
    return [
        *(_is_one_of(located.columns[each.source], each.codes) for each in table.conditions),
        *(negated(found) for found in without),
    ]


def _is_one_of(found: Found, codes: tuple[str, ...]) -> exp.Expr:
    """Return whether a cell is one of some codes, compared as those of categories are."""
    column = Column(
        name=found.name,
        kind=Kind.CATEGORY,
        source=found.name,
        keys=codes,
        codes=tuple((code, index) for index, code in enumerate(codes)),
    )
    return call(
        "coalesce", known_code(_word(found), column=column, physical=found.physical), exp.false()
    )


def _unless_absent(value: exp.Expr, *, column: Column, located: Located) -> exp.Expr:
    """Return what is read of a cell; NULL where it holds a code that means missing."""
    if not column.absent:
        return value
    return case((_is_absent(column, located=located), NULL), default=value)


def _is_absent(column: Column, *, located: Located) -> exp.Expr:
    """Return whether a cell holds a code that means missing, however it is spelled there.

    Of a number or date the code is what it reads as: a file writes 999 as ``999.0``, once another
    cell of the column is empty, and would be a value else.  By its text too: 32-bit floats are
    printed as -99.9 and are another number.
    """
    spelled = _is_one_of(located.columns[column.source], column.absent)
    if column.kind not in (Kind.NUMBER, Kind.DATE):
        return spelled
    value = _value(column, found=located.of(column))
    meant = (parsed(string(code), column=column, physical=Physical.TEXT) for code in column.absent)
    return some(spelled, *(equal(value, each) for each in meant))


def _value(column: Column, *, found: Found) -> exp.Expr:
    """Return a cell as :func:`confide.rows.cells.clean.parsed` does, of what is worked out once."""
    whole = column.kind is Kind.TEXT and found.physical is Physical.INTEGER
    if column.kind in _OF_TEXT and not whole:
        return _word(found)
    if column.kind is Kind.DATE and found.physical is Physical.TEXT:
        return own(f"{_AS_DATE}{found.name}", "s")
    return parsed(cell(found), column=column, physical=found.physical)


def _word(found: Found) -> exp.Expr:
    """Return a cell as text; as the integer that it is, which is compared with plain digits."""
    if found.physical is Physical.INTEGER:
        return cell(found)
    return own(f"{_AS_TEXT}{found.name}", "s")


def _extracted(raw: exp.Expr, group: int) -> exp.Expr:
    """Return the number of a cell (1), or in normal form C what stands behind it (2); "" if none.

    Of a cell that is no number and a text behind it both are "".
    """
    found = operation(NumberAndUnit, raw, group=group)
    return operation(Normal, found) if group == 2 else found


def _converted(number: exp.Expr, *, factor: Fraction, offset: Fraction) -> exp.Expr:
    """Return factor·x + offset; x itself where nothing is to be done."""
    if factor != 1:
        number = times(number, _double(factor))
    return plus(number, _double(offset)) if offset else number


def _double(value: Fraction) -> exp.Expr:
    """Return the double that is nearest to a fraction: its shortest text, cast."""
    return cast(string(repr(float(value))), DOUBLE)
