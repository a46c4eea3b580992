"""Made-up cells of one column of a source, from what dataset.yaml says of it.

A number lies in its bounds, near the middle more often than at an end; a code is one of those that
are declared, the first ones more often; a date is any in its window.  Where several declared
columns are read from one column of the source, each row is a value of one of them.

*Privacy:* a function of public facts and of a generator; there is nothing else it could see.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.tables.schema import Column, Kind

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251 - a type

MISSING_SHARE = 0.02
"""Share of cells of a column that are missing."""
TEXTS = 40
"""Texts that are made up where none is public."""
_EPOCH = dt.date(1970, 1, 1)
_DELAY = 14.0  # days from one date of a row to the next, in the mean


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """Canonical integers of a column for some rows.

    Attributes:
        column: Which; a text's integers are places in :func:`texts_of`.
        values: Shape (rows,).
    """

    column: Column
    values: NDArray[np.int64]


def draw_values(
    column: Column, *, rows: int, generator: "Generator", weights: Sequence[int]
) -> MadeUp:
    """Return canonical integers of a column.

    Args:
        column: Which.
        rows: How many.
        generator: Of chance.
        weights: How frequent each category is; () where nothing public says so.
    """
    match column.kind:
        case Kind.NUMBER:
            size = column.domain().size()
            middle = (generator.random(rows) + generator.random(rows)) / 2
            values = column.domain().lower + np.minimum((middle * size).astype(np.int64), size - 1)
        case Kind.DATE:
            domain = column.domain()
            values = generator.integers(domain.lower, domain.upper + 1, size=rows)
        case Kind.CATEGORY | Kind.TEXT:
            many = len(texts_of(column))
            chances = np.asarray(weights or 1 / np.sqrt(1 + np.arange(many)), dtype=np.float64)
            values = generator.choice(many, size=rows, p=chances / chances.sum())
    return MadeUp(column=column, values=values.astype(np.int64))


def dates_in_order(dates: Sequence[MadeUp], *, generator: "Generator") -> tuple[MadeUp, ...]:
    """Return the dates of rows, each on or after the one declared before it, some days later."""
    found: list[MadeUp] = []
    for each in dates:
        values = each.values
        if found:
            delay = generator.exponential(_DELAY, size=values.size).astype(np.int64)
            domain = each.column.domain()
            values = np.clip(found[-1].values + delay, domain.lower, domain.upper)
        found.append(MadeUp(column=each.column, values=values))
    return tuple(found)


def texts_of(column: Column) -> tuple[str, ...]:
    """Return what cells of a category or of a text may say; made up where nothing is public.

    Example:
        >>> texts_of(Column(name="note", kind=Kind.TEXT, source="note"))[:2]
        ('made up 1', 'made up 2')
    """
    if column.kind is Kind.CATEGORY:
        return tuple(code for code, _ in column.codes) or column.keys
    named = tuple(code for code, _ in column.names)
    return named or tuple(f"made up {place}" for place in range(1, TEXTS + 1))


def weights_of(column: Column, *, people: Sequence[tuple[str, int]]) -> tuple[int, ...]:
    """Return how frequent each code of a column of areas is, by the people who live there."""
    living = dict(people)
    codes = column.codes or tuple((key, place) for place, key in enumerate(column.keys))
    return tuple(living.get(column.keys[place], 0) for _, place in codes) if living else ()


def made_up_cells(every: Sequence[MadeUp], *, generator: "Generator") -> Any:
    """Return the cells of one column of a source, as Arrow, some of them missing.

    Args:
        every: What is drawn for each declared column that is read from it; of one kind it has the
            type of that kind, else it is text.
        generator: Of chance.
    """
    rows = every[0].values.size
    absent = generator.random(rows) < MISSING_SHARE
    whose = generator.integers(len(every), size=rows)
    kinds = {each.column.kind for each in every}
    in_cell = any(each.column.units is not None and each.column.units.in_cell for each in every)
    if kinds == {Kind.NUMBER} and not in_cell:
        return _numbers(every, whose=whose, absent=absent)
    if kinds == {Kind.DATE}:
        return _dates(every, whose=whose, absent=absent)
    return _texts(every, whose=whose, absent=absent, generator=generator)


def _taken(parts: Sequence[NDArray[Any]], *, whose: NDArray[np.int64]) -> NDArray[Any]:
    """Return of each row the value of the column whose it is."""
    return np.choose(whose, parts) if len(parts) < 30 else np.stack(parts)[whose, range(whose.size)]


def _numbers(
    every: Sequence[MadeUp], *, whose: NDArray[np.int64], absent: NDArray[np.bool_]
) -> Any:
    import pyarrow as pa

    steps = [each.column.scale for each in every]
    pairs = list(zip(every, steps, strict=True))
    if all(step.denominator == 1 for step in steps):
        whole = [each.values * int(step) for each, step in pairs]
        return pa.array(_taken(whole, whose=whose), mask=absent, type=pa.int64())
    broken = [each.values * float(step.numerator) / float(step.denominator) for each, step in pairs]
    return pa.array(_taken(broken, whose=whose), mask=absent, type=pa.float64())


def _dates(every: Sequence[MadeUp], *, whose: NDArray[np.int64], absent: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    days = _taken([each.values for each in every], whose=whose).astype(np.int32)
    return pa.array(days, mask=absent, type=pa.int32()).cast(pa.date32())


def _texts(
    every: Sequence[MadeUp],
    *,
    whose: NDArray[np.int64],
    absent: NDArray[np.bool_],
    generator: "Generator",
) -> Any:
    import pyarrow as pa

    written = [_written(each, generator=generator) for each in every]
    cells = [written[of][row] for row, of in enumerate(whose.tolist())]
    return pa.array(cells, type=pa.string(), mask=absent)


def _written(of: MadeUp, *, generator: "Generator") -> list[str]:
    """Return canonical integers as a file of texts has them."""
    column, values = of.column, of.values.tolist()
    match column.kind:
        case Kind.CATEGORY | Kind.TEXT:
            texts = texts_of(column)
            return [texts[value] for value in values]
        case Kind.DATE:
            return [(_EPOCH + dt.timedelta(days=value)).isoformat() for value in values]
        case Kind.NUMBER:
            exact = [value * column.scale for value in values]
            if column.units is None or not column.units.in_cell:
                return [_decimal(value) for value in exact]
            known = column.units.known
            units = [known[place] for place in generator.integers(len(known), size=len(values))]
            return [
                f"{_decimal((value - unit.plus) / unit.times)} {unit.code}".strip()
                for value, unit in zip(exact, units, strict=True)
            ]


def _decimal(value: Fraction | int) -> str:
    """Return a number as people write it; six digits behind the point are enough for a rehearsal.

    Example:
        >>> _decimal(Fraction(5, 2)), _decimal(Fraction(3))
        ('2.5', '3')
    """
    if Fraction(value).denominator == 1:
        return str(int(value))
    return f"{float(value):.6f}".rstrip("0")
