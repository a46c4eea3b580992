"""Each operation gives in Spark what it gives in DuckDB, cell by cell."""

import decimal
import itertools
import math
import random

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from confide.errors import UnsupportedError
from confide.rows.cells.build import own, place, select, string
from confide.rows.cells.layout import Found
from confide.rows.cells.operations import (
    CalendarPart,
    DateOfText,
    DaysSinceEpoch,
    DoubleOf,
    Floor,
    Matches,
    Normal,
    NumberAndUnit,
    SixtyBits,
    SourceCell,
    Word,
    Written,
    operation,
    written,
)
from confide.rows.cells.physical import Physical
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.dialects.spark import ConfideSpark, require_known, text_literal
from rows_world import DATE_TEXTS, NUMBER_TEXTS, NUMBERS, TEXTS
from spark_rows import answered, needs_spark

A = own("a")


def same_in_both(column, *asked):
    """Ask both engines for expressions of a column; NaN equals NaN."""
    query = select(*(exp.alias_(each, f"e{i}", quoted=True) for i, each in enumerate(asked)),
                   own("n"), of=exp.to_table("given"))  # fmt: skip
    given = pa.table({"n": pa.array(range(len(column))), "a": column})
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", given)
        one = connection.sql(written(query, dialect=ConfideDuckDB)).to_arrow_table()
    require_known(query)
    other = answered(given, written(query, dialect=ConfideSpark))
    columns = zip(*(t.sort_by("n").columns for t in (one, other)), strict=True)
    for number, (mine, theirs) in enumerate(columns):
        for row, (x, y) in enumerate(zip(mine.to_pylist(), theirs.to_pylist(), strict=True)):
            assert _same(x, y), (number, column[row], x, y)


def _same(x, y):
    both = isinstance(x, float) and isinstance(y, float)
    return x == y or (both and math.isnan(x) and math.isnan(y))  # −0 is 0


def texts(alphabet, *, seed, number=1500, most=14):
    random_texts = random.Random(seed)
    return [
        "".join(random_texts.choices(alphabet, k=random_texts.randint(0, most)))
        for _ in range(number)
    ]


ODD_NUMBERS = [
    "1e400", "-1e400", "1e-400", "\t12\n", "\x0b12", "\x0c12", "\r12\r", "1d", "12f", "NaN", "-nan",
    "+nan", "infinity", "+Infinity", "-INF", "infin", "1_000", "1__0", "_1", "1_", "1.0_1", "1e1_0",
    "0x12", "0b1", "1.", ".5", ".", "+5", "--5", "1e", "1 2", "1,5", "\u0661", "\u00a012", "true",
    "2.2250738585072011e-308", "9007199254740993", "0.1", "123456789.123456789", "1E+5", "1.e5",
]  # fmt: skip
TIMES = [
    "", " 24:00", "T24:00:00.0", " 24:00:00.5", " 23:60", " 23:59:60", "T  23:59", " 1:2:3.", " 1:2:3.Z",
    " 23:59:59.123456789", " 23:30-01:00", " 23:30 -01", " 23:30-0130", " 23:30-15:59:59",
    " 00:30+15:59:59", " 00:10+013015", " 00:10+01:3015", " 00:10+0130:15", " 23:30Z", " 12", "T",
    " 23:30 Europe/Berlin", " 00:00:00.000 -00:30", "+01:00", "\n", "\x0b", " 24:00:00-01",
    " 24:00:00+01", " 24:00:00.0000001", " 0:0:0.+01", " 12:00+15:60", " 12:00+0",
]  # fmt: skip
DAYS = [
    "2020-02-29", "2020-2-9", "2020/2/9", "2020 2 9", "2020-02-30", "0000-01-01", "0001-01-01", "9999-12-31",
    "2020-00-01", "2020-13-01", "2020 2-9", "20200229", "epoch", "-2020-01-01", "12020-01-01",
]  # fmt: skip


@needs_spark()
def test_a_number_in_text_is_the_same_double_in_every_engine():
    cells = [*NUMBER_TEXTS, *ODD_NUMBERS, *texts("0123456789.eE+-_ nif", seed=1)]
    cells += ["0" + "_0_00" * 20_000, "0" + "_0_00" * 20_000 + "_"]
    same_in_both(pa.array(cells), operation(DoubleOf, A, physical=Physical.TEXT))


@needs_spark()
def test_a_date_in_text_is_the_same_day_in_every_engine():
    cells = [*DATE_TEXTS, *(day + time for day, time in itertools.product(DAYS, TIMES))]
    cells += texts("0123 -/:+TZ.", seed=2, most=20)
    days = operation(DaysSinceEpoch, operation(DateOfText, A))
    shown = exp.Case(ifs=[exp.If(this=_between(days), true=days)])
    same_in_both(pa.array(cells), shown)


