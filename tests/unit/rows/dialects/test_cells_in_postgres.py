"""Cells are the same numbers, dates and texts in PostgreSQL as in DuckDB, and no cell raises."""

import math
import struct

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from confide.rows.cells.build import named, own, own_table, select
from confide.rows.cells.clean import cell_of, person, text
from confide.rows.cells.layout import Found, Ids
from confide.rows.cells.operations import (
    Date,
    DateOfText,
    DaysSinceEpoch,
    DoubleOf,
    Normal,
    NumberAndUnit,
    SixtyBits,
    operation,
    written,
)
from confide.rows.cells.physical import Physical
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.dialects.postgres import ConfidePostgres
from postgres_tables import in_postgres, type_of

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")

NUMBERS = [
    "1e400", "-1e400", "1e-400", "-1e-400", "1_000", "1_0.5", "+5", "+ 5", "++5", " 5 ", "\v5",
    "\u00a05", "5.", ".5", "-.5", "5e", "5e+", "1e5", "1E5", "inf", "Infinity", "-inf", "+inf",
    "nan", "NaN", "-nan", "nan(1)", "0x10", "1d", "", "-", "1,5", "1 2", "5\n", "e5", "\u0663",
    "infin", "+nan", "-0", "1e99999999999999999999", "1.e5", "_1", "1_", "1__0", "1e1_0", "true",
    "0e999999999", "1e-99999999999999999999", "9" * 400, "0." + "0" * 400 + "1", "1e308", "5e-324",
    "12 mmHg", "12.5mmHg", "5e3x", "5ex", "7\n", "7\nkg", "7 k\ng", " -3 \t%", None, "x", "e\u0301",
]  # fmt: skip
DATES = [
    "2025-1-3", "2025/01/03", "2025 1 3", "2025-01/03", "2025-01-31 24:00", "2025-01-31 24:01",
    "2025-01-31 24:00:00.1", "2025-01-31 23:60", "2025-01-31 23:59:60",
    "2025-01-31 23:59:59.9999999", "2025-01-31T 23:59", "2025-01-31 23", "0000-01-01", "0000-02-29",
    "0001-01-01", "0001-01-01 00:00+05", "9999-12-31 23:00-05", "2025-02-29", "2024-02-29",
    "2025-13-01", "2025-00-10", "2025-01-00", "2025-01-01 23:00 Europe/Berlin", "2025-01-01 23:00Z",
    "2025-01-01 10:00 nonsense", "2025-01-01 23:00-15:59", "2025-01-01 23:00-15:59:59",
    "2025-01-01 23:00+0530", "2025-01-01 01:00 + 05", "2025-01-01 01:00 +05", "2025-01-01 1:2:3",
    "2025-01-01 01:00:00.", "2025-01-01Z", " 2025-01-01 ", "2025-01-01\n10:00", "infinity",
    "2025-1-3 99:00", "2025-01-01 12:00 PM", "2025-01-01 01:00:00.5.5", "\v2025-01-01",
    "0000-12-31 23:00-05", "0000-13-01", "2025-01-01T10:00+5", "2025-01-01 23:00 -05:00 ", "", None,
    "2025-01-01 00:30+011530", "2025-01-01 00:30+0115:30", "2025-01-01 00:30+01:1530", "epoch", "now", "today", "20250101",
]  # fmt: skip
DOUBLES = [
    0.0, -0.0, 1.5, 1e5, 1e5 + 0.5, 123456.7, 1e15, 1e15 + 0.5, 2.0**53, 2.0**53 + 2, 1e16, 1e22,
    1e-4, 1e-5, 1.25e-7, 5e-324, 1e308, -1e308, float("inf"), -float("inf"), float("nan"), None,
    0.1, 1 / 3, -7.0, 8507.0, 9e15, -9007199254740993.0, 1e200, 1e-200, 1e-250, 3.3e201,
]  # fmt: skip
DECIMALS = ["0.00", "0.50", "-0.50", "12.00", "12.34", "9999999.99", "-0.01", None]


