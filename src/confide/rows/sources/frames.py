"""Tables in memory: pandas, Polars, Arrow, or anything that speaks the Arrow stream protocol.

A frame is copied to Arrow once, when the engine opens; Python variables are never visible to SQL.

*Privacy:* pandas columns of Python objects have no type but what their cells suggest, so one cell
could change how all others are read, or refuse the frame.  They become text, cell by cell.
"""

import contextlib
import datetime as dt
import decimal
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.build import own_table
from confide.rows.sources.prepare import Opened
from confide.tables.schema import LARGEST_VALUE, Dataset, Kind, Table

BEFORE = -62_135_683_200
"""The last day before the year 1, in seconds since 1970."""
AFTER = 253_402_300_800
"""The first day of the year 10000, in seconds since 1970."""


def from_frames(frames: Mapping[str, object], *, dataset: Dataset) -> Opened:
    """Register the frames that declared tables name.

    Raises:
        ContractError: If something is not a frame, or mixes types within a column.
    """
    given: dict[str, Any] = {}
    relations: dict[str, exp.Table] = {}
    missing: dict[str, str] = {}
    for index, table in enumerate(dataset.tables):
        if table.source not in frames:
            missing[table.name] = f"Table {table.name!r}: no frame {table.source!r} was given."
            continue
        name = f"frame{index}"
        given[name] = _arrow(_with_types(frames[table.source], table), table.source)
        relations[table.name] = own_table(name)
    return Opened(frames=given, relations=relations, missing=missing)


def _arrow(frame: object, name: str) -> Any:
    import pyarrow as pa

    if not isinstance(frame, pa.Table) and not hasattr(frame, "__arrow_c_stream__"):
        raise ContractError(
            f"Frame {name!r} is no table that Arrow can read.",
            hint="Give a pandas, Polars or Arrow table; collect a lazy one first.",
        )
    table = None
    # their messages print cells
    with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        table = pa.table(frame)
    if table is None:
        raise ContractError(
            f"Frame {name!r} cannot be read as Arrow columns.",
            hint="Give every column one type.",
        )
    return _with_readable_cells(table)


def _with_types(frame: object, table: Table) -> object:
    """Return a frame in which no column's type depends on its cells."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return frame
    import pandas as pd

    numbers = {column.source for column in table.columns if column.kind is Kind.NUMBER}
    typed: Any = frame
    typed = typed.copy(deep=False)
    for name, column in typed.items():
        if column.dtype == object or _of_objects(column):
            cells = [_object_text(cell, number=name in numbers) for cell in column]
            typed[name] = pd.Series(cells, index=typed.index, dtype="string")
    return typed


def _of_objects(column: Any) -> bool:
    return bool(column.dtype.name == "category" and column.cat.categories.dtype == object)


def _object_text(cell: Any, *, number: bool) -> str | None:
    """Return one Python object as the text that a typed column would be read as."""
    if hasattr(cell, "item"):  # a NumPy scalar
        cell = cell.item()
    match cell:
        case bool():
            return str(int(cell)) if number else str(cell).lower()
        case float() if cell.is_integer() and abs(cell) <= LARGEST_VALUE:
            return str(int(cell))
        case bytes():
            return _text(cell)
        case str() | int() | float() | decimal.Decimal() | dt.date():
            return _text(str(cell).encode("utf-8", "surrogatepass"))
        case _:
            return None


def _with_readable_cells(table: Any) -> Any:
    """Return the table with columns of which the engine can read every cell.

    It stops at text that is no UTF-8 and at times far from ours, so one patient's row could make
    every release fail.
    """
    for index, field in enumerate(table.schema):
        column = _plain(table.column(index))
        readable = _readable(column)
        if readable is not table.column(index):
            table = table.set_column(index, field.name, readable)
    return table


def _plain(column: Any) -> Any:
    """Return a column whose cells stand there one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        decoded = [chunk.dictionary_decode() for chunk in column.chunks]
        return pa.chunked_array(decoded, type=kind.value_type)
    return pc.run_end_decode(column) if pa.types.is_run_end_encoded(kind) else column


def _readable(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        return _near(column)
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_string_view(kind):
        column = column.cast(pa.binary_view()).cast(pa.large_binary())
        return _valid_text(pa.chunked_array(map(_as_text, column.chunks), type=pa.large_string()))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _valid_text(column)
    return column


def _near(column: Any) -> Any:
    """Return timestamps as microseconds; those outside the years 1 to 9999 stand just outside."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if kind.unit == "ns":  # all of them lie between 1677 and 2262
        return column
    second = {"s": 1, "ms": 10**3, "us": 10**6}[kind.unit]
    whole = column.cast(pa.int64())
    whole = pc.max_element_wise(whole, pa.scalar(BEFORE * second), skip_nulls=False)
    whole = pc.min_element_wise(whole, pa.scalar(AFTER * second), skip_nulls=False)
    return whole.cast(kind).cast(pa.timestamp("us", kind.tz))


def _valid_text(column: Any) -> Any:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        cells = [_text(cell.as_buffer()) for chunk in column.chunks for cell in _octets(chunk)]
        return pa.chunked_array([pa.array(cells, type=pa.large_string())])
    return column


def _as_text(chunk: Any) -> Any:
    """Return octets as text that nobody has looked at."""
    import pyarrow as pa

    return pa.Array.from_buffers(
        pa.large_string(), len(chunk), chunk.buffers(), offset=chunk.offset
    )


def _octets(chunk: Any) -> Any:
    """Return a chunk of text as the bytes that it holds."""
    import pyarrow as pa

    large = pa.types.is_large_string(chunk.type)
    kind = pa.large_binary() if large else pa.binary()
    return pa.Array.from_buffers(kind, len(chunk), chunk.buffers(), offset=chunk.offset)


def _text(octets: Any) -> str | None:
    try:
        return None if octets is None else str(octets, "utf-8")
    except UnicodeDecodeError:
        return None
