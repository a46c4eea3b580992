"""Tables in memory: pandas, Polars, Arrow, or anything that speaks the Arrow stream protocol.

A frame is copied to Arrow once, when the engine opens; Python variables are never visible to SQL.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.build import own_table
from confide.rows.sources.prepare import Opened
from confide.tables.schema import Dataset


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
        given[name] = _arrow(frames[table.source], table.source)
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
    with contextlib.suppress(pa.ArrowException, TypeError, ValueError):  # they print cells
        table = pa.table(frame)
    if table is None:
        raise ContractError(
            f"Frame {name!r} cannot be read as Arrow columns.",
            hint="Give every column one type.",
        )
    return _with_valid_text(table)


def _with_valid_text(table: Any) -> Any:
    """Return the table with NULL for each cell of text that is no UTF-8.

    The engine stops at such a cell, so one patient's row could make every release fail.
    """
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        column = table.column(index)
        if pa.types.is_dictionary(field.type):
            column = column.dictionary_decode()
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            cells = [_text(cell.as_buffer()) for chunk in column.chunks for cell in _octets(chunk)]
            table = table.set_column(index, field.name, pa.array(cells, type=pa.large_string()))
    return table


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
