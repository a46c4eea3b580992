"""Types that a source declares and does not enforce: what stands between a cell and its type.

- a decimal may have more digits than declared, of which the largest stops a cast to text or to a
  double: NULL;
- Parquet keeps integers of 8 and 16 bits, and decimals of few digits, in 32 or 64; the engine drops
  the upper bits of a cell and of the least and greatest that a file states of itself, and believes
  the latter.  They need not bound the cells, so where somebody's cell stands would decide what
  becomes of others: the engine is told that a cell may be anything.
"""

from sqlglot import exp

from confide.rows.cells.build import (
    NULL,
    VARCHAR,
    at_most,
    call,
    case,
    cast,
    every,
    missing,
    string,
)
from confide.rows.cells.physical import digits_of


def unstated(cell: exp.Expr, *, type_name: str) -> exp.Expr:
    """Return a cell of which nothing is known but its type: not what a file states of it.

    The condition never holds, but no optimiser knows.
    """
    hashed = call("hash", cell)
    anything = exp.TryCast(this=cast(hashed, VARCHAR), to=_type(type_name))
    return case((missing(hashed), anything), default=cell)


def within_digits(cell: exp.Expr, *, type_name: str) -> exp.Expr:
    """Return a decimal; NULL if it has more digits than its type says.

    A condition alone is not enough.  Of cells that share a dictionary the engine casts each value
    once, those that no row is left with too, so what is returned must not hold them either.
    """
    precision, scale = digits_of(type_name)
    whole, after = "9" * (precision - scale) or "0", "9" * scale
    most = f"{whole}.{after}" if after else whole
    least, end = (_decimal(each, type_name=type_name) for each in (f"-{most}", most))
    cell = unstated(cell, type_name=type_name)
    inside = call("greatest", least, call("least", end, cell))
    return case((every(at_most(least, cell), at_most(cell, end)), inside), default=NULL)


def _decimal(digits: str, *, type_name: str) -> exp.Expr:
    return exp.Cast(this=string(digits), to=_type(type_name))


def _type(type_name: str) -> exp.DataType:
    return exp.DataType.build(type_name, dialect="duckdb")
