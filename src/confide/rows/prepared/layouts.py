"""What each prepared file holds, as one query over the source or over a file made before.

Columns are stored as narrow as their declared bounds allow.  Rows of a person are ordered by place
and then by the declared columns, NULL first: the order of the unprepared path, so that the same
rows are kept.  Clustered copies hold ``q0, q1, …`` too, how each cell was as it came; rows equal in
all columns are ordered by these.

*Privacy:* the dense patient index counts patients as they were met, so it depends on others; it
names persons inside the copies only, and nothing that is kept or summed depends on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from confide.rows.cells.build import (
    BIGINT,
    INT,
    NULL,
    STAR,
    TINYINT,
    aliased,
    at_most,
    case,
    cast,
    equal,
    left_join,
    minus,
    missing,
    named,
    num,
    own,
    plus,
    present,
    select,
    some,
    times,
)
from confide.rows.cells.keyed_order import LIMB, sixty_bits, with_place, with_point
from confide.rows.cells.stream import in_order
from confide.rows.cells.words import limbs, placed, stored_words
from confide.rows.copies.copies import MOST_RANKS, PLACES, Copies, parquet
from confide.rows.relational.table_rows import Scope, cleaned_rows, judged, person_ids
from confide.tables.schema import Kind, Table

NARROW = 2**31 - 1


def patient_index(tables: Sequence[Table], *, scope: Scope, known: exp.Table | None) -> exp.Select:
    """Return ``p`` (from 0), ``id`` and ``x`` (the point) of every patient of some tables.

    Args:
        tables: Declared tables that the source holds, at least one.
        scope: The source.
        known: An earlier index, whose patients keep their ``p``.
    """
    first, *others = (person_ids(scope, table) for table in tables)
    each: exp.Query = first
    for rows in others:
        each = exp.Union(this=each, expression=rows, distinct=False)
    met = select(named(own("p"), "id"), of=each, by=[own("p")])
    if known is None:
        numbered: exp.Query = select(own("id"), named(_position("id"), "p"), of=met)
    else:
        before = select(named(exp.Count(this=STAR), "n"), of=known)
        new = select(
            own("id", "q"),
            of=met,
            joins=[left_join(aliased(known, "b"), on=equal(own("id", "b"), own("id", "q")))],
            where=[missing(own("id", "b"))],
        )
        place = plus(_position("id"), exp.Subquery(this=before))
        numbered = exp.Union(
            this=select(own("id"), own("p"), of=known),
            expression=select(own("id"), named(place, "p"), of=new),
            distinct=False,
        )
    columns = [named(cast(own("p"), INT), "p"), own("id"), named(cast(own("x"), INT), "x")]
    pointed = with_point(select(STAR, of=numbered), person="id", ids=scope.layout.ids)
    return in_order(select(*columns, of=pointed), by=[own("p")])


def text_numbers(table: Table, *, column: int, scope: Scope) -> exp.Select:
    """Return ``id`` (from 0), ``text`` and ``t`` (60 bits of it), of every text of a column."""
    cell, alone = own("c0"), replace(table, columns=(table.columns[column],))
    met = select(
        named(cell, "text"),
        of=cleaned_rows(scope, alone),
        where=[present(cell)],
        by=[cell],
    )
    id_ = named(cast(_position("text"), INT), "id")
    rows = select(id_, own("text"), named(sixty_bits(own("text")), "t"), of=met)
    return in_order(select(STAR, of=rows), by=[own("id")])


def clustered_rows(
    table: Table, *, scope: Scope, patients: exp.Table | None, texts: Mapping[int, exp.Table]
) -> exp.Select:
    """Return the clustered copy of a table of the source, with the quality of its cells.

    Args:
        table: Declared table.
        scope: The source.
        patients: The index of :func:`patient_index`; None with the event as privacy unit.
        texts: Of :func:`text_numbers`, by column.
    """
    scope = replace(scope, quality=frozenset({table.name}))
    words = judged(table, scope.quality)
    qualities = [named(cast(own(word, "q"), TINYINT), word) for word in words]
    if patients is None:
        return select(*_columns(table, texts=()), *qualities, of=cleaned_rows(scope, table))
    hashes = [f"t{i}" for i in texts]
    joins = [exp.Join(this=aliased(patients, "i"), on=equal(own("id", "i"), own("p", "q")))]
    joins += [
        left_join(aliased(found, f"d{i}"), on=equal(own("text", f"d{i}"), own(f"c{i}", "q")))
        for i, found in texts.items()
    ]
    numbered = select(
        own("p", "i"),
        named(cast(own("x", "i"), BIGINT), "x"),
        *(
            named(own("id", f"d{i}"), f"c{i}") if i in texts else own(f"c{i}", "q")
            for i in range(len(table.columns))
        ),
        *(named(own("t", f"d{i}"), f"t{i}") for i in texts),
        *(own(word, "q") for word in words),
        of=cleaned_rows(scope, table),
        joins=joins,
    )
    worded = select(STAR, *stored_words(table, of="q"), of=numbered)
    names = [own("p"), own("x"), *map(own, [*_names(table), *hashes, *words])]
    keys = [own(f"k{i}") for i in range(len(stored_words(table, of="q")))]
    placed_ = select(*names, *keys, placed(table), of=with_place(worded, limbs(table, hashed=True)))
    kept = [
        own("p", "q"),
        named(cast(own("h", "q"), INT), "h"),
        named(cast(own("x", "q"), INT), "x"),
        *_columns(table, texts=texts),
        *(own(name, "q") for name in hashes),
        *qualities,
    ]
    place = named(plus(times(cast(own("p"), BIGINT), num(1 << LIMB)), own("h")), "o")
    packed = [named(word, f"w{i}") for i, word in enumerate(_packed_qualities(words))]
    ordered = in_order(
        select(*kept, of=select(STAR, place, *packed, of=placed_)),
        by=[own("o"), *keys, *(own(f"w{i}") for i in range(len(packed)))],
    )
    return _one_a_person(ordered) if table.one_row_per_patient else ordered


def _one_a_person(ordered: exp.Select) -> exp.Select:
    """Keep the first row of each person."""
    columns = [own(column.alias_or_name) for column in ordered.expressions]
    earlier = named(exp.Window(this=exp.Lag(this=own("p"), offset=num(1))), "earlier")
    new = exp.Paren(this=exp.NullSafeNEQ(this=own("earlier"), expression=own("p")))
    return select(*columns, of=select(*columns, earlier, of=ordered), where=[new])


def _packed_qualities(names: Sequence[str]) -> list[exp.Expr]:
    """Return integers that sort as the qualities do one by one, two bits for each."""
    found: list[exp.Expr] = []
    for start in range(0, len(names), LIMB):
        value: exp.Expr = num(0)
        for name in names[start : start + LIMB]:
            value = plus(times(value, num(4)), cast(own(name), BIGINT))
        found.append(value)
    return found


def rank_rows(table: Table, *, copies: Copies) -> exp.Select:
    """Return the rank projection of a table: the first rows of the patients without NULLs.

    The clustered copy is in order, so a rank is a place in it minus that of the patient's first.
    """
    joins, absent, _ = _partial(table, copies=copies)
    columns = ["p", *_dense(table)]
    place = exp.Window(this=exp.RowNumber())
    last = exp.Window(this=exp.Lag(this=own("p"), offset=num(1)))
    rows = select(
        *map(own, columns),
        named(place, "i"),
        named(last, "last"),
        of=parquet(copies.copy_of(table).clustered),
    )
    new = exp.Paren(this=exp.NullSafeNEQ(this=own("last"), expression=own("p")))
    so_far = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
    )
    start = exp.Window(this=exp.Max(this=case((new, own("i")), default=NULL)), spec=so_far)
    begun = select(*map(own, columns), own("i"), named(start, "first"), of=rows)
    rank = plus(minus(own("i"), own("first")), num(1))
    ranked = select(*map(own, columns), named(rank, "rk"), of=begun)
    k = plus(times(own("rk", "q"), num(PLACES)), own("p", "q"))
    first = select(
        named(k, "k"),
        *(own(name, "q") for name in _dense(table)),
        of=ranked,
        joins=joins,
        where=[absent, at_most(own("rk", "q"), num(MOST_RANKS))],
    )
    return in_order(select(STAR, of=first), by=[own("k")])


def partial_rows(table: Table, *, copies: Copies) -> exp.Select:
    """Return the clustered rows of the patients that the rank projection leaves out."""
    clustered = parquet(copies.copy_of(table).clustered, alias="q")
    joins, _, present = _partial(table, copies=copies)
    columns = ["p", "h", *_names(table)]
    rows = select(*(own(name, "q") for name in columns), of=clustered, joins=joins, where=[present])
    by = [own("p"), own("h"), *map(own, _names(table))]
    return in_order(select(STAR, of=rows), by=by)


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


def _names(table: Table) -> list[str]:
    return [f"c{i}" for i in range(len(table.columns))]


def _columns(table: Table, *, texts: Iterable[int]) -> list[exp.Expr]:
    """Return the columns as narrow as they are declared; those of ``texts`` are numbers."""
    columns: list[exp.Expr] = []
    numbers = set(texts)
    for index, column in enumerate(table.columns):
        cell: exp.Expr = own(f"c{index}", "q")
        if column.kind is not Kind.TEXT:
            domain = column.domain()
            if domain.lower >= -NARROW and domain.upper <= NARROW:
                cell = cast(cell, INT)
        elif index in numbers:
            cell = cast(cell, INT)
        columns.append(named(cell, f"c{index}"))
    return columns


def _dense(table: Table) -> list[str]:
    """Name the columns that are canonical integers."""
    return [f"c{i}" for i, column in enumerate(table.columns) if column.kind is not Kind.TEXT]


def _position(by: str) -> exp.Expr:
    window = exp.Window(
        this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered(this=own(by))])
    )
    return minus(window, num(1))
