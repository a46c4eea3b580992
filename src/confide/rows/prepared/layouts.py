"""What each prepared file holds, as one query over the source or over a file made before.

Columns are stored as narrow as their declared bounds allow.  Rows of a person are ordered by place
and then by the declared columns, NULL first: the order of the unprepared path, so that the same
rows are kept.  Clustered copies hold ``q0, q1, …`` too, how each cell was as it came; rows equal in
all columns are ordered by these.

*Privacy:* the dense patient index counts patients as they were met, so it depends on others; it
names persons inside the copies only, and nothing that is kept or summed depends on it.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from confide.rows.build import (
    INT,
    STAR,
    TINYINT,
    aliased,
    at_most,
    cast,
    equal,
    left_join,
    minus,
    missing,
    named,
    num,
    own,
    plus,
    ranked,
    select,
    some,
    times,
)
from confide.rows.keyed_order import with_point
from confide.rows.prepared.copies import MOST_RANKS, PLACES, Copies, parquet
from confide.rows.stream import in_order
from confide.rows.table_rows import Scope, cleaned_rows, judged, table_rows
from confide.tables.schema import Kind, Table

NARROW = 2**31 - 1


def patient_index(tables: Sequence[Table], *, scope: Scope, known: exp.Table | None) -> exp.Select:
    """Return ``p`` (from 0), ``id`` and ``x`` (the point) of every patient of some tables.

    Args:
        tables: Declared tables that the source holds, at least one.
        scope: The source.
        known: An earlier index, whose patients keep their ``p``.
    """
    first, *others = (select(own("p"), of=cleaned_rows(scope, table)) for table in tables)
    each: exp.Query = first
    for rows in others:
        each = exp.Union(this=each, expression=rows, distinct=False)
    met = select(named(own("p"), "id"), of=each, by=[own("p")])
    if known is None:
        numbered: exp.Query = select(own("id"), named(_position(), "p"), of=met)
    else:
        before = select(named(exp.Count(this=STAR), "n"), of=known)
        new = select(
            own("id", "q"),
            of=met,
            joins=[left_join(aliased(known, "b"), on=equal(own("id", "b"), own("id", "q")))],
            where=[missing(own("id", "b"))],
        )
        place = plus(_position(), exp.Subquery(this=before))
        numbered = exp.Union(
            this=select(own("id"), own("p"), of=known),
            expression=select(own("id"), named(place, "p"), of=new),
            distinct=False,
        )
    columns = [named(cast(own("p"), INT), "p"), own("id"), named(cast(own("x"), INT), "x")]
    pointed = with_point(select(STAR, of=numbered), person="id", ids=scope.layout.ids)
    return in_order(select(*columns, of=pointed), by=[own("p")])


def clustered_rows(table: Table, *, scope: Scope, patients: exp.Table | None) -> exp.Select:
    """Return the clustered copy of a table of the source, with the quality of its cells."""
    scope = replace(scope, quality=frozenset({table.name}))
    words = judged(table, scope.quality)
    qualities = [named(cast(own(word, "q"), TINYINT), word) for word in words]
    if patients is None:
        return select(*_columns(table), *qualities, of=cleaned_rows(scope, table))
    rows = scope.named[table_rows(scope, table, ordered=True)]
    joined = select(
        named(own("p", "i"), "p"),
        named(cast(own("h", "q"), INT), "h"),
        *_columns(table, of="q"),
        *qualities,
        of=rows,
        joins=[exp.Join(this=aliased(patients, "i"), on=equal(own("id", "i"), own("p", "q")))],
    )
    return _by_place(select(STAR, of=joined), table, then=words)


def rank_rows(table: Table, *, copies: Copies) -> exp.Select:
    """Return the rank projection of a table: the first rows of the patients without NULLs."""
    clustered = parquet(copies.copy_of(table).clustered, alias="q")
    joins, absent, _ = _partial(table, copies=copies)
    columns = [f"c{i}" for i in range(len(table.columns))]
    kept = select(
        *(own(name, "q") for name in ("p", "h", *columns)),
        of=clustered,
        joins=joins,
        where=[absent],
    )
    numbered = select(STAR, ranked([own("h"), *map(own, columns)], by=("p",)), of=kept)
    k = plus(times(own("rk"), num(PLACES)), own("p"))
    first = select(
        named(k, "k"),
        *map(own, _dense(table)),
        of=numbered,
        where=[at_most(own("rk"), num(MOST_RANKS))],
    )
    return in_order(select(STAR, of=first), by=[own("k")])


def partial_rows(table: Table, *, copies: Copies) -> exp.Select:
    """Return the clustered rows of the patients that the rank projection leaves out."""
    clustered = parquet(copies.copy_of(table).clustered, alias="q")
    joins, _, present = _partial(table, copies=copies)
    columns = ["p", "h", *(f"c{i}" for i in range(len(table.columns)))]
    rows = select(*(own(name, "q") for name in columns), of=clustered, joins=joins, where=[present])
    return _by_place(select(STAR, of=rows), table)


def incomplete_patients(table: Table, *, clustered: exp.Table) -> exp.Select:
    """Return the patients with a row that lacks a value."""
    lacking = [missing(own(name)) for name in _dense(table)]
    return select(own("p"), of=clustered, where=[some(*lacking)], by=[own("p")])


def _partial(table: Table, *, copies: Copies) -> tuple[list[exp.Join], exp.Expr, exp.Expr]:
    incomplete = incomplete_patients(table, clustered=parquet(copies.copy_of(table).clustered))
    aliased = exp.Subquery(
        this=incomplete, alias=exp.TableAlias(this=exp.to_identifier("n", quoted=True))
    )
    join = left_join(aliased, on=equal(own("p", "n"), own("p", "q")))
    absent = missing(own("p", "n"))
    return [join], absent, exp.Paren(this=exp.Not(this=absent))


def _by_place(rows: exp.Select, table: Table, *, then: Sequence[str] = ()) -> exp.Select:
    columns = [own(f"c{i}") for i in range(len(table.columns))]
    return in_order(rows, by=[own("p"), own("h"), *columns, *map(own, then)])


def _columns(table: Table, *, of: str = "q") -> list[exp.Expr]:
    columns: list[exp.Expr] = []
    for index, column in enumerate(table.columns):
        cell: exp.Expr = own(f"c{index}", of)
        if column.kind is not Kind.TEXT:
            domain = column.domain()
            if domain.lower >= -NARROW and domain.upper <= NARROW:
                cell = cast(cell, INT)
        columns.append(named(cell, f"c{index}"))
    return columns


def _dense(table: Table) -> list[str]:
    """Name the columns that are canonical integers."""
    return [f"c{i}" for i, column in enumerate(table.columns) if column.kind is not Kind.TEXT]


def _position() -> exp.Expr:
    window = exp.Window(
        this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered(this=own("id"))])
    )
    return minus(window, num(1))
