"""Every native type that a column of a source may have, and the cells that have broken readers.

A type is a row of a table, not code: what it is called, a cell that nobody would notice, and cells
at and beyond its ends.  Cells of DuckDB are text that DuckDB casts; cells of Arrow, of which Parquet
and frames are made, are Python objects, or the integers that are stored where no object says them.
"""

import datetime as dt
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeType:
    """A physical type.

    Attributes:
        name: As a table of a source is called.
        of: The type: SQL of DuckDB, or a type of Arrow.
        plain: A cell like everybody's.
        odd: Cells of one patient each.
        stored: Integers that all cells are given as, with this type of Arrow.
    """

    name: str
    of: Any
    plain: Any
    odd: tuple[Any, ...]
    stored: Any = None

    def array(self, cells: tuple[Any, ...]) -> pa.Array:
        """Return plain cells, then the given odd ones, as Arrow holds them."""
        given = [self.plain, self.plain, *cells]
        if self.stored is None:
            return pa.array(given, self.of)
        if pa.types.is_fixed_size_binary(self.stored):
            wide = self.stored.byte_width
            given = [None if n is None else n.to_bytes(wide, "little", signed=True) for n in given]
        return pa.array(given, self.stored).view(self.of)


def _plain_name(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")


def _sql(name: str, of: str, plain: str, *odd: str | None) -> NativeType:
    return NativeType(name=name, of=of, plain=plain, odd=(None, *odd))


def _ends(bits: int, *, signed: bool) -> tuple[str, str]:
    return (
        (str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)) if signed else ("0", str(2**bits - 1))
    )


_INTEGERS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64, "hugeint": 128}
_REALS = ("nan", "inf", "-inf", "-0.0", "1e-45", "3.4e38", "0.5", *map(str, (2**53, 2**53 + 1)))
_TEXTS = ("", "a", "A", "\u00e4", "a\u0308", "e", "\u00e9", "\u00df", "ss", " 1", "1 ", "01", "x" * 5000, "nan",
          "2020-02-30", "\U0001f600", "\u202e1", "1e400", "i", "I", "\u0131", "\u0130", "a\0b", "a\0",
          "\u00e9\0a", "e\u0301\0b", "\u00e9\0", "\0\u00e9", "\0", "\0\u0301")  # fmt: skip
_MOMENTS = (
    "infinity",
    "-infinity",
    "1970-01-01 00:00:00",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59",
    "290309-12-22 (BC) 00:00:00",
)
COLLATIONS = ("NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT", '"binary"')

