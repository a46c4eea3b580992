"""What holds rows: names, number of columns and cells of a frame, Arrow table, array or list.

A sparse matrix is the array that it stands for.

*Privacy:* names and number of columns come from the container's own names, types and shape, or from
the declaration; never from cells.  A list of rows has no shape of its own: a row of it that is of
another width than declared is a patient's, so it is missing, and neither refused nor a reason to
read others otherwise.  Likewise a cell that is absent, or that Python cannot hold, is missing and
leaves every other as it is: columns of other types than NumPy's are read cell by cell.  What is
refused names no column that is no text: of an unknown container it might be a cell.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError

_EXPECTED = "Expected X as a frame, an Arrow table, an array of shape (rows, columns) or a list."


def names_of(table: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame; None of an array or list.

    Names that are places (0, 1, …), as pandas gives of itself, are their digits.

    Raises:
        ContractError: If a name is no text, or two columns share one.
    """
    found = table.schema.names if _is_arrow(table) else getattr(table, "columns", None)
    if found is None:
        return None
    names = list(found)
    if all(type(name) is int for name in names) and names == list(range(len(names))):
        return tuple(str(name) for name in names)
    if not all(isinstance(name, str) for name in names):
        raise ContractError(
            "Expected names of columns as texts.",
            hint="Rename the columns; of an array, the first is called x0.",
        )
    if len(set(names)) != len(names):
        raise ContractError("Two columns have the same name.", hint="Rename one.")
    return tuple(str(name) for name in names)


def width_of(table: Any, *, declared: int | None) -> int:
    """Return the number of columns.

    Args:
        table: Rows.
        declared: How many are declared, which is what a list of rows has; None if that is not said.

    Raises:
        ContractError: If it is no table, or a list of which the declaration does not say it.
    """
    names = names_of(table)
    if names is not None:
        return len(names)
    if not is_list(table):
        return _array_width(table)
    if declared is None:
        raise ContractError(
            "How many columns a list of rows has is not public, since each row is a patient's.",
            hint="Write bounds of each column, or hand over an array.",
        )
    return declared


