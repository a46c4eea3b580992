"""Relations and per-patient values as SELECTs: what is joined has at most one row per person.

*Privacy:* a per-patient value is one row by GROUP BY or by rank, a joined table one row by keyed
order; neither because someone looked.  So the rows of a person in a relation are at most their
rows in its base table, and a filter only takes rows away: stability 1 for the rows of one person.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import (
    BIGINT,
    NULL,
    STAR,
    at_most,
    call,
    case,
    cast,
    equal,
    left_join,
    less,
    minus,
    missing,
    named,
    num,
    own,
    own_table,
    ranked,
    select,
)
from confide.rows.cells.evaluate import holds, is_known, number_of
from confide.rows.cells.words import ordering
from confide.rows.relational.table_rows import Scope, judged, table_rows
from confide.tables.expression import ColumnOf, Expression, QualityOf, ValueOf
from confide.tables.filter import Predicate, expressions, sources
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import Relation, check, domain
from confide.tables.schema import Kind, Table


def relation_rows(
    scope: Scope,
    relation: Relation,
    *,
    reads: Sequence[Expression],
    known: Iterable[Expression],
    ordered: bool,
    carried: Sequence[str] = (),
) -> exp.Select:
    """Return the rows of a relation: ``p``, what orders them, and ``e0, e1, …`` of ``reads``.

    Rows in which one of ``known`` is NULL are left out, before any bounding.  The relation was
    checked by ``tables`` before.

    Args:
        scope: What the query can name.
        relation: Which rows.
        reads: Expressions to evaluate.
        known: Expressions that no row may lack.
        ordered: Whether to return ``h`` and the words ``k0, k1, …``.
        carried: Columns of the base table to return as they are.

    Raises:
        ContractError: If a table does not fit the source.
    """
    base = scope.dataset.table(relation.table)

    def find(read: ColumnOf | ValueOf | QualityOf) -> exp.Expr:
        return _found(scope, read, base)

    def value(expression: Expression) -> exp.Expr:
        return number_of(expression, of=find, dataset=scope.dataset)

    known = tuple(dict.fromkeys(known))
    columns = [named(value(expression), f"e{i}") for i, expression in enumerate(reads)]
    if not scope.per_event:
        columns.append(own("p", "b"))
    elif not columns and not carried:
        columns.append(named(num(1), "row"))  # counting events reads no column
    if ordered:
        stored = scope.copies is None and base.name not in scope.clustered
        columns.extend(ordering(base, of="b", stored=stored))
        columns.extend(own(name, "b") for name in judged(base, scope.quality))
    columns.extend(own(name, "b") for name in carried)
    name = table_rows(scope, base, ordered=ordered)
    sides = _sides(scope, (*reads, *known, *expressions(relation.where)), base)
    return select(
        *columns,
        of=own_table(name, "b"),
        joins=[left_join(own_table(s), on=equal(own("p", s), own("p", "b"))) for s in sides],
        where=[
            holds(relation.where, of=find, dataset=scope.dataset),
            *(is_known(e, of=find, dataset=scope.dataset) for e in known),
        ],
    )


def _sides(scope: Scope, wanted: Iterable[Expression], base: Table) -> tuple[str, ...]:
    """Name everything to join: tables and values with one row per person."""
    names: dict[str, None] = {}
    for read in (read for expression in wanted for read in sources(expression)):
        match read:
            case ColumnOf(table=table):
                if table != base.name:
                    names[table_rows(scope, scope.dataset.table(table), ordered=True)] = None
            case ValueOf(name=name):
                names |= dict.fromkeys(_value_rows(scope, name))
            case _:
                assert_never(read)
    return tuple(names)


def _value_rows(scope: Scope, name: str) -> tuple[str, ...]:
    """Name the SELECTs of a per-patient value: ``p`` and ``v``, one row per person."""
    if name in scope.open_values:
        raise ContractError(f"Per-patient value {name!r} is defined by itself.")
    inner = replace(scope, open_values=(*scope.open_values, name))
    value = scope.dataset.value(name)
    if isinstance(value, DaysBetween):
        _date_value(scope, value.start)
        _date_value(scope, value.end)
        return (*_value_rows(inner, value.start), *_value_rows(inner, value.end))
    key = _value_name(scope, name)
    if key not in scope.named:
        scope.named[key] = _value_select(inner, value)
    return (key,)


def _value_select(scope: Scope, value: AtEnd | HasAny | CountOf) -> exp.Select:
    match value:
        case HasAny(table=table, where=where):
            return _per_person(scope, table, where, num(1))
        case CountOf(table=table, where=where, at_most=most):
            return _per_person(scope, table, where, call("least", exp.Count(this=STAR), num(most)))
        case AtEnd():
            return _at_end(scope, value)
        case _:
            assert_never(value)


def _per_person(scope: Scope, table: str, where: Predicate, v: exp.Expr) -> exp.Select:
    relation = Relation(table=table, where=where)
    check(relation, dataset=scope.dataset)
    rows = relation_rows(scope, relation, reads=(), known=(), ordered=False)
    return select(own("p"), named(cast(v, BIGINT), "v"), of=rows, by=[own("p")])


def _at_end(scope: Scope, value: AtEnd) -> exp.Select:
    """Take the first or last row by date; equal dates by keyed order, equal places by value."""
    by = ColumnOf(table=value.table, column=value.by)
    _refuse_unless_date(scope, by, f"`by` of per-patient value {value.name!r}")
    reads: tuple[Expression, ...] = (ColumnOf(table=value.table, column=value.column), by)
    known: tuple[Expression, ...] = (by,)
    earlier: list[exp.Expr] = []
    if value.before is not None:
        before = ValueOf(name=value.before)
        _date_value(scope, value.before)
        reads, known = (*reads, before), (*known, before)
        earlier = [less(own("e1"), own("e2"))]
    relation = Relation(table=value.table, where=value.where)
    check(relation, *reads, dataset=scope.dataset)
    rows = relation_rows(scope, relation, reads=reads, known=known, ordered=True)
    rows = select(STAR, of=rows, where=earlier)
    date = own("e1") if value.which is Which.FIRST else exp.Neg(this=own("e1"))
    numbered = select(STAR, ranked([date, own("h"), own("e0")], by=("p",)), of=rows)
    return select(own("p"), named(own("e0"), "v"), of=numbered, where=[at_most(own("rk"), num(1))])


def _date_value(scope: Scope, name: str) -> None:
    _refuse_unless_date(scope, ValueOf(name=name), f"Per-patient value {name!r}")


def _refuse_unless_date(scope: Scope, expression: Expression, what: str) -> None:
    if isinstance(expression, ValueOf) and expression.name in scope.open_values:
        raise ContractError(f"Per-patient value {expression.name!r} is defined by itself.")
    if domain(expression, dataset=scope.dataset).kind is not Kind.DATE:
        raise ContractError(f"{what} is not a date.")


def _found(scope: Scope, read: ColumnOf | ValueOf | QualityOf, base: Table) -> exp.Expr:
    """Return the canonical integer that a column or per-patient value has in a row."""
    match read:
        case ColumnOf(table=table, column=name):
            of = scope.dataset.table(table)
            index = [column.name for column in of.columns].index(name)
            side = "b" if table == base.name else table_rows(scope, of, ordered=True)
            return own(f"c{index}", side)
        case QualityOf(of=ColumnOf(column=name)):
            return own(f"q{[column.name for column in base.columns].index(name)}", "b")
        case ValueOf(name=name):
            value = scope.dataset.value(name)
            match value:
                case DaysBetween():
                    start = _found(scope, ValueOf(name=value.start), base)
                    return _days(start, _found(scope, ValueOf(name=value.end), base), value)
                case HasAny() | CountOf():
                    return call("coalesce", own("v", _value_name(scope, name)), num(0))
                case AtEnd():
                    return own("v", _value_name(scope, name))
                case _:
                    assert_never(value)
        case _:
            assert_never(read)


def _days(start: exp.Expr, end: exp.Expr, value: DaysBetween) -> exp.Expr:
    days = minus(end, start)
    return case(
        (missing(days), NULL),
        (less(days, num(value.lower)), num(value.lower)),
        (less(num(value.upper), days), num(value.upper)),
        default=days,
    )


def _value_name(scope: Scope, name: str) -> str:
    return f"v{[value.name for value in scope.dataset.per_patient].index(name)}"
