"""DuckDB's dialect.

*Privacy:* casts are TRY_CAST.  Statistics of files are not believed: what a cell of a
floating-point column, of a decimal or of a narrow integer may be is kept from the optimiser.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generators.duckdb import DuckDBGenerator

from confide.rows.cells.build import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    VARCHAR,
    call,
    case,
    cast,
    missing,
    num,
    plus,
    string,
    try_cast,
)
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
from confide.rows.dialects.dialect import as_tree, complete
from confide.rows.dialects.duckdb_dates import date_of_moment, date_of_text
from confide.rows.dialects.unenforced import unstated, within_digits

_NUMBER_AND_UNIT = r"^\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*$"
_EPOCH = "1970-01-01"


def _cell(node: SourceCell) -> exp.Expr:
    """Return a cell of the source, such that nothing done with it later can fail.

    - floating point: the engine is told that a cell can be NaN.  The condition never holds, but no
      optimiser knows.  Statistics of Parquet files pass over NaN, and the engine believes them:
      where nobody's number is above the bounds, "is NaN" becomes "false" and "above the upper
      bound" too.  Then one patient's number would decide what becomes of everybody else's NaN;
    - decimals, and integers that are narrower than what files keep of them: as their type says
      (:mod:`.unenforced`);
    - text: its bytes, whatever its column says;
    - timestamps: their date; beyond the years that a date has, the infinite one, which is outside
      all bounds.
    """
    cell: exp.Expr = node.this
    found = node.args["found"]
    if not isinstance(found, Found):
        raise TypeError("Expected a column of the source.")
    match found.physical:
        case Physical.REAL | Physical.ROUNDED:
            never = missing(call("hash", cell))
            return case((never, cast(string("nan"), FLOAT)), default=cell)
        case Physical.DECIMAL:
            return within_digits(cell, type_name=found.type_name)
        case Physical.INTEGER if found.narrowed:
            return unstated(cell, type_name=found.type_name)
        case Physical.TEXT:
            return text_of_bytes(cast(cell, VARCHAR))
        case Physical.MOMENT:
            return date_of_moment(cell, of=found.moment)
        case _:
            return cell


def text_of_bytes(text: exp.Expr) -> exp.Expr:
    """Return the bytes of a text as text of no collation, NULL where they are no UTF-8.

    A column may say that it ignores case or accents, and then grouping, joining and comparing do,
    while hashing and windows do not; a cast keeps that.  And a DuckDB file may hold bytes that are
    no text, as when it was made of an Arrow table: sorting, normalising and fetching then fail, all
    of the query, for one cell of one patient.
    """
    encoded = exp.Anonymous(this="encode", expressions=[text])
    again = exp.Anonymous(this="decode", expressions=[encoded])
    return exp.Anonymous(this="try", expressions=[again])


def in_normal_form(text: exp.Expr) -> exp.Expr:
    """Return a text in normal form C: each piece alone, as the engine's function ends at a NUL."""
    nul, piece = call("chr", num(0)), exp.to_identifier("piece", quoted=True)
    each = exp.Lambda(this=call("nfc_normalize", piece), expressions=[piece])
    pieces = call("list_transform", call("string_split", text, nul), each)
    joined = call("array_to_string", pieces, nul)
    return case((call("contains", text, nul), joined), default=call("nfc_normalize", text))


def _days(node: DaysSinceEpoch) -> exp.Expr:
    epoch = cast(string(_EPOCH), DATE)
    return exp.DateDiff(this=node.this, expression=epoch, unit=exp.var("day"))


def _part(node: CalendarPart) -> exp.Expr:
    date = plus(cast(string(_EPOCH), DATE), cast(node.this, INT))
    return cast(exp.Extract(this=exp.var(node.args["part"]), expression=date), BIGINT)


def _sixty_bits(node: SixtyBits) -> exp.Expr:
    digits = call("substring", call("sha256", node.this), num(1), num(15))
    return cast(exp.DPipe(this=string("0x"), expression=digits), BIGINT)


def _keyed_hash(node: KeyedHash) -> exp.Expr:
    message = exp.Anonymous(this="encode", expressions=[cast(node.this, VARCHAR)])
    inner = call("unhex", call("sha256", _joined(node.args["inner"], message)))
    return call("sha256", _joined(node.args["outer"], inner))


def _joined(key: exp.Expr, message: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=cast(key, exp.DType.BLOB), expression=message)


def _word(node: Word) -> exp.Expr:
    digits = call("substring", node.this, num(node.args["start"]), num(16))
    return cast(exp.DPipe(this=string("0x"), expression=digits), exp.DType.UBIGINT)


def _number_and_unit(node: NumberAndUnit) -> exp.Expr:
    given = [node.this, string(_NUMBER_AND_UNIT), num(node.args["group"])]
    return exp.Anonymous(this="regexp_extract", expressions=given)


def _xor(node: Xor) -> exp.Expr:
    return exp.Anonymous(this="xor", expressions=[node.this, node.expression])


def _matches(node: Matches) -> exp.Expr:
    return call("regexp_full_match", node.this, string(node.args["pattern"]))


_WRITERS = complete(
    {
        Xor: as_tree(_xor),
        SourceCell: as_tree(_cell),
        Readable: as_tree(lambda node: text_of_bytes(node.this)),
        Normal: as_tree(lambda node: in_normal_form(node.this)),
        Double: as_tree(lambda node: try_cast(node.this, DOUBLE)),
        DoubleOf: as_tree(lambda node: try_cast(node.this, DOUBLE)),
        Whole: as_tree(lambda node: try_cast(node.this, BIGINT)),
        Floor: as_tree(lambda node: call("floor", node.this)),
        Written: as_tree(lambda node: cast(node.this, VARCHAR)),
        Matches: as_tree(_matches),
        NumberAndUnit: as_tree(_number_and_unit),
        Date: as_tree(lambda node: try_cast(node.this, DATE)),
        DateOfText: as_tree(lambda node: date_of_text(node.this)),
        DaysSinceEpoch: as_tree(_days),
        CalendarPart: as_tree(_part),
        ShortSum: as_tree(lambda node: exp.Sum(this=node.this)),
        SixtyBits: as_tree(_sixty_bits),
        KeyedHash: as_tree(_keyed_hash),
        Word: as_tree(_word),
    }
)


class ConfideDuckDBGenerator(DuckDBGenerator):
    """Writes trees as DuckDB reads them."""

    TRANSFORMS: ClassVar[Any] = {**DuckDBGenerator.TRANSFORMS, **_WRITERS}


class ConfideDuckDB(DuckDB):
    """What DuckDB reads."""

    Generator = ConfideDuckDBGenerator