IN_DUCKDB = (
    *(_sql(name, name.upper(), "1", *_ends(bits, signed=True)) for name, bits in _INTEGERS.items()),
    *(
        _sql(f"u{name}", f"U{name.upper()}", "1", *_ends(bits, signed=False))
        for name, bits in _INTEGERS.items()
    ),
    _sql("float", "FLOAT", "1", *_REALS),
    _sql("double", "DOUBLE", "1", *_REALS, "1e308", "5e-324"),
    _sql("decimal-2", "DECIMAL(2,1)", "1", "9.9", "-9.9", "0.5"),
    _sql("decimal-18", "DECIMAL(18,3)", "1", "9" * 15 + ".999", "-0.001"),
    _sql("decimal-38", "DECIMAL(38,0)", "1", "9" * 38, "-" + "9" * 38),
    _sql("decimal-38-37", "DECIMAL(38,37)", "1", "9." + "9" * 37, "-0." + "0" * 36 + "1"),
    _sql("boolean", "BOOLEAN", "true", "false"),
    _sql("date", "DATE", "2020-01-01", "infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"),
    _sql("timestamp", "TIMESTAMP", "2020-01-01 00:00:00", *_MOMENTS, "294247-01-10 04:00:54.775806"),
    _sql("timestamp-s", "TIMESTAMP_S", "2020-01-01 00:00:00", *_MOMENTS, "290000-01-01 00:00:00"),
    _sql("timestamp-ms", "TIMESTAMP_MS", "2020-01-01 00:00:00", *_MOMENTS, "290000-01-01 00:00:00"),
    _sql("timestamp-ns", "TIMESTAMP_NS", "2020-01-01 00:00:00", "1677-09-22 00:00:00",
         "2262-04-11 23:47:16.854775806"),
    _sql("timestamp-tz", "TIMESTAMPTZ", "2020-01-01 00:00:00+00", *(f"{m}+00" if m[-1].isdigit() else m for m in _MOMENTS)),
    _sql("time", "TIME", "00:00:01", "24:00:00"),
    _sql("interval", "INTERVAL", "1 day", "-1000000000 days"),
    _sql("uuid", "UUID", str(uuid.UUID(int=1)), str(uuid.UUID(int=0)), str(uuid.UUID(int=2**128 - 1))),
    _sql("blob", "BLOB", "a", "\\xFF", ""),
    _sql("bit", "BIT", "1", "0" * 100),
    _sql("list", "INTEGER[]", "[1]", "[]", "[NULL]"),
    _sql("struct", "STRUCT(a INTEGER)", "{'a': 1}", "{'a': NULL}"),
    _sql("enum", "ENUM ('1', 'a', 'A', '', 'e\u0301', '\u00e9')", "1", "a", "A", "", "e\u0301", "\u00e9"),
    _sql("varchar", "VARCHAR", "1", *_TEXTS),
    *(
        _sql(_plain_name(f"collate {name}"), f"VARCHAR COLLATE {name}", "1", *_TEXTS)
        for name in COLLATIONS
    ),
)  # fmt: skip

_LONG = (
    *(None, -(2**63) + 2, -(2**63) + 1, -(2**63), 2**63 - 1, 2**63 - 2, 0, -1),
    *(-62135596800, 253402300800, 2**53, 10**18),
)
_SHORT = (None, -(2**31), 2**31 - 1, 0, -1)


def _arrow(of: pa.DataType, plain: Any, *odd: Any, name: str = "") -> NativeType:
    readable = name or str(of).replace("[", "-").replace("]", "").replace(", tz=", "-")
    return NativeType(name=_plain_name(readable), of=of, plain=plain, odd=(None, *odd))


def _moments(unit: str, zone: str | None) -> NativeType:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    of = pa.timestamp(unit, zone)
    plain = 1_577_836_800 * per_second
    return NativeType(
        name=_plain_name(f"timestamp-{unit}-{zone or 'local'}"),
        of=of, plain=plain, odd=_LONG, stored=pa.int64(),
    )  # fmt: skip


