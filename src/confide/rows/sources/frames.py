"""Tables in memory: pandas, Polars, Arrow, or anything that speaks the Arrow stream protocol.

A frame is copied to Arrow once, when the engine opens; Python variables are never visible to SQL.

*Privacy:* pandas columns of Python objects have no type but what their cells suggest, so one cell
could change how all others are read, or refuse the frame.  They become text, cell by cell
(:mod:`confide.rows.sources.object_cells`).  The index is no column: it is not looked at.
A frame without rows has the types of one with rows.
"""

import contextlib
import sys
from collections.abc import Collection, Mapping
from typing import Any

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import own_table
from confide.rows.cells.layout import id_column, source_names
from confide.rows.sources.arrow_cells import plain
from confide.rows.sources.object_cells import object_id, object_text
from confide.rows.sources.opened import Opened
from confide.tables.schema import Dataset, Kind, Table


def from_frames(frames: Mapping[str, object], *, dataset: Dataset) -> Opened:
    """Register the frames that declared tables name.

    Raises:
        ContractError: If something is not a frame, or mixes types within a column.
    """
    given: dict[str, Any] = {}
    numbers: dict[str, dict[str, str]] = {}
    relations: dict[str, exp.Table] = {}
    missing: dict[str, str] = {}
    for index, table in enumerate(dataset.tables):
        if table.source not in frames:
            missing[table.name] = f"Table {table.name!r}: no frame {table.source!r} was given."
            continue
        name = f"frame{index}"
        wanted = source_names(table, dataset=dataset)
        ids = {id_column(table, dataset=dataset), table.other_id}
        frame, apart = _with_types(frames[table.source], table, wanted=wanted, ids=ids)
        given[name] = _arrow(frame, table.source, wanted=wanted | set(apart.values()))
        numbers[table.name] = apart
        relations[table.name] = own_table(name)
    return Opened(frames=given, relations=relations, numbers=numbers, missing=missing)


def kept(frames: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return frames that can be read again: what has no length may be a stream, read only once."""
    if frames is None or all(hasattr(frame, "__len__") for frame in frames.values()):
        return frames
    return {
        name: frame if hasattr(frame, "__len__") else _read(frame) for name, frame in frames.items()
    }


def _read(stream: object) -> object:
    """Return a stream as a table; None if it cannot be read."""
    import pyarrow as pa

    table = None
    if hasattr(stream, "__arrow_c_stream__"):
        with contextlib.suppress(*_failures()):
            table = pa.table(stream)
    return table


def _failures() -> tuple[type[Exception], ...]:
    """Return what Arrow raises where it cannot read a frame; the messages print cells."""
    import pyarrow as pa

    return (pa.ArrowException, KeyError, TypeError, ValueError, OverflowError)


def _arrow(frame: object, name: str, *, wanted: Collection[str]) -> Any:
    import pyarrow as pa

    if not isinstance(frame, pa.Table) and not hasattr(frame, "__arrow_c_stream__"):
        raise ContractError(
            f"Frame {name!r} is no table that Arrow can read.",
            hint="Give a pandas, Polars or Arrow table; collect a lazy one first.",
        )
    table = None
    with contextlib.suppress(*_failures()):
        given = pa.table(frame)
        table = plain(given.select([each for each in given.column_names if each in wanted]))
    if table is None:
        raise ContractError(
            f"Frame {name!r} cannot be read as Arrow columns.",
            hint="Give every column one type.",
        )
    return table


def _with_types(
    frame: object, table: Table, *, wanted: Collection[str], ids: Collection[str]
) -> tuple[object, dict[str, str]]:
    """Return a frame in which no column's type depends on its cells, those of subclasses too.

    True is a code in one declared column and 1 in another one of the same objects: these are a
    column of their own then, whose name is returned by that of the objects.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(frame, pandas.DataFrame):
        return frame, {}
    import pandas as pd

    numbers = {column.source for column in table.columns if column.kind is Kind.NUMBER}
    texts = _compared_as_texts(table)
    given: Any = frame
    names = [name for name in given.columns if name in wanted]
    if len(set(names)) != len(names):
        raise ContractError(
            f"Frame {table.source!r} names a column twice.",
            hint="Give every column one type and a name of its own.",
        )
    typed: dict[str, Any] = {}
    apart: dict[str, str] = {}
    for name in names:
        column = given[name].reset_index(drop=True)
        if _of_objects(column.dtype):
            if name in ids:
                cells = [object_id(cell) for cell in column]
            else:
                flags = name in numbers and name not in texts
                cells = [object_text(cell, flags_are_numbers=flags) for cell in column]
            if name in numbers and name in texts:
                apart[name] = _unlike({*names, *apart.values()}, f"{name} as a number")
                said = [object_text(cell, flags_are_numbers=True) for cell in column]
                typed[apart[name]] = pd.Series(said, dtype="string")
            column = pd.Series(cells, dtype="string")
        typed[name] = column
    return pd.DataFrame(typed), apart


def _compared_as_texts(table: Table) -> set[str]:
    """Return the columns of which some text is looked at: a code, a label, what means missing."""
    found = {each.source for each in (*table.conditions, *table.without)}
    return found | {c.source for c in table.columns if c.absent or c.kind is not Kind.NUMBER}


def _unlike(names: Collection[Any], name: str) -> str:
    """Return a name that is none of some, whatever its capitals."""
    taken = {str(each).lower() for each in names}
    while name.lower() in taken:
        name += "_"
    return name


def _of_objects(dtype: Any) -> bool:
    """Return whether a column, or its categories, holds Python objects: any, or texts that are."""
    of = dtype.categories.dtype if dtype.name == "category" else dtype
    return bool(of == "object") or getattr(of, "storage", "") == "python"
