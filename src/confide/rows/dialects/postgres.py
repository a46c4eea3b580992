"""PostgreSQL's dialect, of version 16 or newer.

*Privacy:* a cast raises for a text that is none, a product for one that no double holds, a
division for one that is too small, and an error ends the query of everybody.  So every text is
asked for its form (``pg_input_is_valid``, a pattern) before it is cast, and doubles above 1e200 are
infinite and those below 1e-200 zero before anything is done with them: no bound of a column and no
step of a grid lies there.

*Utility:* the planner puts the queries that a query selects from into it, and would compute what is
named once and used often as often as it is used.  Each one is kept apart (``OFFSET 0``), but where
a statement is one stream, of which every level costs as much as what it computes.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.generator import Generator
from sqlglot.generators.postgres import PostgresGenerator

from confide.rows.cells.build import AS_ONE
from confide.rows.cells.identity import GIVEN, INNER, OUTER
from confide.rows.cells.keyed_order import COEFFICIENTS
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
    Readable,
    ShortSum,
    SixtyBits,
    SourceCell,
    Whole,
    Word,
    Written,
    Xor,
)
from confide.rows.cells.physical import Physical
from confide.rows.dialects.dialect import complete

PARAMETERS = (*COEFFICIENTS, INNER, OUTER, GIVEN)
"""Bound parameters by place: ``$1`` is the first."""

_HUGE, _TINY = "1e200", "1e-200"
_EXACT = 2**53
_BLANK = r" \t\n\x0B\f\r"
_SPACE = r" \t\n\f\r"
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_NUMBER = (
    rf"^[{_BLANK}]*[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})"
    rf"(?:[eE][+-]?{_DIGITS})?[{_BLANK}]*$"
)
_WORDS = rf"^[{_BLANK}]*([+-]?)(inf|infinity|nan(?:\([A-Za-z0-9_]*\))?)[{_BLANK}]*$"
_BEGINS = rf"^[{_SPACE}]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_TWO = "[0-5]?[0-9]"
_WRITTEN = (
    rf"^[{_SPACE}]*([0-9]{{4}})([-/ ])([0-9]{{1,2}})\2([0-9]{{1,2}})"
    rf"(?:[T ][{_SPACE}]*([0-9]{{1,2}}):({_TWO})(?::({_TWO})(?:\.([0-9]*))?)?"
    rf"(?:[{_SPACE}]*([+-])(0[0-9]|1[0-5])(?:(:?)([0-5][0-9])(?:(:?)([0-5][0-9]))?)?"
    rf"|[{_SPACE}]*Z|[{_SPACE}]+[A-Za-z][A-Za-z0-9_/+-]*)?)?[{_SPACE}]*$"
)
_MOMENTS = {
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ",
}
_NAN, _INFINITE = "'NaN'::DOUBLE PRECISION", "'Infinity'::DOUBLE PRECISION"


def _cell(gen: Generator, node: SourceCell) -> str:
    cell, found = gen.sql(node, "this"), node.args["found"]
    match found.physical:
        case Physical.ROUNDED:  # numeric without a number of digits
            return (
                f"CASE WHEN {cell} = 'NaN'::NUMERIC THEN {_NAN}"
                f" WHEN {cell} > {_HUGE}::NUMERIC THEN {_INFINITE}"
                f" WHEN {cell} < -{_HUGE}::NUMERIC THEN -{_INFINITE}"
                f" WHEN ABS({cell}) < {_TINY}::NUMERIC THEN 0::DOUBLE PRECISION"
                f" ELSE CAST({cell} AS DOUBLE PRECISION) END"
            )
        case Physical.DECIMAL:
            return f"NULLIF({cell}, 'NaN'::NUMERIC)"
        case Physical.TEXT:
            return _text(cell)
        case Physical.MOMENT:
            return _date_of_moment(cell, of=_MOMENTS[found.type_name])
        case _:
            return cell


def _text(value: str) -> str:
    """Return a value as text that is compared byte by byte."""
    return f'(CAST({value} AS TEXT) COLLATE "C")'


def _date_of_moment(moment: str, *, of: str) -> str:
    return (
        f"CASE WHEN {moment} IS NULL THEN NULL"
        f" WHEN {moment} >= '0001-01-01'::{of} AND {moment} < '10000-01-01'::{of}"
        f" THEN CAST({moment} AS DATE) ELSE 'infinity'::DATE END"
    )


def _number(gen: Generator, node: DoubleOf) -> str:
    value, physical = gen.sql(node, "this"), node.args["physical"]
    match physical:
        case Physical.TEXT:
            return _number_of_text(value)
        case Physical.DECIMAL:
            return _number_of_decimal(value)
        case Physical.REAL | Physical.ROUNDED:
            return _clamped(f"CAST({value} AS DOUBLE PRECISION)")
        case Physical.BOOLEAN:
            return f"CAST(CAST({value} AS INT) AS DOUBLE PRECISION)"
        case _:
            return f"CAST({value} AS DOUBLE PRECISION)"


def _clamped(double: str) -> str:
    return (
        f"CASE WHEN {double} = {_NAN} THEN {_NAN} WHEN {double} > {_HUGE} THEN {_INFINITE}"
        f" WHEN {double} < -{_HUGE} THEN -{_INFINITE}"
        f" WHEN ABS({double}) < {_TINY} THEN 0::DOUBLE PRECISION ELSE {double} END"
    )


def _number_of_decimal(value: str) -> str:
    """Return the double that DuckDB makes of a decimal: by its digits, then by its places."""
    power = f"(10::NUMERIC ^ SCALE({value}))"
    digits, whole = f"({value} * {power})", f"TRUNC({value})"
    places = f"CAST({power} AS DOUBLE PRECISION)"
    return (
        f"CASE WHEN ABS({digits}) <= {_EXACT} OR SCALE({value}) = 0"
        f" THEN CAST({digits} AS DOUBLE PRECISION) / {places}"
        f" ELSE CAST({whole} AS DOUBLE PRECISION)"
        f" + CAST(({value} - {whole}) * {power} AS DOUBLE PRECISION) / {places} END"
    )


def _number_of_text(value: str) -> str:
    """Return the number that a text says; too large ones are infinite, too small ones zero."""
    sign = "CASE WHEN t LIKE '-%' THEN -1 ELSE 1 END"
    power = "substring(t FROM '[eE]([+-]?[0-9]+)$')"
    far = (
        f"CASE WHEN pg_input_is_valid(t, 'numeric')"
        f" THEN CASE WHEN ABS(CAST(t AS NUMERIC)) > 1 THEN {sign} * {_INFINITE} ELSE 0 END"
        f" WHEN {power} LIKE '-%' THEN 0 ELSE {sign} * {_INFINITE} END"
    )
    return (  # of constants and of what the dialect wrote
        "(SELECT CASE"  # noqa: S608
        f" WHEN t IS NULL THEN NULL WHEN t ~* 'nan' THEN {_NAN}"
        f" WHEN t ~* 'inf' THEN {sign} * {_INFINITE}"
        f" WHEN NOT pg_input_is_valid(t, 'double precision') THEN {far}"
        f" ELSE {_clamped('CAST(t AS DOUBLE PRECISION)')} END"
        f" FROM (SELECT CASE WHEN w ~ '{_NUMBER}' OR w ~* '{_WORDS}'"
        f" THEN replace(btrim(w, E'{_BLANK}'), '_', '') END AS t"
        f" FROM (SELECT {value} AS w OFFSET 0) AS a OFFSET 0) AS b)"
    )


def _whole(gen: Generator, node: Whole) -> str:
    value, physical = gen.sql(node, "this"), node.args["physical"]
    match physical:
        case Physical.TEXT:
            return (
                f"CASE WHEN {value} ~ '^(?:0|-?[1-9][0-9]*)$' THEN"
                f" CASE WHEN pg_input_is_valid({value}, 'bigint')"
                f" THEN CAST({value} AS BIGINT) END END"
            )
        case Physical.REAL | Physical.ROUNDED | Physical.DECIMAL:
            return f"CASE WHEN ABS({value}) < 9e18 THEN CAST({value} AS BIGINT) END"
        case _:
            return f"CAST({value} AS BIGINT)"


def _written(gen: Generator, node: Written) -> str:
    value, physical = gen.sql(node, "this"), node.args["physical"]
    match physical:
        case Physical.REAL | Physical.ROUNDED:
            text = f"CAST({value} AS TEXT)"
            plain = f"CAST(CAST({text} AS NUMERIC) AS TEXT)"
            written = (
                f"CASE WHEN {value} = 'Infinity' THEN 'inf' WHEN {value} = '-Infinity' THEN '-inf'"
                f" WHEN ABS({value}) >= 1e5 AND ABS({value}) < 1e16"
                f" THEN CASE WHEN {plain} LIKE '%.%' THEN {plain} ELSE {plain} || '.0' END"
                f" ELSE {text} END"
            )
        case Physical.DECIMAL:
            digits = node.args["type_name"].removeprefix("DECIMAL(").removesuffix(")").split(",")
            written = f"CAST({value} AS TEXT)"
            if len(digits) == 2 and int(digits[0]) == int(digits[1]):
                written = f"regexp_replace({written}, '^(-?)0[.]', '\\1.')"
        case Physical.DATE | Physical.MOMENT:
            written = f"replace(CAST({value} AS TEXT), ' BC', ' (BC)')"
        case _:
            written = value
    return _text(written)


def _matches(gen: Generator, node: Matches) -> str:
    pattern = node.args["pattern"].replace(r"\s", f"[{_SPACE}]").replace("'", "''")
    return f"({gen.sql(node, 'this')} ~ '^(?:{pattern})$')"


def _number_and_unit(gen: Generator, node: NumberAndUnit) -> str:
    rest = f"btrim(regexp_replace(w, '{_BEGINS}', ''), E'{_SPACE}')"
    found = f"substring(w FROM '{_BEGINS}')" if node.args["group"] == 1 else rest
    return (
        f"(SELECT CASE WHEN w IS NULL THEN NULL"  # noqa: S608
        f" WHEN w ~ '{_BEGINS}' AND strpos({rest}, chr(10)) = 0 THEN {found} ELSE '' END"
        f" FROM (SELECT {gen.sql(node, 'this')} AS w OFFSET 0) AS a)"
    )


def _date_of_text(gen: Generator, node: DateOfText) -> str:
    """Return the date of a text; a year 0, which is valid elsewhere, is read as a leap year."""
    zero = "m[1] = '0000'"
    text = (
        f"(CASE WHEN {zero} THEN '2000' ELSE m[1] END || '-' || m[3] || '-' || m[4] || ' '"
        " || COALESCE(m[5], '0') || ':' || COALESCE(m[6], '0') || ':' || COALESCE(m[7], '0')"
        " || COALESCE(m[9] || m[10] || ':' || COALESCE(m[12], '00') || ':'"
        " || COALESCE(m[14], '00'), '+00'))"
    )
    shifted = "CASE WHEN EXTRACT(YEAR FROM d) = 2001 THEN '0001-01-01'::DATE ELSE 'infinity' END"
    return (
        f"(SELECT CASE WHEN {zero} AND d IS NOT NULL THEN {shifted} ELSE d END FROM ("  # noqa: S608
        "SELECT m, CASE WHEN t IS NULL THEN NULL"
        " WHEN m[5] = '24' AND m[8] ~ '[1-9]' THEN NULL"
        " WHEN m[14] IS NOT NULL AND m[11] || m[13] <> '::' THEN NULL"
        " WHEN NOT pg_input_is_valid(t, 'timestamptz') THEN NULL"
        f" ELSE {_date_of_moment('CAST(t AS TIMESTAMPTZ)', of='TIMESTAMPTZ')} END AS d"
        f" FROM (SELECT m, {text} AS t FROM (SELECT regexp_match({gen.sql(node, 'this')},"
        f" '{_WRITTEN}') AS m OFFSET 0) AS a OFFSET 0) AS b OFFSET 0) AS c)"
    )


def _days(gen: Generator, node: DaysSinceEpoch) -> str:
    date = gen.sql(node, "this")
    return f"CASE WHEN ISFINITE({date}) THEN {date} - '1970-01-01'::DATE END"


def _part(gen: Generator, node: CalendarPart) -> str:
    date = f"('1970-01-01'::DATE + CAST({gen.sql(node, 'this')} AS INT))"
    return f"CAST(EXTRACT({node.args['part'].upper()} FROM {date}) AS BIGINT)"


def _sixty_bits(gen: Generator, node: SixtyBits) -> str:
    digest = f"encode(sha256(convert_to({gen.sql(node, 'this')}, 'UTF8')), 'hex')"
    return f"('x0' || substr({digest}, 1, 15))::BIT(64)::BIGINT"


def _keyed_hash(gen: Generator, node: KeyedHash) -> str:
    inner, outer = (f"CAST({gen.sql(node, name)} AS BYTEA)" for name in ("inner", "outer"))
    message = f"convert_to(CAST({gen.sql(node, 'this')} AS TEXT), 'UTF8')"
    return f"encode(sha256({outer} || sha256({inner} || {message})), 'hex')"


def _word(gen: Generator, node: Word) -> str:
    return f"('x' || substr({gen.sql(node, 'this')}, {node.args['start']}, 16))::BIT(64)::BIGINT"


def _not_a_number(gen: Generator, node: exp.IsNan) -> str:
    return f"({gen.sql(node, 'this')} = {_NAN})"


def _cast(gen: Generator, node: exp.Cast) -> str:
    to = node.to
    if to.this is exp.DType.VARCHAR:
        return _text(gen.sql(node, "this"))
    if to.this is exp.DType.INT128:
        return f"CAST({gen.sql(node, 'this')} AS NUMERIC)"
    return gen.cast_sql(node)


def _whole_quotient(gen: Generator, node: exp.IntDiv) -> str:
    return f"{gen.sql(node, 'this')} / {gen.sql(node, 'expression')}"


def _literal(gen: Generator, node: exp.Literal) -> str:
    """Return a constant; a text with a NUL, which no cell can hold, is NULL and equals nothing."""
    return "CAST(NULL AS TEXT)" if "\0" in node.name else gen.literal_sql(node)


def _parameter(_: Generator, node: exp.Placeholder) -> str:
    return f"${PARAMETERS.index(node.name) + 1}"


_WRITERS = complete(
    {
        Xor: lambda gen, node: f"({gen.sql(node, 'this')} # {gen.sql(node, 'expression')})",
        SourceCell: _cell,
        Readable: lambda gen, node: _text(gen.sql(node, "this")),
        Normal: lambda gen, node: f"normalize({gen.sql(node, 'this')}, NFC)",
        Double: lambda gen, node: f"CAST({gen.sql(node, 'this')} AS DOUBLE PRECISION)",
        DoubleOf: _number,
        Whole: _whole,
        Floor: lambda gen, node: f"FLOOR({gen.sql(node, 'this')})",
        Written: _written,
        Matches: _matches,
        NumberAndUnit: _number_and_unit,
        Date: lambda gen, node: f"CAST({gen.sql(node, 'this')} AS DATE)",
        DateOfText: _date_of_text,
        DaysSinceEpoch: _days,
        CalendarPart: _part,
        ShortSum: lambda gen, node: f"SUM({gen.sql(node, 'this')})",
        SixtyBits: _sixty_bits,
        KeyedHash: _keyed_hash,
        Word: _word,
    }
)


class ConfidePostgresGenerator(PostgresGenerator):
    """Writes trees as PostgreSQL reads them."""

    TRANSFORMS: ClassVar[Any] = {
        **PostgresGenerator.TRANSFORMS,
        **_WRITERS,
        exp.IsNan: _not_a_number,
        exp.Cast: _cast,
        exp.IntDiv: _whole_quotient,
        exp.Literal: _literal,
        exp.Placeholder: _parameter,
    }

    def wrap(self, expression: exp.Expr | str) -> str:
        """Return a query in parentheses, which the planner keeps apart."""
        text = super().wrap(expression)
        if not isinstance(expression, str) and expression.meta.get(AS_ONE):
            return text
        inner = expression if isinstance(expression, str) else expression.this
        return f"{text[:-1]} OFFSET 0)" if isinstance(inner, exp.Select) else text


class ConfidePostgres(Postgres):
    """What PostgreSQL reads."""

    Generator = ConfidePostgresGenerator
