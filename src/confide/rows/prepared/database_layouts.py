"""What each table of prepared copies in PostgreSQL holds, as one query over the source.

Columns are stored as narrow as their declared bounds allow.  A person's rows are in the order of
the unprepared path: place, then the declared columns, NULL first, then how the cells were.  A rank
among all rows of a person is right for whoever has no NULL; the others have none, and a table of
their own, as in files (:mod:`confide.rows.prepared.layouts`).
"""

from dataclasses import replace

from sqlglot import exp

from confide.rows.cells.build import (
    INT,
    NULL,
    SMALLINT,
    STAR,
    call,
    case,
    cast,
    missing,
    named,
    own,
    ranked,
    select,
    some,
)
from confide.rows.cells.keyed_order import LIMB
from confide.rows.cells.operations import written
from confide.rows.cells.stream import in_order
from confide.rows.cells.words import order_of
from confide.rows.copies.clustered import RANK
from confide.rows.dialects.postgres import ConfidePostgres
from confide.rows.prepared.layouts import NARROW
from confide.rows.relational.person_rows import relation_rows
from confide.rows.relational.table_rows import Scope, judged
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind, Table

_LACKING = "lacking"


def rows_in_order(table: Table, *, scope: Scope) -> exp.Select:
    """Return the rows of a table of the source as copies hold them, in order, with their ranks."""
    scope = replace(scope, quality=frozenset({table.name}), named={})
    columns = [f"c{i}" for i in range(len(table.columns))]
    qualities = judged(table, scope.quality)
    placed = relation_rows(
        scope,
        Relation(table=table.name),
        reads=(),
        known=(),
        ordered=True,
        carried=(*columns, "x"),
    )
    order = [own(name) for name in (*order_of(table), *qualities)]
    dense = [
        missing(own(name))
        for name, column in zip(columns, table.columns, strict=True)
        if column.kind is not Kind.TEXT
    ]
    lacks = call("bool_or", some(*dense)) if dense else call("bool_or", exp.false())
    lacking = named(exp.Window(this=lacks, partition_by=[own("p")]), _LACKING)
    with_ranks = select(STAR, ranked(order, by=("p",)), lacking, of=placed)
    rank = case((own(_LACKING), NULL), default=cast(own("rk"), INT))
    kept: list[exp.Expr] = [own("p"), named(rank, RANK)]  # first, where little is read before
    for name, column in zip(columns, table.columns, strict=True):
        kept.append(named(cast(own(name), INT), name) if _is_narrow(column) else own(name))
    kept += [named(cast(own(name), INT), name) for name in ("h", "x")]
    kept += [named(cast(own(name), SMALLINT), name) for name in qualities]
    query = select(*kept, of=in_order(with_ranks, by=[own("p"), *order]))
    front = [
        exp.CTE(this=part, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        for name, part in scope.named.items()
    ]
    query.set("with_", exp.With(expressions=front))
    return query


def rows_without_rank(rows: exp.Table) -> exp.Select:
    """Return the rows of a copy that have no rank, as they lie."""
    return select(STAR, of=rows, where=[missing(own(RANK))])


def checks(table: Table, *, copy: exp.Table) -> str:
    """Return the statement that holds every number of a copy to its declared domain, for good."""
    limits = {"h": (0, 2**LIMB - 1), "x": (0, 2**LIMB - 1)}
    must = ["p", "h", "x"]
    for i, column in enumerate(table.columns):
        limits[f"q{i}"] = (0, 3)
        must.append(f"q{i}")
        if column.kind is not Kind.TEXT:
            domain = column.domain()
            limits[f"c{i}"] = (domain.lower, domain.upper)
    held = [f'"{name}" IS NOT NULL' for name in must]
    held += [f'"{name}" BETWEEN {low} AND {high}' for name, (low, high) in limits.items()]
    text = written(copy, dialect=ConfidePostgres)
    return f"ALTER TABLE {text} " + ", ".join(f"ADD CHECK ({check})" for check in held)


def _is_narrow(column: Column) -> bool:
    if column.kind is Kind.TEXT:
        return False
    domain = column.domain()
    return domain.lower >= -NARROW and domain.upper <= NARROW
