"""The query of a table as a relation: the table, an UNNEST a level, then columns and conditions."""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.build import aliased, call, named, own, select
from confide.rows.cells.layout import id_column
from confide.rows.cells.physical import COMPUTED
from confide.rows.sources.row_expressions import (
    EXPRESSIONS,
    Describe,
    RowScope,
    RowValue,
    condition,
    value_of,
)
from confide.rows.sources.row_query import ListOf, RowQuery, refused, shown
from confide.tables.schema import Dataset, Table

_LIST = "UNNEST reads a list: a column of lists, or json -> '$.entry[*]' with [*] at its end."

_ALONE = frozenset({Entity.EVENT, Entity.EDGE})
"""Units of which each row of the source is one."""


def relation_of(
    query: RowQuery,
    *,
    table: Table,
    dataset: Dataset,
    base: exp.Table,
    columns: Mapping[str, str],
    describe: Describe,
) -> exp.Table:
    """Return the query of a table as a relation that SQL can name.

    *Privacy:* let f be the query.  f(rows) is the union of f({row}) over the rows of one table,
    because nothing here looks at two rows, and the person id is a value of the row without its
    lists, which no function has changed, so all of f({row}) is one person's.  Hence f(D without
    p's rows) is f(D) without p's rows: neighbours of the source are neighbours of the table, and
    what is bound on the latter's rows bounds a patient as in any other source.  With the event or
    the contact as privacy unit, one row of the source would be several units, so there are no
    lists.

    Args:
        query: Its form.
        table: As declared.
        dataset: Public facts.
        base: The table of the source.
        columns: Its columns by name, with their types.
        describe: The engine's binder.

    Raises:
        ContractError: If a part of it is not one that is known to be total and of one row.
    """
    if query.lists and dataset.unit.entity in _ALONE:
        hint = "Read one row for each row, or protect the patient: protects: {unit: patient}."
        raise refused(table, f"has UNNEST under unit: {dataset.unit.entity.value}", hint=hint)
    read = _read(query, columns=columns, table=table)
    within = {query.alias.lower(): {name.lower(): name for name in read}}
    level = aliased(base, "q")
    scope = row = RowScope(table=table, level=level, describe=describe, within=within)
    lists: list[exp.Expr] = []
    for each in query.lists:
        _require_apart(each, scope=scope, columns=columns)
        _require_inside(each, scope=scope)
        of = value_of(each.of, scope=scope)
        if not of.type_name.endswith("]"):
            raise refused(table, f"unnests {shown(each.of)}, which is no list", hint=_LIST)
        lists.append(of.of)
        element = f"element {len(lists)}"
        scope = RowScope(
            table=table,
            level=select(named(call("unnest", of.of), element), of=scope.level),
            describe=describe,
            within={each.alias.lower(): {each.name.lower(): element}},
            outer=(*scope.outer, scope),
        )
    elements = frozenset(n.lower() for each in query.lists for n in (each.alias, each.name))
    ids = {name.lower() for name in (id_column(table, dataset=dataset), table.other_id)}
    made = []
    for name, written in query.columns:
        if name.lower() in ids:
            _require_found(written, table=table)
            value = _column(written, scope=replace(row, elements=elements, of_id=True))
            value = row.carry(value) if lists else value
        else:
            value = _column(written, scope=scope)
        made.append(named(value.of, name))
    where = [] if query.where is None else [condition(query.where, scope=scope)]
    origin = _levels(lists, scopes=(*scope.outer, scope))
    return exp.Table(this=exp.Paren(this=select(*made, of=origin, where=where)))


def _levels(lists: list[exp.Expr], *, scopes: tuple[RowScope, ...]) -> exp.Query | exp.Table:
    """Return the table with a row for each element: of what lies further out, only what is read.

    All names are ours, so that none of the source's is taken for one of them.
    """
    level = scopes[0].level
    before: list[str] = []
    for number, (of, scope) in enumerate(zip(lists, scopes[:-1], strict=True), start=1):
        here = [named(value, name) for name, value in scope.carried.items()]
        kept = [named(own(name, "q"), name) for name in before]
        level = select(*kept, *here, named(of, "list"), of=level)
        before += scope.carried
        kept = [named(own(name, "q"), name) for name in before]
        element = named(call("unnest", own("list", "q")), f"element {number}")
        level = select(*kept, element, of=level)
    return level


