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
    return table
