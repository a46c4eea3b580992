"""Cells as they are read: without codes that mean missing, in one unit, of accepted rows alone.

*Privacy:* every expression here is a function of one row's cells and of what is declared.
"""

from fractions import Fraction

from sqlglot import exp

from confide.rows.cells.build import (
    DOUBLE,
    NULL,
    case,
    cast,
    equal,
    negated,
    plus,
    present,
    some,
    string,
    times,
    try_cast,
)
from confide.rows.cells.clean import canonical, cell_of, in_steps, parsed
from confide.rows.cells.layout import Found, Located
from confide.rows.cells.physical import Physical
from confide.tables.by_code import InUnit
from confide.tables.schema import Column, Kind, Table


def read_cell(column: Column, *, located: Located) -> exp.Expr:
    """Return the cell of a declared column; NULL where it holds a code that means missing."""
    found = located.columns[column.source]
    cell = cell_of(found)
    if not column.absent:
        return cell
    return case((_is_absent(cell, column=column, found=found), NULL), default=cell)


def read_value(column: Column, *, located: Located) -> exp.Expr:
    """Return a cell as a double in steps of its grid, in the column's unit; a date or text."""
    cell, found = read_cell(column, located=located), located.columns[column.source]
    if column.units is None:
        return parsed(cell, column=column, physical=found.physical)
    number = try_cast(cell, DOUBLE)
    alike: dict[tuple[Fraction, Fraction], list[InUnit]] = {}
    for each in column.units.known:
        alike.setdefault((each.times, each.plus), []).append(each)
    unit = located.columns[column.units.source]
    branches = [
        (
            _is_one_of(unit, tuple(each.code for each in same)),
            in_steps(_converted(number, factor=factor, offset=offset), column.scale),
        )
        for (factor, offset), same in alike.items()
    ]
    return case(*branches, default=cast(NULL, DOUBLE))


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
    value = parsed(cell_of(found), column=column, physical=found.physical)
    return present(canonical(value, column=column, physical=found.physical))


def _is_absent(cell: exp.Expr, *, column: Column, found: Found) -> exp.Expr:
    """Return whether a cell holds a code that means missing, however it is spelled there.

    Of a number or date the code is what it reads as: a file writes 999 as ``999.0``, once another
    cell of the column is empty, and would be a value else.  By its text too: 32-bit floats are
    printed as -99.9 and are another number.
    """
    spelled = _is_one_of(found, column.absent)
    if column.kind not in (Kind.NUMBER, Kind.DATE):
        return spelled
    value = parsed(cell, column=column, physical=found.physical)
    meant = (parsed(string(code), column=column, physical=Physical.TEXT) for code in column.absent)
    return some(spelled, *(equal(value, each) for each in meant))


def _converted(number: exp.Expr, *, factor: Fraction, offset: Fraction) -> exp.Expr:
    """Return factor·x + offset; x itself where nothing is to be done."""
    if factor != 1:
        number = times(number, _double(factor))
    return plus(number, _double(offset)) if offset else number


def _double(value: Fraction) -> exp.Expr:
    """Return the double that is nearest to a fraction: its shortest text, cast."""
    return cast(string(repr(float(value))), DOUBLE)