def _integers() -> tuple[NativeType, ...]:
    found = []
    for bits in (8, 16, 32, 64):
        signed, unsigned = getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()
        found.append(_arrow(signed, 1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        found.append(_arrow(unsigned, 1, 0, 2**bits - 1))
    return tuple(found)


def _unchecked(of: Any, *beyond: int) -> NativeType:
    """Decimals of which some have more digits than their type says."""
    end, bits = 10**of.precision, of.bit_width
    near = (None, 0, -1, end - 1, 1 - end, *(n for n in (end, -end) if abs(n) < 2 ** (bits - 1)))
    stored = {32: pa.int32(), 64: pa.int64()}.get(bits, pa.binary(bits // 8))
    return NativeType(
        name=_plain_name(f"{of} unchecked"), of=of, plain=10**of.scale, odd=(*near, *beyond),
        stored=stored,
    )  # fmt: skip


_ZONES = (None, "UTC", "Europe/Berlin")
_FLOATS = (math.nan, math.inf, -math.inf, -0.0, 0.5, 2.0**15)
IN_ARROW = (
    *_integers(),
    _arrow(pa.float32(), 1.0, *_FLOATS, 3.4e38, 1e-45),
    _arrow(pa.float64(), 1.0, *_FLOATS, 1e308, 5e-324, 2.0**53, 2.0**53 + 2),
    _arrow(pa.decimal32(9, 2), Decimal(1), Decimal("9999999.99"), Decimal("-0.01")),
    _arrow(pa.decimal64(18, 0), Decimal(1), Decimal(10**18 - 1), Decimal(-(10**18) + 1)),
    _arrow(pa.decimal128(38, 0), Decimal(1), Decimal("9" * 38), Decimal("-" + "9" * 38)),
    _arrow(pa.decimal128(38, 38), Decimal("0.1"), Decimal("0." + "9" * 38), Decimal(0)),
    _unchecked(pa.decimal128(4, 1), 2**15 - 1, -(2**15)),
    _unchecked(pa.decimal128(9, 0), 2**31 - 1, -(2**31)),
    _unchecked(pa.decimal128(18, 2), 2**63 - 1, -(2**63)),
    _unchecked(pa.decimal128(38, 0), 2**127 - 1, -(2**127)),
    _unchecked(pa.decimal128(38, 38), 2**127 - 1, -(2**127)),
    _arrow(pa.bool_(), True, False),
    NativeType(name="date32", of=pa.date32(), plain=18262, odd=_SHORT, stored=pa.int32()),
    NativeType(
        name="date64", of=pa.date64(), plain=18262 * 86_400_000, stored=pa.int64(),
        odd=(None, 0, -86_400_000, 86_400_000 * (2**31 - 1), 86_400_000 * 10**10),
    ),
    *(_moments(unit, zone) for unit in ("ms", "us", "ns") for zone in _ZONES),
    *(_arrow(pa.duration(unit), dt.timedelta(1), dt.timedelta(-1)) for unit in ("s", "ms", "us", "ns")),
    _arrow(pa.time32("ms"), dt.time(1), dt.time(23, 59, 59)),
    _arrow(pa.time64("us"), dt.time(1), dt.time(23, 59, 59)),
    _arrow(pa.string(), "1", *_TEXTS),
    _arrow(pa.large_string(), "1", *_TEXTS),
    _arrow(pa.binary(), b"1", b"", b"\xff"),
    _arrow(pa.binary(4), b"1111", b"\xff\0\xff\0"),
    _arrow(pa.list_(pa.int32()), [1], [], [None]),
    _arrow(pa.struct([("a", pa.int32())]), {"a": 1}, {"a": None}),
    _arrow(pa.dictionary(pa.int8(), pa.string()), "1", "a", "A", "", "e\u0301", name="dictionary-text"),
    _arrow(pa.dictionary(pa.int32(), pa.int64()), 1, 2**63 - 1, -(2**63), name="dictionary-int64"),
)  # fmt: skip
_LONGER = tuple(map(Decimal, (*range(2**53 - 12, 2**53 + 2), -(2**53), -(2**53) - 1)))
IN_FILES_ALONE = (
    _arrow(pa.float16(), 1.0, *_FLOATS),
    _arrow(pa.decimal256(38, 0), Decimal(1), *_LONGER, Decimal("9" * 38)),
    _arrow(pa.decimal256(39, 0), Decimal(1), *_LONGER, Decimal("9" * 39)),
    _arrow(pa.decimal256(76, 38), Decimal(1), *_LONGER, Decimal("0.5"), Decimal("-" + "9" * 38)),
)
_WIDE = (2**16 + 1, 2**32 + 1, 2**63 - 1, -(2**63), 2**64 + 1, 2**127 - 1, -(2**127))
IN_MEMORY_ALONE = (
    _unchecked(pa.decimal32(4, 0), 2**16 + 1, 2**31 - 1, -(2**31)),
    _unchecked(pa.decimal64(9, 1), 2**16 + 1, 2**32 + 1, 2**63 - 1, -(2**63)),
    _unchecked(pa.decimal128(3, 0), *_WIDE),
    _unchecked(pa.decimal128(8, 2), *_WIDE),
    _unchecked(pa.decimal128(17, 0), *_WIDE),
    _unchecked(pa.decimal128(20, 0), *_WIDE),
    *(_moments("s", zone) for zone in _ZONES),
    _arrow(pa.string_view(), "1", *_TEXTS),
)
