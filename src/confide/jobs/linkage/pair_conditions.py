"""Conditions of a linkage model: a small typed language over the two rows of a pair.

A condition is read, given a type, and written anew from what was understood; anything else is
refused.  So no text of a file reaches the engine.

*Lemma.*  What is written is a total function of the texts of the pair: there is no subquery,
window, aggregate or chance in it, and nothing that fails for some cell: texts meet texts and
numbers meet numbers, so the engine casts nothing by itself; numbers are lengths, distances,
constants up to 10⁶ and ``try_cast(… as double)``, whose differences are at worst infinite or no
number, which the engine compares as others.  Texts have a largest length (:mod:`.scoring`), as the
engine holds a table of both lengths for a distance.  ∎
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp, parse, parse_one
from sqlglot.errors import SqlglotError

from confide.errors import ContractError, UnknownNameError

_LARGEST = 10**6
_LONGEST = 4000


class _Type(enum.Enum):
    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    sql: str
    type: _Type


_DISTANCES = {
    exp.JarowinklerSimilarity: "jaro_winkler_similarity",
    exp.Levenshtein: "levenshtein",
}
_NAMED_DISTANCES = frozenset({"damerau_levenshtein", "jaro_similarity"})
_COMPARED: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_OF_TEXT = {exp.Lower: "lower", exp.Upper: "upper", exp.Trim: "trim"}


def written_condition(sql: str, *, columns: Mapping[str, str], where: str) -> str:
    """Return a condition as the engine gets it.

    Args:
        sql: As the file has it.
        columns: What each column of a pair is written as, by how the file may name it.
        where: What it is of, for errors.

    Raises:
        ContractError: If it is more than a comparison of the two rows.

    Example:
        >>> written_condition("a_l = a_r and length(a_l) > 2", columns={"a_l": '"a_l"',
        ...                   "a_r": '"a_r"'}, where="Comparison 'a'")
        '(("a_l" = "a_r") AND (length("a_l") > 2))'
    """
    try:
        parsed = parse(sql, dialect="duckdb") if len(sql) <= _LONGEST else []
        made = _Writer(columns).written(parsed[0]) if len(parsed) == 1 and parsed[0] else None
    except (SqlglotError, _NotUnderstoodError, RecursionError) as broken:
        what = f" ({broken})" if isinstance(broken, _NotUnderstoodError) else ""
        raise ContractError(
            f"{where} has a condition that is not understood{what}.",
            hint="Compare texts of the two rows with =, <>, jaro_winkler_similarity, levenshtein, "
            "substr; put them together with and, or, not.",
        ) from None
    if made is None or made.type is not _Type.TRUTH:
        raise ContractError(f"{where} has a condition that is neither true nor false.")
    return made.sql


def require_equal_parts(written: str, *, where: str) -> None:
    """Refuse a condition for which every pair of rows would have to be looked at.

    Args:
        written: By :func:`written_condition`, of columns ``l."field"`` and ``r."field"``.
        where: What it is of, for errors.

    Raises:
        ContractError: If it does not ask, whatever else it asks, that something of the first row
            equals something of the second.

    Example:
        >>> require_equal_parts('((l."a" = r."a") AND (length(l."a") > 2))', where="A rule")
    """
    whole = parse_one(written, dialect="duckdb")
    if not any(_equals_parts(each) for each in _asked_together(whole)):
        raise ContractError(
            f"{where} looks at every pair of rows, which may exhaust the memory after the charge.",
            hint="Let each rule ask that a field is equal: l.field = r.field, and what else it "
            "asks; write what is joined by or as rules of their own.",
        )


def _asked_together(node: Any) -> Iterator[Any]:
    """Yield the parts of a condition that all have to hold."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _asked_together(node.this)
        yield from _asked_together(node.expression)
    else:
        yield node


def _equals_parts(node: Any) -> bool:
    if not isinstance(node, exp.EQ):
        return False
    sides = [{each.table for each in side.find_all(exp.Column)} for side in node.unnest_operands()]
    return sorted(map(sorted, sides)) == [["l"], ["r"]]


class _NotUnderstoodError(Exception):
    """Names the part of the language, never a value."""


