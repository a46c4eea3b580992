"""Arrow columns of which the engine can read every cell: none stops it, and none is another's.

Arrow declares types and enforces none of them: a column may hold what its type cannot, and ordinary
calls make such columns (``cast(..., safe=False)``, reading a file).  The engine trusts the types.
Where a cell does not fit it may stop, or pass the cell over and leave in its place what it read
2,048 rows before: the cell of somebody else.  So whatever a type does not rule out is looked at
here, each cell for itself, before the engine sees it.

======================== ===========================================================================
Arrow                    cells beyond the type
======================== ===========================================================================
integers, floats,        none: every pattern of bits is one
booleans, date32,
timestamps in ns, UUID
decimals                 more digits than declared: NULL
text, in all forms       no UTF-8: NULL
timestamps in s, ms, us  outside the years 1 to 9999: just outside
date64                   outside the years 1 to 9999: just outside
dictionaries             places that the dictionary lacks: NULL
runs                     ends that do not rise: the frame is refused
booleans of a byte       all but 0 are true
other extensions         as what they are stored in
all else                 the engine's type of it is refused (:mod:`confide.rows.cells.physical`)
======================== ===========================================================================

Buffers and offsets that do not fit the length of a column are no cells: such a frame is refused.
"""

from decimal import Decimal
from typing import Any

BEFORE = -62_135_683_200
"""The last day before the year 1, in seconds since 1970."""
AFTER = 253_402_300_800
"""The first day of the year 10000, in seconds since 1970."""


def plain(table: Any) -> Any:
    """Return the table without dictionaries and runs, every cell of which the engine can read.

    Raises:
        pyarrow.ArrowInvalid: If a column is not as long as it says.
    """
    import pyarrow as pa

    columns = []
    for column in table.columns:
        if not pa.types.is_run_end_encoded(column.type):  # of these it looks at cells
            column.validate()
        chunks = [_plain_array(chunk) for chunk in column.chunks or [pa.nulls(0, column.type)]]
        columns.append(_near(pa.chunked_array(chunks)))
    return pa.table(columns, names=table.column_names)


def _plain_array(array: Any) -> Any:
    """Return an array cell by cell, with NULL for what its type does not hold."""
    import pyarrow as pa

    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(array)
    if pa.types.is_dictionary(kind):
        return _taken(array.dictionary, places=array.indices)
    if pa.types.is_run_end_encoded(kind):
        return _taken(array.values, places=_runs(array))
    if pa.types.is_decimal(kind):
        return _within_digits(array)
    if pa.types.is_float16(kind):
        return array.cast(pa.float32())
    octets = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }.get(kind)
    return array if octets is None else _utf8(array, octets=octets)


def _stored(array: Any) -> Any:
    """Return what an extension is stored in, unless the engine knows it and all its cells."""
    import pyarrow as pa
    from pyarrow import compute

    kind = array.type
    if isinstance(kind, pa.Bool8Type):
        return compute.not_equal(array.storage, pa.scalar(0, pa.int8()))
    if kind.extension_name == "arrow.json" or pa.types.is_fixed_size_binary(kind.storage_type):
        return array  # refused by its type; UUID and the like
    return _plain_array(array.storage)


def _taken(values: Any, *, places: Any) -> Any:
    """Return the values at some places; NULL at those that are none."""
    import pyarrow as pa
    from pyarrow import compute

    values = _plain_array(values)
    if values.type in (pa.string(), pa.string_view()):  # views cannot be taken by place, and
        values = values.cast(pa.large_string())  # one long text at many places passes 2 GiB
    if values.type in (pa.binary(), pa.binary_view()):
        values = values.cast(pa.large_binary())
    places = places.cast(pa.int64(), safe=False)  # the largest without a sign become negative
    first, end = pa.scalar(0, pa.int64()), pa.scalar(len(values), pa.int64())
    there = compute.and_(compute.less_equal(first, places), compute.less(places, end))
    places = compute.if_else(there, places, pa.scalar(None, pa.int64()))
    return pa.DictionaryArray.from_arrays(places, values).dictionary_decode()


def _runs(array: Any) -> Any:
    """Return for each cell the place of its run.

    Raises:
        pyarrow.ArrowInvalid: If the ends of runs do not rise to the end of the array.
    """
    import pyarrow as pa
    from pyarrow import compute

    ends, end = array.run_ends, array.offset + len(array)
    rising = compute.all(compute.less(ends[:-1], ends[1:]), min_count=0).as_py()
    if not rising or (end and (len(ends) == 0 or ends[-1].as_py() < end)):
        raise pa.ArrowInvalid("Runs end before they begin.")
    places = pa.array(range(len(ends)), pa.int64())
    whole = pa.RunEndEncodedArray.from_arrays(ends, places)
    return compute.run_end_decode(whole.slice(array.offset, len(array)))


def _within_digits(array: Any) -> Any:
    """Return decimals; those of more digits than declared are NULL.

    The engine keeps up to 18 digits in integers of as few bits as suffice; in one that does not fit
    it writes nothing at all.
    """
    import pyarrow as pa
    from pyarrow import compute

    kind = array.type
    whole = {32: pa.int32(), 64: pa.int64()}.get(kind.bit_width)
    if whole is None:
        most = Decimal((0, (9,) * kind.precision, -kind.scale))
        least, most = pa.scalar(most.copy_negate(), kind), pa.scalar(most, kind)
    else:  # nothing compares these, but their integers
        end = 10**kind.precision - 1
        least, most = pa.scalar(-end, whole), pa.scalar(end, whole)
    cells = _as(array, kind=whole or kind)
    fits = compute.and_(compute.less_equal(least, cells), compute.less_equal(cells, most))
    return _as(compute.if_else(fits, cells, pa.scalar(None, cells.type)), kind=kind)


def _as(array: Any, *, kind: Any) -> Any:
    """Return the same bits, called otherwise."""
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(array), array.buffers(), offset=array.offset)


def _utf8(array: Any, *, octets: Any) -> Any:
    import pyarrow as pa

    if _valid(array):
        return array
    cells = array.view(octets)
    cells.validate(full=True)
    return pa.array([_text(cell.as_buffer()) for cell in cells], type=array.type)


def _near(column: Any) -> Any:
    """Return times as microseconds; those outside the years 1 to 9999 stand just outside."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date64(kind):
        return _clipped(column, per_second=10**3)
    if not pa.types.is_timestamp(kind) or kind.unit == "ns":  # all lie between 1677 and 2262
        return column
    per_second = {"s": 1, "ms": 10**3, "us": 10**6}[kind.unit]
    return _clipped(column, per_second=per_second).cast(pa.timestamp("us", kind.tz))


def _clipped(column: Any, *, per_second: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = column.cast(pa.int64())
    whole = pc.max_element_wise(whole, pa.scalar(BEFORE * per_second), skip_nulls=False)
    whole = pc.min_element_wise(whole, pa.scalar(AFTER * per_second), skip_nulls=False)
    return whole.cast(column.type)


def _valid(array: Any) -> bool:
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _text(octets: Any) -> str | None:
    try:
        return None if octets is None else str(octets, "utf-8")
    except UnicodeDecodeError:
        return None
