"""Parquet files byte by byte: types that writers give, over cells that they would not write.

Nothing in a file keeps a cell within its type: an INT(16) is stored in 32 bits, a decimal of four
digits in as many bytes as the writer likes.  A file here is one row group of plain pages, each
column required; its footer says what it is told to.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = 1, 2, 3, 4, 5, 6, 7
UTF8, DECIMAL, DATE, TIMESTAMP_MICROS = 0, 5, 6, 10
UINT_8, UINT_16, UINT_32, UINT_64, INT_8, INT_16, INT_32, INT_64 = range(11, 19)

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A column: its type as a footer declares it, and its cells as bytes of that type.

    Attributes:
        name: Of the column.
        physical: Type of the bytes.
        cells: Each as it is stored: without its length.
        converted: What they mean; None if nothing is said.
        length: Of fixed bytes.
        precision: Of decimals.
        scale: Of decimals.
    """

    name: str
    physical: int
    cells: Sequence[bytes]
    converted: int | None = None
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    least: bytes | None = field(default=None)
    most: bytes | None = field(default=None)


def integers(name: str, cells: Sequence[int], *, bits: int = 64, **of: Any) -> Stored:
    """Return a column of 32 or 64 bits."""
    kind = {32: INT32, 64: INT64}[bits]
    return Stored(name=name, physical=kind, cells=[_whole(cell, bits) for cell in cells], **of)


def texts(name: str, cells: Sequence[str]) -> Stored:
    """Return a column of texts."""
    return Stored(
        name=name, physical=BYTE_ARRAY, cells=[cell.encode() for cell in cells], converted=UTF8
    )


def _whole(cell: int, bits: int) -> bytes:
    return (cell % 2**bits).to_bytes(bits // 8, "little")


def write(path: Path, *columns: Stored) -> None:
    """Write columns of one length."""
    body, chunks = bytearray(b"PAR1"), []
    for column in columns:
        page = b"".join(
            struct.pack("<I", len(cell)) + cell if column.physical == BYTE_ARRAY else cell
            for cell in column.cells
        )
        of_page = _struct({1: (_I32, len(column.cells)), 2: (_I32, 0), 3: (_I32, 3), 4: (_I32, 3)})
        header = _struct(
            {1: (_I32, 0), 2: (_I32, len(page)), 3: (_I32, len(page)), 5: (_STRUCT, of_page)}
        )
        about = {
            1: (_I32, column.physical),
            2: (_LIST, (_I32, [_number(0)])),
            3: (_LIST, (_BINARY, [_text(column.name.encode())])),
            4: (_I32, 0),
            5: (_I64, len(column.cells)),
            6: (_I64, len(header) + len(page)),
            7: (_I64, len(header) + len(page)),
            9: (_I64, len(body)),
        }
        if column.least is not None and column.most is not None:
            said = {3: (_I64, 0), 5: (_BINARY, column.most), 6: (_BINARY, column.least)}
            about[12] = (_STRUCT, _struct(said))
        chunks.append(_struct({2: (_I64, len(body)), 3: (_STRUCT, _struct(about))}))
        body += header + page
    footer = _footer(columns, chunks, size=len(body))
    path.write_bytes(bytes(body) + footer + struct.pack("<I", len(footer)) + b"PAR1")


def _footer(columns: Sequence[Stored], chunks: list[bytes], *, size: int) -> bytes:
    rows = len(columns[0].cells)
    root = _struct({4: (_BINARY, b"schema"), 5: (_I32, len(columns))})
    schema = [root, *map(_element, columns)]
    group = _struct({1: (_LIST, (_STRUCT, chunks)), 2: (_I64, size), 3: (_I64, rows)})
    return _struct(
        {
            1: (_I32, 1),
            2: (_LIST, (_STRUCT, schema)),
            3: (_I64, rows),
            4: (_LIST, (_STRUCT, [group])),
            6: (_BINARY, b"by hand"),
            7: (_LIST, (_STRUCT, [_struct({1: (_STRUCT, b"\0")})] * len(columns))),
        }
    )


def _element(column: Stored) -> bytes:
    said = {
        1: column.physical,
        2: column.length,
        3: 0,
        6: column.converted,
        7: column.scale,
        8: column.precision,
    }
    fields: dict[int, tuple[int, Any]] = {
        number: (_I32, value) for number, value in said.items() if value is not None
    }
    return _struct({**fields, 4: (_BINARY, column.name.encode())})


# -- the compact protocol of Thrift


def _number(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    return _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _struct(fields: dict[int, tuple[int, Any]]) -> bytes:
    found, last = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        found.append((number - last) << 4 | kind)
        last = number
        match kind:
            case 5 | 6:
                found += _number(value)
            case 8:
                found += _text(value)
            case 9:
                of, each = value
                head = bytes([len(each) << 4 | of])
                if len(each) > 14:
                    head = bytes([0xF0 | of]) + _varint(len(each))
                found += head + b"".join(each)
            case _:
                found += value
    return bytes(found) + b"\0"
