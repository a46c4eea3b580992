"""Declared tables, per-patient values and relations as SELECTs over canonical integers.

Names of the data appear only as quoted identifiers of the innermost SELECT; above it every name is
ours: ``p`` the person, ``c0, c1, …`` the declared columns, ``h`` the place in the keyed order.

*Privacy:* what is joined has at most one row per person because it is reduced to one, by keyed
order or by GROUP BY, never because someone looked: a fact of these data says nothing of their
neighbour.  So the rows of a person in a relation are at most their rows in its base table.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.clean import MOST_CASES, canonical, codes, integer, looked_up, parsed, person
from confide.rows.evaluate import holds, number_of
from confide.rows.keyed_order import limbs_of, limbs_of_text, place, point
from confide.rows.layout import Layout
from confide.rows.names import own, own_table, ranked, sub
from confide.tables.expression import ColumnOf, Expression, ValueOf
from confide.tables.filter import Predicate, expressions, sources
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import Relation, check, domain
from confide.tables.schema import Column, Dataset, Kind, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one query can name; its common table expressions are collected in order.

    Attributes:
        dataset: Public facts.
        layout: Where the tables lie.
        named: Common table expressions by name, in order of use.
        open_values: Per-patient values being compiled, to refuse circles.
    """

    dataset: Dataset
    layout: Layout
    named: dict[str, exp.Query] = field(default_factory=dict)
    open_values: tuple[str, ...] = ()

    @property
    def per_event(self) -> bool:
        """Whether the row itself is the privacy unit, so that no person is read."""
        return self.of_events(self.dataset)

    @staticmethod
    def of_events(dataset: Dataset) -> bool:
        """Return whether the row itself is the privacy unit."""
        return dataset.unit.entity is Entity.EVENT


def relation_rows(
    scope: Scope,
    relation: Relation,
    *,
    reads: Sequence[Expression],
    known: Iterable[Expression],
    ordered: bool,
) -> exp.Select:
    """Return the rows of a relation: ``p``, ``h`` when ordered, and ``e0, e1, …`` of ``reads``.

    Rows in which one of ``known`` is NULL are left out, before any bounding.

    The relation was checked by ``tables`` before.

    Raises:
        ContractError: If the relation does not fit the source.
    """
    known = tuple(known)
    base = scope.dataset.table(relation.table)
    wanted = (*reads, *known, *expressions(relation.where))
    name = table_rows(scope, base, ordered=ordered)
    query = exp.select().from_(exp.alias_(own_table(name), "b", quoted=True))
    for index, expression in enumerate(reads):
        value = number_of(expression, of=lambda e: _ref(scope, e, base), dataset=scope.dataset)
        query = query.select(exp.alias_(value, f"e{index}", quoted=True))
    if not scope.per_event:
        query = query.select(own("p", "b"))
    if ordered:
        query = query.select(own("h", "b"))
    for side in _sides(scope, wanted, base):
        on = own("p", side).eq(own("p", "b"))
        query = query.join(own_table(side), on=on, join_type="left", copy=False)
    parts = [
        holds(relation.where, of=lambda e: _ref(scope, e, base), dataset=scope.dataset),
        *(
            number_of(e, of=lambda e: _ref(scope, e, base), dataset=scope.dataset)
            .is_(exp.null())
            .not_()
            for e in dict.fromkeys(known)
        ),
    ]
    return query.where(*parts, copy=False)


def table_rows(scope: Scope, table: Table, *, ordered: bool) -> str:
    """Name the cleaned rows of a table, reduced to one per person where that is declared."""
    reduced = table.one_row_per_patient and not scope.per_event
    number = [t.name for t in scope.dataset.tables].index(table.name)
    name = f"t{number}" + ("o" if ordered or reduced else "")
    if name not in scope.named:
        rows = _cleaned(scope, table)
        if ordered or reduced:
            rows = _placed(scope, table, rows)
        if reduced:
            keys = [own("h"), *(own(f"c{i}") for i in range(len(table.columns)))]
            numbered = exp.select(exp.Star(), ranked(keys, by=("p",))).from_(sub(rows))
            rows = exp.select(exp.Star()).from_(sub(numbered)).where(own("rk").eq(integer(1)))
        scope.named[name] = rows
    return name


def _cleaned(scope: Scope, table: Table) -> exp.Select:
    """Return ``p`` and ``c0, c1, …``; rows without a usable person id are quarantined."""
    located = scope.layout.located(table)
    raw: list[exp.Expr] = []
    clean: list[exp.Expr] = []
    joins: list[tuple[str, Column, exp.Expr]] = []
    value: exp.Expr
    if not scope.per_event:
        found = scope.layout.id_of(table, dataset=scope.dataset)
        identity = person(_source(found.name), found=found, ids=scope.layout.ids)
        raw.append(exp.alias_(identity, "p", quoted=True))
        clean.append(own("p", "r"))
    for index, column in enumerate(table.columns):
        found = located.columns[column.source]
        read = parsed(_source(found.name), column=column, physical=found.physical)
        raw.append(exp.alias_(read, f"r{index}", quoted=True))
        cell: exp.Expr = own(f"r{index}", "r")
        if column.kind is Kind.CATEGORY and len(column.codes) > MOST_CASES:
            joins.append((f"l{index}", column, cell))
            value = looked_up(cell, index=own("i", f"l{index}"), column=column)
        else:
            value = canonical(cell, column=column)
        clean.append(exp.alias_(value, f"c{index}", quoted=True))
    source_rows = exp.select(*raw).from_(exp.alias_(located.relation.copy(), "s", quoted=True))
    query = exp.select(*clean).from_(sub(source_rows, "r"))
    for name, column, cell in joins:
        on = own("t", name).eq(cell.copy())
        query = query.join(_codes(column, name), on=on, join_type="left", copy=False)
    if scope.per_event:
        return query
    return query.where(own("p", "r").is_(exp.null()).not_())