def _require_apart(each: ListOf, *, scope: RowScope, columns: Mapping[str, str]) -> None:
    """Refuse a name that something else in the query has."""
    scopes = (*scope.outer, scope)
    aliases = {alias for one in scopes for alias in one.within}
    names = {name for one in scope.outer for known in one.within.values() for name in known}
    names |= {name for known in scope.within.values() for name in known}
    names |= {name.lower() for name in columns}
    if each.name.lower() in names or each.alias.lower() in aliases:
        hint = "Give each list and element a name that nothing else in the query has."
        raise refused(scope.table, f"uses the name {each.name!r} twice", hint=hint)


def _require_inside(each: ListOf, *, scope: RowScope) -> None:
    """Refuse a list that does not lie within the element before it.

    The rows of two lists that lie side by side are as many as their lengths multiplied: one
    patient's cell could hold so many that the query ends for nobody.
    """
    of = each.of
    while isinstance(of, exp.Paren | exp.Dot | exp.JSONExtract | exp.JSONExtractScalar):
        of = of.this
    if not isinstance(of, exp.Column):
        raise refused(scope.table, f"unnests {shown(each.of)}, which is no list", hint=_LIST)
    if scope.further_out(each.of) is not None:
        hint = (
            "Each UNNEST reads a list within the element of the one before it, so that a row of "
            "the source makes no more rows than it holds elements. Read another list by a place, "
            "'$.category[0].code', or in a table of its own."
        )
        raise refused(scope.table, f"unnests {shown(each.of)} beside another list", hint=hint)


def _require_found(written: exp.Expr, *, table: Table) -> None:
    """Refuse an id that is more than a value of the row with a fixed text before or after it.

    Two persons whom a function makes one would share one patient's bounds, and each could move an
    answer further than a patient may.
    """
    match written:
        case exp.Column() | exp.Dot():
            return
        case exp.Paren() | exp.JSONExtract() | exp.JSONExtractScalar():
            _require_found(written.this, table=table)
        case exp.DPipe(this=exp.Literal(), expression=other):
            _require_found(other, table=table)
        case exp.DPipe(this=other, expression=exp.Literal()):
            _require_found(other, table=table)
        case _:
            hint = (
                "An id is a column, a field or ->> of one, and may have a fixed text before or "
                "after it, so that no two persons become one: 'Patient/' || id."
            )
            raise refused(table, f"makes a person id by {shown(written)}", hint=hint)


def _read(query: RowQuery, *, columns: Mapping[str, str], table: Table) -> list[str]:
    """Return the columns of the source that the query may name."""
    parts: set[str] = set()
    written = [*(each.of for each in query.lists), *(each for _, each in query.columns)]
    for each in (*written, *([] if query.where is None else [query.where])):
        for column in each.find_all(exp.Column):
            parts |= {part.name.lower() for part in column.parts}
    read = [name for name in columns if name.lower() in parts]
    for name in read:
        if columns[name] == COMPUTED:
            hint = "Store its values as a column."
            raise refused(
                table, f"reads {name!r}, which is computed whenever it is read", hint=hint
            )
    if not read:
        raise refused(table, "reads no column of its table", hint=EXPRESSIONS)
    return read


def _column(written: exp.Expr, *, scope: RowScope) -> RowValue:
    """Return what a column of the query is: no JSON and no list, which no kind reads."""
    value = value_of(written, scope=scope)
    if value.type_name == "JSON":
        hint = "Write json ->> '$.path' for the text of a value; json ->> '$' for that of all."
        raise refused(scope.table, f"gives JSON for {shown(written)}", hint=hint)
    if value.type_name.endswith("]"):
        hint = "Write UNNEST(list) AS e(element) after FROM, or a place: '$.coding[0].code'."
        raise refused(scope.table, f"gives a list for {shown(written)}", hint=hint)
    return value
