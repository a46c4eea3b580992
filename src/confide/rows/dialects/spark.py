r"""Spark's dialect: a closed set of nodes, each with the meaning that it has in every engine.

What is not in the set is refused by name when a query is written, before anything is charged.  What
Spark would answer otherwise, and what is written instead:

- ``floor`` of a double is a BIGINT, of NaN 0, and of 1e308 an error: asked below 2⁵² only;
- a cast of a text knows other numbers (``1d``, ``1e400``) and dates (``2020``), and reads what it
  knows otherwise: the shared grammar of both comes first;
- sums are of DECIMAL(38, 0), in which two of 64 bits cannot overflow; all arithmetic raises where
  it overflows (ANSI mode, which the session sets);
- what is bound as a parameter would stand in the plan of a query: a key is a column of a view of
  one row;
- in Java's patterns ``$`` is before a last line break too, and ``\s`` and ``.`` are other signs;
- the order of a query that is selected from is none, and a window without an order is in none:
  both are refused.

*Privacy:* every cast is total, so no cell can make a query fail; an error would print it.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator

from confide.errors import UnsupportedError
from confide.rows.cells.layout import Found
from confide.rows.cells.operations import (
    CalendarPart,
    Date,
    DateOfText,
    DaysSinceEpoch,
    Double,
    DoubleOf,
    Floor,
    KeyedHash,
    Matches,
    Normal,
    NumberAndUnit,
    Operation,
    Readable,
    ShortSum,
    SixtyBits,
    SourceCell,
    Whole,
    Word,
    Written,
    Xor,
)
from confide.rows.cells.physical import Physical, digits_of
from confide.rows.dialects.dialect import complete

KEYS = "confide_keys"
"""Our view of one row: a column a parameter."""
_WS = r"[\t\n\x0B\f\r ]"
_SPACE = r"[\t\n\f\r ]"
_DIGITS = "[0-9]++(?:_[0-9]++)*+"  # what may be given back is a frame of the stack each time
_NUMBER = (
    rf"\A{_WS}*[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?{_WS}*\z"
)
_NAN = rf"(?i)\A{_WS}*[+-]?nan{_WS}*\z"
_INFINITE = rf"(?i)\A{_WS}*([+-]?)inf(?:inity)?{_WS}*\z"
_OFFSET = r"(?:([+-])(0[0-9]|1[0-5])(?::([0-5][0-9])(?::([0-5][0-9]))?|([0-5][0-9]))?)"
_MOMENT = (
    rf"\A{_SPACE}*([0-9]{{4}})"
    r"(?:(?:-([0-9]{1,2})-|/([0-9]{1,2})/| ([0-9]{1,2}) )([0-9]{1,2}))"
    rf"(?:[T ]{_SPACE}*([0-9]{{1,2}}):([0-9]{{1,2}})(?::([0-9]{{1,2}})(?:\.([0-9]*))?)?"
    rf"(?:{_SPACE}*{_OFFSET}|{_SPACE}*Z|{_SPACE}+[A-Za-z][A-Za-z0-9_/+-]*)?)?{_SPACE}*\z"
)
_NUMBER_AND_UNIT = (
    r"(?d)\A([+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)"
    rf"{_SPACE}*+(.*+)\z"
)
"""Of a trimmed text; what gives nothing back looks at each sign once, however long the text is."""
_TRIMMED = "\t\n\f\r "
_BARE = r"^(-?)0\."
_DAY = 86_400
LONGEST_NUMBER = 18
"""Decimals of so many digits become the nearest double in every engine that was compared."""

_KNOWN = frozenset(
    {
        exp.Abs, exp.Add, exp.Alias, exp.And, exp.BitwiseAnd, exp.BitwiseRightShift, exp.Boolean,
        exp.CTE, exp.Case, exp.Cast, exp.Coalesce, exp.Column, exp.Contains, exp.Count,
        exp.DataType, exp.Div, exp.EQ, exp.From, exp.Greatest, exp.Group, exp.Identifier, exp.If,
        exp.In, exp.IntDiv, exp.Is, exp.IsNan, exp.Join, exp.LT, exp.LTE, exp.Lag, exp.Least,
        exp.Literal, exp.LogicalOr, exp.Max, exp.Min, exp.Mod, exp.Mul, exp.Neg, exp.Not, exp.Null,
        exp.NullSafeNEQ, exp.Nullif, exp.Or, exp.Order, exp.Ordered, exp.Paren, exp.Placeholder,
        exp.RowNumber, exp.Select, exp.SplitPart, exp.Star, exp.Sub, exp.Subquery, exp.Substring,
        exp.Sum, exp.Table, exp.TableAlias, exp.TryCast, exp.Tuple, exp.Union, exp.Values,
        exp.Where, exp.Window, exp.With,
    }
)  # fmt: skip
"""Nodes of SQLGlot that mean the same in Spark, as they are written here."""


def require_known(query: exp.Expr) -> None:
    """Refuse a query with what Spark may answer otherwise.

    Raises:
        UnsupportedError: If a node is not in the closed set, or depends on an order of rows.
    """
    for node in query.walk():
        if not isinstance(node, Operation) and type(node) not in _KNOWN:
            raise UnsupportedError(
                f"Spark has no {type(node).__name__} as this question needs it.",
                hint="Ask it of a copy of the rows in DuckDB or Parquet.",
            )
        counts = isinstance(node.this, exp.Count)  # of all rows of a person: in whatever order
        if isinstance(node, exp.Window) and not node.args.get("order") and not counts:
            raise UnsupportedError(
                "Spark keeps rows in no order, and this question needs one.",
                hint="Protect patients, or ask it of a copy of the rows in DuckDB or Parquet.",
            )


def java_pattern(pattern: str) -> str:
    r"""Return a pattern of RE2 that matches a whole text as one of Java's.

    Example:
        >>> print(java_pattern(r"-?[0-9]*(\.0*)?"))
        (?d)\A(?:-?[0-9]*(\.0*)?)\z
    """
    return rf"(?d)\A(?:{pattern.replace(chr(92) + 's', _SPACE)})\z"


def text_literal(value: str) -> str:
    """Return a text as a literal, whatever signs it holds."""
    signs = (
        f"\\{sign}" if sign in "\\'" else sign if sign.isprintable() else f"\\U{ord(sign):08x}"
        for sign in value
    )
    return f"'{''.join(signs)}'"


class ConfideSparkGenerator(SparkGenerator):
    """Writes trees; each method writes one node, from the texts of its parts."""

    def part(self, node: exp.Expr, name: str = "this") -> str:
        """Return the text of a part of a node."""
        return str(self.sql(node, name))

    def literal_sql(self, expression: exp.Literal, *_: object) -> str:
        """Write a literal."""
        value = str(expression.this)
        return text_literal(value) if expression.is_string else value

    def placeholder_sql(self, expression: exp.Placeholder) -> str:
        """Write a key as what a query of one row finds, of the view that is its kind."""
        view = expression.args.get("kind") or KEYS
        return f"(SELECT `{expression.this}` FROM `{view}`)"  # noqa: S608 — names of ours

    def cte_sql(self, expression: exp.CTE) -> str:
        """Write a common table expression; Spark is not told whether to store it."""
        return f"{self.part(expression, 'alias')} AS ({self.part(expression)})"

    def sum_sql(self, expression: exp.Sum) -> str:
        """Write a sum."""
        return f"SUM(CAST({self.part(expression)} AS DECIMAL(38, 0)))"

    def intdiv_sql(self, expression: exp.IntDiv) -> str:
        """Write a whole quotient."""
        return f"{self.part(expression)} DIV {self.part(expression, 'expression')}"

    def bitwiserightshift_sql(self, expression: exp.BitwiseRightShift) -> str:
        """Write an integer without its lowest bits."""
        return f"SHIFTRIGHT({self.part(expression)}, {self.part(expression, 'expression')})"

    def nullsafeneq_sql(self, expression: exp.NullSafeNEQ) -> str:
        """Write whether two values differ, NULL being one."""
        return f"NOT ({self.part(expression)} <=> {self.part(expression, 'expression')})"

    def isnan_sql(self, expression: exp.IsNan) -> str:
        """Write whether a double is NaN."""
        return f"ISNAN({self.part(expression)})"

    def datatype_sql(self, expression: exp.DataType, *_: object) -> str:
        """Write a type that trees cast to."""
        found = _TYPES.get(expression.this)
        if found is None:
            raise UnsupportedError(f"Spark has no {expression.this.value} as this question needs.")
        return found

    def _xor(self, node: Xor) -> str:
        return f"({self.part(node)} ^ {self.part(node, 'expression')})"

    def _source_cell(self, node: SourceCell) -> str:
        cell, found = self.part(node), node.args["found"]
        if not isinstance(found, Found):
            raise TypeError("Expected a column of the source.")
        match found.physical:
            case Physical.DECIMAL:
                precision, scale = digits_of(found.type_name)
                whole, after = "9" * (precision - scale), "9" * scale
                most = f"CAST('{whole or 0}.{after or 0}' AS DECIMAL({precision}, {scale}))"
                return f"CASE WHEN {cell} BETWEEN -{most} AND {most} THEN {cell} END"
            case Physical.TEXT:
                plain = f"CAST({cell} AS STRING COLLATE UTF8_BINARY)"
                return f"CASE WHEN IS_VALID_UTF8({plain}) THEN {plain} END"
            case Physical.MOMENT:
                return f"CAST({cell} AS DATE)"
            case _:
                return cell

    def _readable(self, node: Readable) -> str:
        text = self.part(node)
        return f"CASE WHEN IS_VALID_UTF8({text}) THEN {text} END"

    def _normal(self, node: Normal) -> str:
        text = self.part(node)
        composed = f"JAVA_METHOD('com.ibm.icu.text.Normalizer', 'compose', {text}, FALSE)"
        plain = text_literal(r"\A[\x00-\x7F]*\z")
        return (
            f"CASE WHEN {text} IS NULL THEN NULL WHEN {text} RLIKE {plain} THEN {text} "
            f"ELSE {composed} END"
        )

    def _double(self, node: Double) -> str:
        return f"CAST({self.part(node)} AS DOUBLE)"

    def _number(self, node: DoubleOf) -> str:
        cell = self.part(node)
        if node.args["physical"] is not Physical.TEXT:
            return f"CAST({cell} AS DOUBLE)"
        infinite = text_literal(_INFINITE)
        plain = f"TRY_CAST(REPLACE({cell}, '_', '') AS DOUBLE)"
        endless = f"CAST(CONCAT(REGEXP_EXTRACT({cell}, {infinite}, 1), 'Infinity') AS DOUBLE)"
        return (
            f"CASE WHEN {cell} RLIKE {text_literal(_NUMBER)} THEN {plain} "
            f"WHEN {cell} RLIKE {text_literal(_NAN)} THEN CAST('NaN' AS DOUBLE) "
            f"WHEN {cell} RLIKE {infinite} THEN {endless} END"
        )

    def _whole(self, node: Whole) -> str:
        return f"TRY_CAST({self.part(node)} AS BIGINT)"

    def _floor(self, node: Floor) -> str:
        x = self.part(node)
        return (
            f"CASE WHEN ABS({x}) < CAST({2**52} AS DOUBLE) THEN CAST(FLOOR({x}) AS DOUBLE) "
            f"ELSE {x} END"
        )

    def _as_written(self, node: Written) -> str:
        text = f"CAST({self.part(node)} AS STRING)"
        if node.args["physical"] is not Physical.DECIMAL:
            return text
        precision, scale = digits_of(node.args["type_name"])
        if precision > scale:
            return text
        return f"REGEXP_REPLACE({text}, {text_literal(_BARE)}, '$1.')"  # as .5 in DuckDB

    def _matches(self, node: Matches) -> str:
        return f"({self.part(node)} RLIKE {text_literal(java_pattern(node.args['pattern']))})"

    def _number_and_unit(self, node: NumberAndUnit) -> str:
        text = f"TRIM(BOTH {text_literal(_TRIMMED)} FROM {self.part(node)})"
        pattern = text_literal(_NUMBER_AND_UNIT)
        return f"REGEXP_EXTRACT({text}, {pattern}, {int(node.args['group'])})"

    def _date(self, node: Date) -> str:
        return f"CAST({self.part(node)} AS DATE)"

    def _date_of_text(self, node: DateOfText) -> str:
        """Write the date of a text: its day, and how many seconds of UTC are before or after it."""
        text, pattern = self.part(node), text_literal(_MOMENT)
        parts = "$1-$2$3$4-$5,$6,$7,$8,$9,$10,$11,$12$14,$13"
        found = f"SPLIT(REGEXP_REPLACE({text}, {pattern}, '{parts}'), ',')"

        def whole(place: int) -> str:
            return f"COALESCE(TRY_CAST(GET(g, {place}) AS INT), 0)"

        day = "TRY_CAST(GET(g, 0) AS DATE)"
        time = f"{whole(1)} * 3600 + {whole(2)} * 60 + {whole(3)}"
        last = f"{time} = {_DAY} AND SUBSTRING(GET(g, 4), 1, 6) RLIKE '^0*$'"
        there = f"{whole(2)} < 60 AND {whole(3)} < 60 AND ({time} < {_DAY} OR {last})"
        sign = "CASE WHEN GET(g, 5) = '-' THEN -1 ELSE 1 END"
        offset = f"{sign} * ({whole(6)} * 3600 + {whole(7)} * 60 + {whole(8)})"
        moved = f"DATE_ADD({day}, CAST(({time} - {offset} + {_DAY}) DIV {_DAY} AS INT) - 1)"
        date = f"CASE WHEN GET(g, 1) = '' THEN {day} WHEN {there} THEN {moved} END"
        return (
            f"CASE WHEN {text} RLIKE {pattern} "
            f"THEN GET(TRANSFORM(ARRAY({found}), g -> {date}), 0) END"
        )

    def _days(self, node: DaysSinceEpoch) -> str:
        return f"CAST(UNIX_DATE({self.part(node)}) AS BIGINT)"

    def _calendar_part(self, node: CalendarPart) -> str:
        date = f"DATE_FROM_UNIX_DATE(CAST({self.part(node)} AS INT))"
        return f"CAST(EXTRACT({node.args['part']} FROM {date}) AS BIGINT)"

    def _short_sum(self, node: ShortSum) -> str:
        return f"SUM(CAST({self.part(node)} AS BIGINT))"

    def _sixty_bits(self, node: SixtyBits) -> str:
        return f"CAST(CONV(SUBSTRING(SHA2({self.part(node)}, 256), 1, 15), 16, 10) AS BIGINT)"

    def _keyed_hash(self, node: KeyedHash) -> str:
        octets = f"ENCODE(CAST({self.part(node)} AS STRING), 'UTF-8')"
        inner = f"UNHEX(SHA2(CONCAT({self.part(node, 'inner')}, {octets}), 256))"
        return f"SHA2(CONCAT({self.part(node, 'outer')}, {inner}), 256)"

    def _word(self, node: Word) -> str:
        digits = f"SUBSTRING({self.part(node)}, {int(node.args['start'])}, 16)"
        return f"CAST(CONV({digits}, 16, 10) AS DECIMAL(20, 0))"

    TRANSFORMS: ClassVar[Any] = {
        **{
            kind: write
            for kind, write in SparkGenerator.TRANSFORMS.items()
            if kind
            not in {
                exp.BitwiseRightShift, exp.DataType, exp.IntDiv, exp.IsNan, exp.Literal,
                exp.NullSafeNEQ, exp.Placeholder, exp.Sum, exp.CTE,
            }
        },
        **complete(
            {
                Xor: _xor,
                SourceCell: _source_cell,
                Readable: _readable,
                Normal: _normal,
                Double: _double,
                DoubleOf: _number,
                Whole: _whole,
                Floor: _floor,
                Written: _as_written,
                Matches: _matches,
                NumberAndUnit: _number_and_unit,
                Date: _date,
                DateOfText: _date_of_text,
                DaysSinceEpoch: _days,
                CalendarPart: _calendar_part,
                ShortSum: _short_sum,
                SixtyBits: _sixty_bits,
                KeyedHash: _keyed_hash,
                Word: _word,
            }
        ),
    }  # fmt: skip


class ConfideSpark(Spark):
    """What Spark reads."""

    Generator = ConfideSparkGenerator


_TYPES = {
    exp.DType.BIGINT: "BIGINT",
    exp.DType.INT128: "DECIMAL(38, 0)",
    exp.DType.INT: "INT",
    exp.DType.TINYINT: "TINYINT",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.DATE: "DATE",
    exp.DType.VARCHAR: "STRING",
    exp.DType.BOOLEAN: "BOOLEAN",
}
"""Types that trees cast to."""
