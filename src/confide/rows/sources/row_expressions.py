"""What the columns and conditions of a table's query may be: total functions of one row.

====================================== =============================================================
written                                built
====================================== =============================================================
column, column.field                   as it is
json -> '$.path', json ->> '$.path'    NULL where the cell is no JSON
lower, upper, trim, replace,           of text; of whole numbers, as their digits
split_part, coalesce, nullif, ||
=, <>, IN, IS NULL, starts_with        the same; so that no cell is ever cast to another's type
AND, OR, NOT                           as they are
====================================== =============================================================

There is no cast: text is read by the kind that is declared, as in CSV.  Text is taken byte by byte
and without its collation (:mod:`confide.rows.cells.operations`), and every function stands in TRY,
so no cell makes the query fail.

*Privacy:* see :func:`confide.rows.sources.row_relation.relation_of`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import (
    NULL,
    VARCHAR,
    at_most,
    call,
    case,
    cast,
    equal,
    every,
    missing,
    named,
    negated,
    num,
    own,
    select,
    some,
    string,
)
from confide.rows.cells.operations import Readable, operation
from confide.rows.cells.physical import Physical, physical
from confide.rows.sources.row_query import identifiers, refused, shown
from confide.tables.schema import Table

_FUNCTIONS = "lower, upper, trim, replace, split_part, coalesce, nullif and ||"
EXPRESSIONS = (
    f"Columns, fields (column.field), -> and ->> with a path, {_FUNCTIONS} are read. Numbers and "
    "dates need no cast: text is read by the kind that dataset.yaml declares."
)
_CONDITIONS = "=, <>, IN ('a', 'b'), IS NULL, starts_with, AND, OR and NOT are read after WHERE."
_TEXTS = (
    "Text and whole numbers are compared, each as text: write code = '5'. For numbers and dates "
    "use `where` in the study."
)
_OF_ONE_ROW = (
    "An id is one of the row that holds the list, so that each row of the source is one person's. "
    "Store a table with one row for each element first, where a list holds several persons."
)

_REPLACED = (
    "A fixed text is replaced by another that is no longer, so that no cell grows: "
    "replace(code, '.', '')."
)
_PLACE = re.compile(r"[0-9]{1,6}", re.ASCII)

LONGEST = 1_000
"""Bytes of a text of the row that each element of its lists has; a longer one is missing there."""

Describe = Callable[[exp.Query], Mapping[str, str]]
"""The names and types of a query's columns, from its binding; nothing is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowValue:
    """An expression with its type in the engine's words."""

    of: exp.Expr
    type_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScope:
    """What an expression can name.

    Attributes:
        table: As declared.
        level: What it is selected from.
        describe: The engine's binder.
        within: Columns by what the query calls their table, both in small letters.
        outer: The scopes before it, of fewer lists, from that of the row on.
        carried: What is computed here, once, and read in scopes of more lists.
        elements: Names of elements, which are not in an id's scope.
        of_id: Whether the value is a person id.
    """

    table: Table
    level: exp.Query | exp.Table
    describe: Describe
    within: Mapping[str, Mapping[str, str]]
    outer: tuple["RowScope", ...] = ()
    carried: dict[str, exp.Expr] = field(default_factory=dict)
    elements: frozenset[str] = frozenset()
    of_id: bool = False

    def carry(self, value: RowValue) -> RowValue:
        """Return a value of this scope as scopes of more lists read it.

        A document that is read, or stands, once for each element of its list costs the square of
        one patient's data, and would stop the query for all.
        """
        name = f"value {len(self.outer)}.{len(self.carried)}"
        of = value.of
        if value.type_name == "JSON" or physical(value.type_name) is Physical.TEXT:
            length = exp.Anonymous(this="strlen", expressions=[cast(of, VARCHAR)])
            of = case((at_most(length, num(LONGEST)), of), default=NULL)
        self.carried[name] = of
        return replace(value, of=own(name, "q"))

    def further_out(self, written: exp.Expr) -> "RowScope | None":
        """Return the scope of fewer lists that has all that an expression names."""
        depths = [self._depth(column) for column in written.find_all(exp.Column)]
        depth = max(depths, default=len(self.outer))
        return self.outer[depth] if depth < len(self.outer) else None

    def _depth(self, column: exp.Column) -> int:
        names = [part.name.lower() for part in column.parts]
        held = (depth for depth, scope in enumerate(self.outer) if scope.found(names) is not None)
        return next(held, len(self.outer))

    def found(self, names: list[str]) -> tuple[str, int] | None:
        """Return the column that names begin with, and how many of them name it."""
        first, *fields = (name.lower() for name in names)
        if fields and first in self.within:
            inner = self.within[first].get(fields[0])
            return None if inner is None else (inner, 2)
        places = (columns[first] for columns in self.within.values() if first in columns)
        return next(((name, 1) for name in places), None)

    def typed(self, value: exp.Expr, *, written: exp.Expr) -> RowValue:
        """Return a value with its type."""
        types = self.describe(select(named(value, "x"), of=self.level))
        if not types:
            raise refused(
                self.table,
                f"names {shown(written)}, which the source does not have",
                hint="After a column stand the fields of its type: column.field.",
            )
        return RowValue(of=value, type_name=next(iter(types.values())))

    def column(self, names: list[str], *, written: exp.Expr) -> RowValue:
        """Return a column, or a field of one."""
        found = self.found(names)
        if found is None:
            scopes = (*self.outer, self)
            known = sorted({name for of in scopes for each in of.within.values() for name in each})
            if names[0].lower() in self.elements:
                raise refused(self.table, "takes a person id from a list", hint=_OF_ONE_ROW)
            raise refused(
                self.table,
                f"names {shown(written)}, which is no column of its table",
                hint=f"It has {', '.join(known)}." if known else "It has none that is read.",
            )
        column, named_by = found
        value: exp.Expr = own(column, "q")
        for name in names[named_by:]:
            value = call("struct_extract", value, string(name))
        return self.typed(value, written=written)