def _codes(column: Column, name: str) -> exp.Expr:
    pairs = [
        exp.Tuple(expressions=[exp.Literal.string(code), integer(index)])
        for code, index in codes(column)
    ]
    alias = exp.TableAlias(
        this=exp.to_identifier(name, quoted=True),
        columns=[exp.to_identifier(c, quoted=True) for c in ("t", "i")],
    )
    return exp.Values(expressions=pairs, alias=alias)


def _placed(scope: Scope, table: Table, rows: exp.Select) -> exp.Select:
    """Add ``h``, the place in the keyed order over all declared columns."""
    limbs: list[exp.Expr] = []
    for index, column in enumerate(table.columns):
        cell = own(f"c{index}")
        if column.kind is Kind.TEXT:
            limbs.extend(limbs_of_text(cell))
        else:
            of = column.domain()
            limbs.extend(limbs_of(cell, lower=of.lower, upper=of.upper))
    at = exp.alias_(point(own("p"), ids=scope.layout.ids), "x", quoted=True)
    with_point = exp.select(exp.Star(), at).from_(sub(rows))
    h = exp.alias_(place(limbs, at=own("x")), "h", quoted=True)
    return exp.select(exp.Star(), h).from_(sub(with_point))


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
    inner = Scope(
        dataset=scope.dataset,
        layout=scope.layout,
        named=scope.named,
        open_values=(*scope.open_values, name),
    )
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
            return _per_person(scope, table, where, integer(1))
        case CountOf(table=table, where=where, at_most=at_most):
            count = exp.func("least", exp.Count(this=exp.Star()), integer(at_most))
            return _per_person(scope, table, where, count)
        case AtEnd():
            return _at_end(scope, value)
        case _:
            assert_never(value)


def _per_person(scope: Scope, table: str, where: Predicate, v: exp.Expr) -> exp.Select:
    relation = Relation(table=table, where=where)
    check(relation, dataset=scope.dataset)
    rows = relation_rows(scope, relation, reads=(), known=(), ordered=False)
    query = exp.select(own("p"), exp.alias_(exp.cast(v, "bigint"), "v", quoted=True))
    return query.from_(sub(rows)).group_by(own("p"))


def _at_end(scope: Scope, value: AtEnd) -> exp.Select:
    """Take the first or last row by date; equal dates by keyed order, equal places by value."""
    by = ColumnOf(table=value.table, column=value.by)
    _refuse_unless_date(scope, by, f"`by` of per-patient value {value.name!r}")
    reads: tuple[Expression, ...] = (ColumnOf(table=value.table, column=value.column), by)
    known: tuple[Expression, ...] = (by,)
    if value.before is not None:
        _date_value(scope, value.before)
        reads = (*reads, ValueOf(name=value.before))
        known = (by, ValueOf(name=value.before))
    relation = Relation(table=value.table, where=value.where)
    check(relation, *reads, dataset=scope.dataset)
    rows = exp.select(exp.Star()).from_(
        sub(relation_rows(scope, relation, reads=reads, known=known, ordered=True))
    )
    if value.before is not None:
        rows = rows.where(own("e1") < own("e2"))
    date = own("e1") if value.which is Which.FIRST else exp.Neg(this=own("e1"))
    numbered = exp.select(own("p"), own("e0"), ranked([date, own("h"), own("e0")], by=("p",)))
    numbered = numbered.from_(sub(rows))
    query = exp.select(own("p"), exp.alias_(own("e0"), "v", quoted=True))
    return query.from_(sub(numbered)).where(own("rk").eq(integer(1)))


def _date_value(scope: Scope, name: str) -> None:
    _refuse_unless_date(scope, ValueOf(name=name), f"Per-patient value {name!r}")


def _refuse_unless_date(scope: Scope, expression: Expression, what: str) -> None:
    value = expression
    if isinstance(value, ValueOf) and value.name in scope.open_values:
        raise ContractError(f"Per-patient value {value.name!r} is defined by itself.")
    if domain(expression, dataset=scope.dataset).kind is not Kind.DATE:
        raise ContractError(f"{what} is not a date.")


def _ref(scope: Scope, expression: ColumnOf | ValueOf, base: Table) -> exp.Expr:
    """Return the canonical integer that a column or per-patient value has in a row."""
    match expression:
        case ColumnOf(table=table, column=name):
            of = scope.dataset.table(table)
            index = [column.name for column in of.columns].index(name)
            side = "b" if table == base.name else table_rows(scope, of, ordered=True)
            return own(f"c{index}", side)
        case ValueOf(name=name):
            value = scope.dataset.value(name)
            match value:
                case DaysBetween():
                    start = _ref(scope, ValueOf(name=value.start), base)
                    return _days(start, _ref(scope, ValueOf(name=value.end), base), value)
                case HasAny() | CountOf():
                    of_person = own("v", _value_name(scope, name))
                    return exp.func("coalesce", of_person, integer(0))
                case AtEnd():
                    return own("v", _value_name(scope, name))
                case _:
                    assert_never(value)


def _days(start: exp.Expr, end: exp.Expr, value: DaysBetween) -> exp.Expr:
    days = exp.paren(end - start)
    return exp.paren(
        exp.Case()
        .when(days.is_(exp.null()), exp.null())
        .when(days < integer(value.lower), integer(value.lower))
        .when(days > integer(value.upper), integer(value.upper))
        .else_(days.copy())
    )


def _value_name(scope: Scope, name: str) -> str:
    return f"v{[value.name for value in scope.dataset.per_patient].index(name)}"


def _source(name: str) -> exp.Column:
    return own(name, "s")