def _between(days):
    """Return whether days are those of a calendar: beyond them engines say infinite, or a number."""
    return exp.And(
        this=exp.LTE(
            this=exp.Paren(this=exp.Neg(this=exp.Literal.number(719162))), expression=days
        ),
        expression=exp.LTE(this=days, expression=exp.Literal.number(2932896)),
    )


@needs_spark()
def test_texts_have_one_normal_form_and_one_hash_in_every_engine():
    cells = [
        *TEXTS,
        *texts("ae\u0301\u0327\u0323\u00e9\u1112\u1161\u11a8\ufb01\0\U0001d15e\n", seed=3),
    ]
    same_in_both(
        pa.array(cells),
        operation(Normal, A),
        operation(SixtyBits, operation(Normal, A)),
        operation(Written, A, physical=Physical.TEXT, type_name="VARCHAR"),
    )


@needs_spark()
def test_numbers_and_units_of_one_cell_are_cut_alike_in_every_engine():
    cells = [
        *NUMBER_TEXTS,
        "5 mg",
        " 5.5\tmg/dL ",
        "<5",
        "1e3 µmol/L",
        "5\nmg\n",
        "5mg\u2028x",
        "5\r",
        ".",
    ]
    cells += texts("0123.eE+- mg/\n\t", seed=4)
    cells += ["1" + " " * 9_000 + "x" + " " * 9_000 + end for end in ("", "y", "\ny")]
    same_in_both(
        pa.array(cells), *(operation(NumberAndUnit, A, group=group) for group in (1, 2)),
        operation(Matches, A, pattern=r"-?[0-9]*(\.0*)?"),
    )  # fmt: skip


@needs_spark()
def test_a_double_has_the_same_floor_in_every_engine():
    near = [math.nextafter(k + 0.5, side) for k in range(-3, 3) for side in (-9, 9)]
    cells = [*NUMBERS, *near, 4503599627370495.5, -4503599627370495.5, 2.0**63, -(2.0**63)]
    floor = operation(Floor, A)
    same_in_both(pa.array(cells, pa.float64()), floor)


@needs_spark()
def test_a_decimal_is_the_same_double_and_text_in_every_engine():
    random_digits = random.Random(5)
    for precision, scale in ((5, 5), (9, 2), (18, 6), (18, 18), (18, 0)):
        most = 10**precision - 1
        whole = [0, 1, -1, most, -most, *(random_digits.randint(-most, most) for _ in range(300))]
        with decimal.localcontext(prec=50):
            cells = [decimal.Decimal(n).scaleb(-scale) for n in whole]
        found = Found.of("a", type_name=f"DECIMAL({precision},{scale})")
        cell = operation(SourceCell, A, found=found)
        same_in_both(
            pa.array(cells, pa.decimal128(precision, scale)),
            operation(DoubleOf, cell, physical=Physical.DECIMAL),
            operation(Written, cell, physical=Physical.DECIMAL, type_name=found.type_name),
        )


@needs_spark()
def test_moments_have_the_same_day_and_days_the_same_calendar_in_every_engine():
    moments = [
        None, "1969-12-31 23:59:59.999999", "2020-02-29 12:00:00", "0001-01-01 00:00:00",
        "9999-12-31 23:59:59", "1582-10-10 00:00:00", "1883-11-18 12:00:00",
    ]  # fmt: skip
    for kind, type_name in (
        (pa.timestamp("us"), "TIMESTAMP"),
        (pa.timestamp("us", "Europe/Berlin"), "TIMESTAMP WITH TIME ZONE"),
    ):
        cell = operation(SourceCell, A, found=Found.of("a", type_name=type_name))
        same_in_both(
            pa.array(moments).cast(pa.timestamp("us")).cast(kind), operation(DaysSinceEpoch, cell)
        )
    days = pa.array([None, -719162, -141427, -1, 0, 18321, 2932896], pa.int64())
    parts = [operation(CalendarPart, A, part=part) for part in ("year", "quarter", "month")]
    same_in_both(days, *parts)


@needs_spark()
def test_sixteen_digits_are_the_same_word_in_every_engine():
    digests = [f"{n:032x}" for n in (0, 1, 2**127, 2**128 - 1, 2**64 - 1, 0x0123456789ABCDEF)]
    same_in_both(pa.array(digests), *(operation(Word, A, start=start) for start in (1, 17)))


def test_what_spark_may_answer_otherwise_is_refused_by_name():
    unknown = select(exp.Anonymous(this="hash", expressions=[A]), of=exp.to_table("given"))
    with pytest.raises(UnsupportedError, match="Anonymous"):
        require_known(unknown)
    with pytest.raises(UnsupportedError, match="no order"):
        require_known(select(place("p"), of=exp.to_table("given")))


def test_a_text_is_one_literal_whatever_it_holds():
    assert text_literal("it's \\ \0\n") == r"'it\'s \\ \U00000000\U0000000a'"
    assert written(string("é' OR 1"), dialect=ConfideSpark) == r"'é\' OR 1'"