def _array_width(array: Any) -> int:
    shape: tuple[int, ...] = getattr(array, "shape", ())
    if not (hasattr(array, "__array__") or _is_sparse(array)) or len(shape) != 2:
        raise ContractError(_EXPECTED, hint="Reshape your data: one column is X.reshape(-1, 1).")
    if getattr(getattr(array, "dtype", None), "kind", "") == "c":
        raise ContractError("Complex data not supported.")
    if shape[1] == 0:
        raise ContractError(f"0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    return int(shape[1])


def is_list(values: Any) -> bool:
    """Return whether rows are held one by one, so that each may have a width of its own."""
    return isinstance(values, list | tuple) or (
        isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1
    )


def is_even(values: Any, *, width: int) -> bool:
    """Return whether all rows of a list have this width; for public rows alone."""
    return all(_width(row) == width for row in values)


def cells(values: Any, *, width: int | None = None) -> NDArray[Any]:
    """Return an array as it is, and of lists and frames the cells as they were given.

    Of these NumPy would choose one type by all of its cells, so that one patient's text, or one
    missing id, would change what everybody else's cells say.

    Args:
        values: Array, column, frame, Arrow table or list.
        width: Cells of each row; a row of a list that has others is missing.  One column when None.

    Example:
        >>> cells([0.0, 1.0, "unknown"]).tolist()
        [0.0, 1.0, 'unknown']
        >>> cells([[0.0, "F"], None, [1.0]], width=2).tolist()
        [[0.0, 'F'], [None, None], [None, None]]
    """
    if isinstance(values, np.ma.MaskedArray):
        return _column(values)
    if _is_sparse(values):  # whether a step made it so may depend on how many zeros it found
        values = values.toarray()
    if not is_list(values):
        if hasattr(values, "__array__"):
            held = _held(values)
            return _column(values) if held is None else _side_by_side(held, rows=len(values))
        values = list(values)
    if width is None:
        found = np.empty(len(values), dtype=object)
        for place, row in enumerate(values):
            found[place] = row[0] if _width(row) == 1 else row
        return found
    found = np.full((len(values), width), None, dtype=object)
    for place, row in enumerate(values):
        if _width(row) == width:
            for cell, value in enumerate(row):  # one by one: a cell may be a list
                found[place, cell] = value
    return found


def _width(row: Any) -> int:
    """Return the number of cells of a row; −1 of a single cell."""
    if isinstance(row, np.ndarray):
        return len(row) if row.ndim else -1
    return len(row) if isinstance(row, list | tuple) else -1


def columns_of(table: Any, *, width: int) -> tuple[NDArray[Any], ...]:
    """Return the columns of a frame, array or list of rows.

    Args:
        table: Rows.
        width: Number of columns, by :func:`width_of`.
    """
    held = None if names_of(table) is None else _held(table)
    if held is None:
        array = cells(table, width=width)
        return tuple(np.asarray(array[:, place]) for place in range(width))
    return tuple(_column(column) for column in held)


def _is_arrow(table: Any) -> bool:
    import pyarrow as pa

    return isinstance(table, pa.Table | pa.RecordBatch)


def _is_sparse(table: Any) -> bool:
    """Return whether it is a matrix of SciPy, of which zeros are not held."""
    return hasattr(table, "toarray") and type(table).__module__.partition(".")[0] == "scipy"


def _held(table: Any) -> list[Any] | None:
    """Return the columns of a frame or Arrow table as it holds them; None of anything else."""
    if _is_arrow(table):
        return list(table.columns)
    names = getattr(table, "columns", None)
    if names is None:
        return None
    if hasattr(table, "iloc"):  # of pandas, where two columns may share a name
        return [table.iloc[:, place] for place in range(len(names))]
    return [table[name] for name in names]


def _side_by_side(held: list[Any], *, rows: int) -> NDArray[Any]:
    """Return columns as an array; of objects where they have several types."""
    columns = [_column(column) for column in held]
    kinds = {column.dtype for column in columns}
    found = np.empty((rows, len(columns)), dtype=kinds.pop() if len(kinds) == 1 else object)
    for place, column in enumerate(columns):
        found[:, place] = column
    return found


def _column(values: Any) -> NDArray[Any]:
    """Return one column; one cell's absence or badness leaves the others as they are.

    NumPy would make floats of whole numbers as soon as one is missing, and fail on one bad text.

    Raises:
        ContractError: If it can be no array; in words without a cell.
    """
    import pyarrow as pa

    kind = getattr(values, "dtype", None)
    if isinstance(values, np.ma.MaskedArray):
        found = np.array(np.ma.getdata(values), dtype=object)  # a copy
        found[np.ma.getmaskarray(values)] = None
        return found
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if not any(of(values.type) for of in (pa.types.is_floating, pa.types.is_timestamp)):
            return _one_by_one(values, read=lambda cell: cell.as_py())
    elif hasattr(kind, "construct_array_type"):  # what pandas calls an extension type
        return _one_by_one(getattr(values, "array", values), read=lambda cell: cell)
    elif type(values).__module__.startswith("polars") and not (
        kind is None or kind.is_float() or kind.is_temporal()
    ):
        return _one_by_one(values, read=lambda cell: cell)
    with contextlib.suppress(Exception):  # what is raised might say a cell
        return np.asarray(values)
    raise ContractError(
        "A column could not be read as an array.", hint="Hand over columns of numbers or texts."
    )


def _one_by_one(values: Any, *, read: Callable[[Any], Any]) -> NDArray[Any]:
    """Return cells as Python's values; None where one says nothing that can be read."""
    found = np.empty(len(values), dtype=object)
    for place in range(len(values)):
        with contextlib.suppress(Exception):  # a time or text that Python cannot hold
            found[place] = read(values[place])
    return found