def value_of(written: exp.Expr, *, scope: RowScope) -> RowValue:
    """Return what an expression is.

    Raises:
        ContractError: If it, or a part of it, is not read.
    """
    if _beyond(written):
        raise _unread(written, scope=scope)
    outer = scope.further_out(written)
    if outer is not None:
        return outer.carry(value_of(written, scope=outer))
    match written:
        case exp.Paren():
            return value_of(written.this, scope=scope)
        case exp.Column() | exp.Dot():
            names = identifiers(written)
            if names is None:
                raise _unread(written, scope=scope)
            return scope.column(names, written=written)
        case exp.Literal() if written.is_string:
            return RowValue(of=string(written.name), type_name="VARCHAR")
        case exp.JSONExtract() | exp.JSONExtractScalar():
            return _json(written, scope=scope)
        case _:
            return RowValue(of=_total(_function(written, scope=scope)), type_name="VARCHAR")


def _function(written: exp.Expr, *, scope: RowScope) -> exp.Expr:
    def of(part: exp.Expr) -> exp.Expr:
        return _text(part, scope=scope)

    match written:
        case exp.Lower():
            return call("lower", of(written.this))
        case exp.Upper():
            return call("upper", of(written.this))
        case exp.Trim():
            return call("trim", of(written.this))
        case exp.Replace():
            old, new = _texts_of_one_length(written, scope=scope)
            return call("replace", of(written.this), string(old), string(new))
        case exp.SplitPart():
            place = written.args["part_index"]
            if not isinstance(place, exp.Literal) or not _PLACE.fullmatch(place.name):
                raise _unread(written, scope=scope)
            between = of(written.args["delimiter"])
            return call("split_part", of(written.this), between, num(int(place.name)))
        case exp.Coalesce():
            return call("coalesce", of(written.this), *map(of, written.expressions))
        case exp.Nullif():
            return exp.Nullif(this=of(written.this), expression=of(written.expression))
        case exp.DPipe():
            return exp.Paren(
                this=exp.DPipe(this=of(written.this), expression=of(written.expression))
            )
        case _:
            raise _unread(written, scope=scope)


def _texts_of_one_length(written: exp.Replace, *, scope: RowScope) -> tuple[str, str]:
    """Return what is replaced, and by what: no cell becomes longer, or one could stop the query."""
    parts = (written.expression, written.args["replacement"])
    if not all(isinstance(part, exp.Literal) and part.is_string for part in parts):
        raise refused(scope.table, f"has {shown(written)}", hint=_REPLACED)
    old, new = (part.name for part in parts)
    if len(new.encode()) > len(old.encode()):
        raise refused(scope.table, f"has {shown(written)}", hint=_REPLACED)
    return old, new


_ARGUMENTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Paren: frozenset({"this"}),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Dot: frozenset({"this", "expression"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.JSONExtract: frozenset({"this", "expression", "only_json_types", "scalar_only"}),
    exp.JSONExtractScalar: frozenset({"this", "expression", "only_json_types", "scalar_only"}),
    exp.Lower: frozenset({"this"}),
    exp.Upper: frozenset({"this"}),
    exp.Trim: frozenset({"this"}),
    exp.Replace: frozenset({"this", "expression", "replacement"}),
    exp.SplitPart: frozenset({"this", "delimiter", "part_index"}),
    exp.Coalesce: frozenset({"this", "expressions"}),
    exp.Nullif: frozenset({"this", "expression"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    exp.And: frozenset({"this", "expression"}),
    exp.Or: frozenset({"this", "expression"}),
    exp.Not: frozenset({"this"}),
    exp.EQ: frozenset({"this", "expression"}),
    exp.NEQ: frozenset({"this", "expression"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Is: frozenset({"this", "expression"}),
    exp.StartsWith: frozenset({"this", "expression"}),
}
"""The forms that are read, with the parts that are: one more is refused, never passed over."""


def _beyond(written: exp.Expr) -> bool:
    """Return whether a form, or a part of it, is not read."""
    parts = _ARGUMENTS.get(type(written))
    return parts is None or bool({name for name, value in written.args.items() if value} - parts)


def _unread(written: exp.Expr, *, scope: RowScope) -> ContractError:
    if isinstance(written, exp.Lambda):
        hint = "Within a function write one ->> with the whole path: lower(doc ->> '$.a.b')."
        return refused(scope.table, "has -> as the first argument of a function", hint=hint)
    return refused(scope.table, f"has {shown(written)}, which is not read", hint=EXPRESSIONS)


def _json(written: exp.Expr, *, scope: RowScope) -> RowValue:
    of = value_of(written.this, scope=replace(scope, of_id=False))
    if of.type_name not in ("JSON", "VARCHAR"):
        hint = "-> and ->> read JSON, or text that holds it; a field of a struct is column.field."
        raise refused(scope.table, f"reads {shown(written.this)} as JSON", hint=hint)
    function = "json_extract"
    type_name = "JSON"
    if isinstance(written, exp.JSONExtractScalar):
        function, type_name = "json_extract_string", "VARCHAR"
    path, many = _path(written.expression, scope=scope)
    cell = operation(Readable, cast(of.of, VARCHAR))
    made: exp.Expr = exp.Anonymous(this=function, expressions=[cell, string(path)])
    if scope.of_id:
        kind = exp.Anonymous(this="json_type", expressions=[cell, string(path)])
        whole = call("regexp_full_match", made, string("-?[0-9]+"))
        made = case((some(equal(kind, string("VARCHAR")), whole), made), default=NULL)
    return RowValue(of=_total(made), type_name=type_name + "[]" * many)


def _path(written: exp.Expr, *, scope: RowScope) -> tuple[str, bool]:
    """Return a path, and whether it leads to several values."""
    path, many = "", False
    for part in written.expressions if isinstance(written, exp.JSONPath) else ():
        match part, part.this:
            case exp.JSONPathRoot(), _:
                path += "$"
            case exp.JSONPathKey(), str() as key if key != "*" and not {'"', "\\"} & set(key):
                path += f'."{key}"'
            case exp.JSONPathSubscript(), int() as place if place >= 0:
                path += f"[{place}]"
            case exp.JSONPathSubscript(), exp.JSONPathWildcard():
                path, many = f"{path}[*]", True
            case _:
                raise _unread(written, scope=scope)
    if not path.startswith("$"):
        raise _unread(written, scope=scope)
    return path, many


_AS_TEXT = (Physical.TEXT, Physical.INTEGER, Physical.WIDE, Physical.BOOLEAN)


def _text(written: exp.Expr, *, scope: RowScope) -> exp.Expr:
    """Return a value as text of no collation; of other types it is refused."""
    value = value_of(written, scope=scope)
    of_nobody = scope.of_id and physical(value.type_name) is Physical.BOOLEAN
    if of_nobody or physical(value.type_name) not in _AS_TEXT:
        raise refused(
            scope.table,
            f"takes {shown(written)} for text, and it is {value.type_name.partition('(')[0]}",
            hint=_TEXTS,
        )
    return operation(Readable, cast(value.of, VARCHAR))


def condition(written: exp.Expr, *, scope: RowScope) -> exp.Expr:
    """Return a condition; raises as :func:`value_of`."""

    def both() -> tuple[exp.Expr, exp.Expr]:
        return _text(written.this, scope=scope), _text(written.expression, scope=scope)

    if _beyond(written):
        raise _unread_condition(written, scope=scope)
    match written:
        case exp.Paren():
            return condition(written.this, scope=scope)
        case exp.And() | exp.Or():
            joined = every if isinstance(written, exp.And) else some
            parts = (condition(part, scope=scope) for part in (written.this, written.expression))
            return joined(*parts)
        case exp.Not():
            return negated(condition(written.this, scope=scope))
        case exp.EQ():
            return equal(*both())
        case exp.NEQ():
            return negated(equal(*both()))
        case exp.StartsWith():
            return _total(call("starts_with", *both()))
        case exp.Is() if isinstance(written.expression, exp.Null):
            return missing(_text(written.this, scope=scope))
        case exp.In():
            of = _text(written.this, scope=scope)
            return some(*(equal(of, _text(one, scope=scope)) for one in written.expressions))
        case _:
            raise _unread_condition(written, scope=scope)


def _unread_condition(written: exp.Expr, *, scope: RowScope) -> ContractError:
    return refused(scope.table, f"asks {shown(written)}, which is not read", hint=_CONDITIONS)


def _total(value: exp.Expr) -> exp.Expr:
    """Return a value that is NULL where it could not be computed."""
    return exp.Anonymous(this="try", expressions=[value])