class _Writer:
    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = columns

    def written(self, node: Any) -> _Written:
        """Return what an expression is written as."""
        if isinstance(node, exp.Paren):
            return self.written(node.this)
        for of, write in self._FORMS.items():
            if isinstance(node, of):
                return write(self, node)
        raise _NotUnderstoodError(type(node).__name__)

    def _of(self, node: Any, kind: _Type) -> str:
        found = self.written(node)
        if found.type is not kind:
            raise _NotUnderstoodError(f"a {found.type.value} where a {kind.value} is expected")
        return found.sql

    def _column(self, node: exp.Column) -> _Written:
        name = f"{node.table}.{node.name}" if node.table else node.name
        if name not in self._columns or node.args.get("db"):
            raise UnknownNameError("column of a pair", name[:80], known=sorted(self._columns))
        return _Written(sql=self._columns[name], type=_Type.TEXT)

    def _literal(self, node: exp.Literal) -> _Written:
        if node.is_string:
            text = str(node.this).replace("'", "''")
            return _Written(sql=f"'{text}'", type=_Type.TEXT)
        try:
            number = float(node.this)
        except ValueError:
            raise _NotUnderstoodError("a number that is none") from None
        if not 0 <= number <= _LARGEST:
            raise _NotUnderstoodError("a number above 10⁶")
        whole = number == int(number)
        return _Written(sql=str(int(number)) if whole else repr(number), type=_Type.NUMBER)

    def _joined(self, node: exp.And | exp.Or) -> _Written:
        word = "AND" if isinstance(node, exp.And) else "OR"
        sides = (self._of(each, _Type.TRUTH) for each in (node.this, node.expression))
        return _Written(sql=f"({f' {word} '.join(sides)})", type=_Type.TRUTH)

    def _not(self, node: exp.Not) -> _Written:
        return _Written(sql=f"(NOT {self._of(node.this, _Type.TRUTH)})", type=_Type.TRUTH)

    def _is(self, node: exp.Is) -> _Written:
        if not isinstance(node.expression, exp.Null):
            raise _NotUnderstoodError("is, but of null")
        return _Written(sql=f"({self.written(node.this).sql} IS NULL)", type=_Type.TRUTH)

    def _compared(self, node: Any) -> _Written:
        first = self.written(node.this)
        second = self._of(node.expression, first.type)
        sign = _COMPARED[type(node)]
        return _Written(sql=f"({first.sql} {sign} {second})", type=_Type.TRUTH)

    def _in(self, node: exp.In) -> _Written:
        if set(_present(node)) != {"this", "expressions"}:
            raise _NotUnderstoodError("in, of a query")
        first = self.written(node.this)
        among = ", ".join(self._of(each, first.type) for each in node.expressions)
        return _Written(sql=f"({first.sql} IN ({among}))", type=_Type.TRUTH)

    def _distance(self, node: Any) -> _Written:
        if isinstance(node, exp.Anonymous):
            name, sides = str(node.this).lower(), node.expressions
            if name not in _NAMED_DISTANCES:
                raise _NotUnderstoodError("another function")
        else:
            name, sides = _DISTANCES[type(node)], [node.this, node.expression]
            if set(_present(node)) != {"this", "expression"}:
                raise _NotUnderstoodError("a distance with more than two texts")
        if len(sides) != 2:
            raise _NotUnderstoodError("a distance of two texts")
        of = ", ".join(self._of(each, _Type.TEXT) for each in sides)
        return _Written(sql=f"{name}({of})", type=_Type.NUMBER)

    def _of_text(self, node: Any) -> _Written:
        if set(_present(node)) != {"this"}:
            raise _NotUnderstoodError("trim of more than spaces")
        return _Written(
            sql=f"{_OF_TEXT[type(node)]}({self._of(node.this, _Type.TEXT)})", type=_Type.TEXT
        )

    def _length(self, node: exp.Length) -> _Written:
        return _Written(sql=f"length({self._of(node.this, _Type.TEXT)})", type=_Type.NUMBER)

    def _part(self, node: Any) -> _Written:
        """Return a part of a text between places that are constants."""
        if isinstance(node, exp.Substring):
            name, places = "substring", [node.args.get("start"), node.args.get("length")]
        else:
            name, places = type(node).__name__.lower(), [node.expression]
        written = [self._of(node.this, _Type.TEXT)]
        for place in places:
            if place is None and len(written) > 1:
                continue
            if not isinstance(place, exp.Literal):
                raise _NotUnderstoodError("a part of a text between places that are no constants")
            written.append(self._of(place, _Type.NUMBER))
            if not written[-1].isdigit():
                raise _NotUnderstoodError("a part of a text between fractions")
        return _Written(sql=f"{name}({', '.join(written)})", type=_Type.TEXT)

    def _number(self, node: exp.TryCast) -> _Written:
        to = node.args.get("to")
        if not isinstance(to, exp.DataType) or to.this is not exp.DataType.Type.DOUBLE:
            raise _NotUnderstoodError("try_cast, but to double")
        of = self._of(node.this, _Type.TEXT)
        return _Written(sql=f"TRY_CAST({of} AS DOUBLE)", type=_Type.NUMBER)

    def _difference(self, node: exp.Sub) -> _Written:
        sides = [self._of(each, _Type.NUMBER) for each in (node.this, node.expression)]
        return _Written(sql=f"({sides[0]} - {sides[1]})", type=_Type.NUMBER)

    def _absolute(self, node: exp.Abs) -> _Written:
        return _Written(sql=f"abs({self._of(node.this, _Type.NUMBER)})", type=_Type.NUMBER)

    _FORMS: Mapping[type[exp.Expr], Callable[["_Writer", Any], _Written]] = {
        exp.Column: _column,
        exp.Literal: _literal,
        exp.And: _joined,
        exp.Or: _joined,
        exp.Not: _not,
        exp.Is: _is,
        exp.In: _in,
        exp.Length: _length,
        exp.Substring: _part,
        exp.Left: _part,
        exp.Right: _part,
        exp.TryCast: _number,
        exp.Sub: _difference,
        exp.Abs: _absolute,
        exp.Anonymous: _distance,
        **dict.fromkeys(_DISTANCES, _distance),
        **dict.fromkeys(_COMPARED, _compared),
        **dict.fromkeys(_OF_TEXT, _of_text),
    }


def _present(node: exp.Expr) -> list[str]:
    """Return the names of the arguments that a node has."""
    return [name for name, value in node.args.items() if value not in (None, False, [])]
