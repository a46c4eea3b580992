"""Python objects that say one value: what columns of objects hold after a merge or from a driver."""

import datetime as dt
import enum
import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

EXACT = 2**53
"""From here on whole numbers are no floats."""
LONG = Context(prec=100)


class Twelve(int, enum.Enum):
    """A code of a site, as an integer with a name."""

    DOZEN = 12


class Label(str, enum.Enum):  # noqa: UP042 - its str() is no label
    """A label of a site, as a text with a name."""

    A = "a"


def missing() -> tuple[Any, ...]:
    """Return every object that says that a value is missing."""
    found: list[Any] = [
        *(None, math.nan, Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), np.float64("nan")),
        *(np.longdouble("nan"), np.datetime64("NaT"), np.datetime64("NaT", "ns")),
        *(np.timedelta64("NaT", "ns"), np.ma.masked),
    ]
    try:
        import pandas as pd
    except ImportError:
        return tuple(found)
    return (*found, pd.NA, pd.NaT)


def spellings(cell: Any) -> tuple[Any, ...]:
    """Return objects that say the value of a cell; the cell itself among them."""
    match cell:
        case None:
            return missing()
        case bool():
            return cell, np.bool(cell)
        case int():
            return _of_integer(cell)
        case float():
            return _of_float(cell)
        case Decimal():
            return cell, Fraction(cell), cell.normalize(LONG)
        case str():
            named = [Label.A] if cell == Label.A else []
            return cell, cell.encode(), *named, *([] if cell.endswith("\0") else [np.str_(cell)])
        case dt.date():
            moment = dt.datetime(cell.year, cell.month, cell.day)  # noqa: DTZ001 - as frames hold it
            return cell, moment, np.datetime64(cell), np.datetime64(moment)
        case _:
            return (cell,)


def objects(column: list[Any]) -> list[Any]:
    """Return objects that say the cells of a column, of another type in each row."""
    said = map(spellings, column)
    return [ways[place % len(ways)] for place, ways in enumerate(said)]


def _of_integer(cell: int) -> tuple[Any, ...]:
    short = Decimal(cell).normalize(LONG)  # 1.2E+2
    found: list[Any] = [cell, Decimal(cell), Decimal(f"{cell}.00"), short, Fraction(cell)]
    if abs(cell) < EXACT:
        found += [float(cell), np.float64(cell), np.longdouble(cell)]
    for kind in (np.int8, np.float16, np.int64, np.uint64):
        if abs(cell) < 100 and (cell >= 0 or kind is not np.uint64):
            found.append(kind(cell))
    return (*found, Twelve.DOZEN) if cell == Twelve.DOZEN else tuple(found)


def _of_float(cell: float) -> tuple[Any, ...]:
    if math.isnan(cell):
        return missing()
    if cell.is_integer() and abs(cell) < EXACT:
        return spellings(int(cell))
    found: tuple[Any, ...] = (cell, np.float64(cell))
    if not cell.is_integer() and math.isfinite(cell):
        return (*found, np.longdouble(cell), Fraction(cell), Decimal(cell), Decimal(repr(cell)))
    return found