def answers(cells: pa.Array, made):
    """Return what both engines make of a column ``x``, row by row, each under the name ``y``."""
    rows = pa.table({"i": pa.array(range(len(cells)), pa.int32()), "x": cells})
    source = in_postgres({"cells": rows})

    def query(table, type_name):
        each = made(Found.of("x", type_name=type_name))
        found = select(own("i"), named(each, "y"), of=table)
        found.set("order", select(own("i"), of=table).order_by("i").args["order"])
        return found

    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("cells", rows)
        [(_, type_name, *_)] = connection.execute("DESCRIBE SELECT x FROM cells").fetchall()
        tree = query(own_table("cells", "s"), str(type_name))
        ours = connection.execute(written(tree, dialect=ConfideDuckDB)).fetchall()
    there = own_table("cells", "s")
    there.set("db", own(source.schema).this)
    with psycopg.connect(source.url, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'")
        sql = written(query(there, str(type_name)), dialect=ConfidePostgres)
        theirs = connection.execute(sql).fetchall()
    return [each for _, each in ours], [each for _, each in theirs]


def differing(cells: pa.Array, made):
    ours, theirs = answers(cells, made)
    pairs = zip(cells, ours, theirs, strict=True)
    return [(f"{cell!r}", *found) for cell, *found in pairs if not same(*found)]


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        if one == other == 0 or one != one:
            return other == one or other != other
        far = abs(one) > 1e200 and other == math.copysign(math.inf, one)
        return one == other or far or (abs(one) < 1e-200 and other == 0)
    return one == other


def of_cell(kind, **given):
    return lambda found: operation(kind, cell_of(found), **given)


def days(kind):
    """Dates as days; 1 where one is infinite, which every bound leaves out."""
    return lambda found: operation(DaysSinceEpoch, operation(kind, cell_of(found)))


@pytest.mark.parametrize(
    "made",
    [
        of_cell(DoubleOf, physical=Physical.TEXT),
        of_cell(NumberAndUnit, group=1),
        of_cell(NumberAndUnit, group=2),
        of_cell(Normal),
        of_cell(SixtyBits),
        lambda found: person(cell_of(found), found=found, ids=Ids.INTEGER),
        lambda found: person(cell_of(found), found=found, ids=Ids.TEXT),
    ],
    ids=["number", "number before a unit", "unit", "normal", "sixty bits", "id", "id as text"],
)
def test_every_spelling_of_a_number_is_the_same_in_both_engines(made):
    assert differing(pa.array(NUMBERS, pa.string()), made) == []


def test_every_spelling_of_a_date_is_the_same_in_both_engines():
    assert differing(pa.array(DATES, pa.string()), days(DateOfText)) == []


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
def test_a_whole_or_short_double_has_the_same_text_in_both_engines(kind):
    cells = pa.array(DOUBLES, pa.float64()).cast(kind, safe=False)
    if kind == pa.float32():  # the engines write other digits of 32 bits, where they are many
        cells = pa.array([0.0, 1.5, -7.0, 8507.0, 0.25, math.inf, math.nan, 1e15, None], kind)
    assert differing(cells, lambda found: text(cell_of(found), of=found)) == []


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
def test_every_double_is_the_same_number_and_id_in_both_engines(kind):
    bits = np.random.default_rng(5).integers(0, 2**64, 300, dtype=np.uint64)
    drawn = [struct.unpack("d", struct.pack("Q", int(each)))[0] for each in bits]
    cells = pa.array([*DOUBLES, *drawn], pa.float64()).cast(kind, safe=False)
    assert differing(cells, of_cell(DoubleOf, physical=Physical.REAL)) == []
    assert differing(cells, lambda f: person(cell_of(f), found=f, ids=Ids.INTEGER)) == []


def test_every_decimal_has_the_same_text_and_number_in_both_engines():
    from decimal import Decimal

    for digits, places, cells in (
        (9, 2, DECIMALS),
        (2, 2, ["0.00", "0.50", "-0.50", "0.01"]),
        (18, 3, ["123456789012345.678", "-999999999999999.999", "0.001", "7.000"]),
        (38, 10, ["1234567890123456789012345678.0123456789", "0.1000000000", "5"]),
    ):
        exact = [None if each is None else Decimal(each) for each in cells]
        column = pa.array(exact, pa.decimal128(digits, places))
        assert type_of(column.type) == f"numeric({digits}, {places})"
        assert differing(column, lambda found: text(cell_of(found), of=found)) == []
        assert differing(column, of_cell(DoubleOf, physical=Physical.DECIMAL)) == []
        assert differing(column, lambda f: person(cell_of(f), found=f, ids=Ids.INTEGER)) == []


def test_every_date_and_moment_has_the_same_days_in_both_engines():
    far = pa.array([-719_528, -719_529, -2_000_000, 2_932_896, 2_932_897, 40_000_000, 0, None])
    assert differing(far.cast(pa.int32()).cast(pa.date32()), days(Date)) == []
    assert (
        differing(
            far.cast(pa.int32()).cast(pa.date32()),
            lambda found: text(cell_of(found), of=found),
        )
        == []
    )
    moments = pa.array([0, 86_399_999_999, -1, 253_402_300_800_000_000, None], pa.timestamp("us"))
    assert differing(moments, days(Date)) == []
    assert differing(moments.cast(pa.timestamp("us", tz="UTC")), days(Date)) == []
