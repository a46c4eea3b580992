"""Declared tables as SELECTs over canonical integers, one row per person where that is declared.

Names of the data appear only as quoted identifiers of the innermost SELECTs
(:func:`confide.rows.cells.by_code.source_rows`); above them every name is ours: ``p`` the person,
``c0, c1, …`` the declared columns, ``h`` the place in the keyed order.

*Privacy:* "one row per patient" is enforced, never assumed: of several rows the first in keyed
order stays.  A fact of these data says nothing of their neighbour.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.cells.build import (
    BIGINT,
    STAR,
    at_most,
    cast,
    equal,
    left_join,
    missing,
    named,
    nested,
    num,
    own,
    own_table,
    present,
    ranked,
    select,
)
from confide.rows.cells.by_code import cell, conditions, is_blank, read_value, source_rows
from confide.rows.cells.clean import (
    canonical,
    canonical_number,
    listed,
    looked_up,
    nearest,
    person,
    quality,
)
from confide.rows.cells.identity import withdrawn_ids
from confide.rows.cells.keyed_order import with_place, with_point
from confide.rows.cells.layout import Layout
from confide.rows.cells.operations import Floor, operation
from confide.rows.cells.stream import Summed
from confide.rows.cells.words import limbs, placed, restored, stored_words
from confide.rows.copies.clustered import RANK, ClusteredTable
from confide.rows.copies.copies import Copies
from confide.tables.schema import Dataset, Kind, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one query can name; its common table expressions are collected in order.

    Attributes:
        dataset: Public facts.
        layout: Where the tables lie.
        copies: Prepared copies to read instead of the source, if there are.
        clustered: Tables of the same database that hold the cleaned rows of declared ones, in the
            order of person and place.
        ranked: Copies of which the ranks alone are read, by an engine without an order of rows.
        quality: Tables whose cells are also judged as they came.
        summed: By what the kept rows are added up.
        once: Whether the rows of the table that is streamed were sorted before.
        streams: Whether the engine hands rows on in the order in which they were sorted.
        stores: Whether it works a common table expression out once, however often it is named.
        named: Common table expressions by name, in order of use.
        open_values: Per-patient values being compiled, to refuse circles.
    """

    dataset: Dataset
    layout: Layout
    copies: Copies | None = None
    clustered: Mapping[str, ClusteredTable] = field(default_factory=dict)
    ranked: Copies | None = None
    quality: frozenset[str] = frozenset()
    summed: Summed = Summed.CELLS
    once: bool = False
    streams: bool = True
    stores: bool = True
    named: dict[str, exp.Query] = field(default_factory=dict)
    open_values: tuple[str, ...] = ()

    @property
    def per_event(self) -> bool:
        """Whether the row itself is the privacy unit, so that no person is read."""
        return self.dataset.unit.entity is Entity.EVENT


def table_name(dataset: Dataset, table: Table) -> str:
    """Return how queries call the rows of a declared table."""
    return f"t{[other.name for other in dataset.tables].index(table.name)}"


def table_rows(scope: Scope, table: Table, *, ordered: bool) -> str:
    """Name the cleaned rows of a table, with ``h`` and ``x`` when ordered or reduced.

    Raises:
        ContractError: If the table does not fit the source.
    """
    reduced = table.one_row_per_patient and not scope.per_event
    name = table_name(scope.dataset, table)
    if scope.copies is not None:
        if name not in scope.named:
            copies = copied(scope, table)
            scope.named[name] = copies.rows(table, judged=judged(table, scope.quality))
        return name
    if scope.once:
        scope.named[name] = _sorted_before(scope, table)
        return name
    if table.name in scope.clustered:
        if name not in scope.named:
            there = scope.clustered[table.name].rows
            scope.named[name] = clustered_before(scope, table, of=there)
        return name
    name += "o" if ordered or reduced else ""
    if name not in scope.named:
        rows = cleaned_rows(scope, table)
        if ordered or reduced:
            rows = _placed(scope, table, rows)
        if reduced:
            keys = [own("h"), *(own(f"c{i}") for i in range(len(table.columns)))]
            keys += map(own, judged(table, scope.quality))
            numbered = select(STAR, ranked(keys, by=("p",)), of=rows)
            rows = select(STAR, of=numbered, where=[at_most(own("rk"), num(1))])
        scope.named[name] = rows
    return name


def sorted_name(dataset: Dataset, table: Table) -> str:
    """Return how the rows of a table that were sorted for several statements are called."""
    return f"sorted {table_name(dataset, table)}"


def _sorted_before(scope: Scope, table: Table) -> exp.Select:
    """Return ``p`` and ``c0, c1, …`` in the order of :mod:`.sorted_once`."""
    rows = own_table(sorted_name(scope.dataset, table))
    return select(own("p"), *restored(table), of=rows)


def clustered_before(
    scope: Scope, table: Table, *, of: exp.Table, most: int | None = None
) -> exp.Select:
    """Return ``p``, ``c0, c1, …``, ``h`` and ``x`` of a table that holds them, in its order.

    Args:
        scope: Whose tables.
        table: Declared table.
        of: What holds its rows.
        most: The largest rank of a row that is returned, of those that have one; all rows if None.

    Raises:
        ContractError: If the source does not hold the declared table.
    """
    _require_there(scope, table)
    texts = {f"c{i}" for i, column in enumerate(table.columns) if column.kind is Kind.TEXT}
    names = [f"c{i}" for i in range(len(table.columns))]
    names += ["h", "x", *judged(table, scope.quality)]
    columns = [
        own(name) if name in texts else named(cast(own(name), BIGINT), name) for name in names
    ]
    ranked_ = [] if most is None else [at_most(own(RANK), num(most))]
    return select(own("p"), *columns, of=of, where=ranked_)


def copied(scope: Scope, table: Table) -> Copies:
    """Return the prepared copies, once the source holds a table as declared.

    Raises:
        ContractError: If it does not, or there are no copies.
    """
    _require_there(scope, table)
    if scope.copies is None:
        raise ContractError("There are no prepared copies.", hint="Run `confide prepare`.")
    return scope.copies


def _require_there(scope: Scope, table: Table) -> None:
    scope.layout.located(table)
    scope.layout.persons_of(table, dataset=scope.dataset)


def person_ids(scope: Scope, table: Table) -> exp.Select:
    """Return ``p`` of every row with a usable person id, looking at its codes and nothing else.

    Raises:
        ContractError: If the table does not fit the source.
    """
    scope.layout.located(table)
    of_units = tuple(column for column in table.columns if column.units is not None)
    return select(own("p"), of=cleaned_rows(scope, replace(table, columns=of_units)))


def cleaned_rows(scope: Scope, table: Table) -> exp.Select:
    """Return ``p`` and ``c0, c1, …`` of who consents: every row of a person comes through here.

    Of rows that have the codes and units of the table.  Those without a usable person id are
    quarantined; of a contact either end decides.  With the event as privacy unit ids are looked at
    once somebody withdrew consent, and no further.

    Raises:
        ContractError: If the table does not fit the source.
    """
    located = scope.layout.located(table)
    persons = scope.layout.persons_of(table, dataset=scope.dataset)
    raw: list[exp.Expr] = []
    clean: list[exp.Expr] = []
    joins: list[exp.Join] = []
    floors: list[exp.Expr] = []
    points: list[exp.Expr] = []
    usable: list[exp.Expr] = []
    for name, found in zip("pq", persons, strict=False):
        identity = named(person(cell(found), found=found, ids=scope.layout.ids), name)
        raw.append(identity)
        if not scope.per_event:
            clean.append(own(name, "r"))
        usable.append(present(own(name, "r")))
        if scope.layout.withdrawn:
            of_ids = source_rows(
                replace(table, columns=(), only=(), without=()), located=located, persons=[found]
            )
            ids = select(identity, of=of_ids)
            side = f"g{name}"
            gone = nested(withdrawn_ids(ids, of=name), side)
            joins.append(left_join(gone, on=equal(own(name, side), own(name, "r"))))
            usable.append(missing(own(name, side)))
    for index, column in enumerate(table.columns):
        found = located.columns[column.source]
        read = read_value(column, located=located)
        if table.name in scope.quality:
            blank = is_blank(column, located=located)
            word = quality(blank, value=read, column=column, physical=found.physical)
            raw.append(named(word, f"q{index}"))
            clean.append(own(f"q{index}", "r"))
        raw.append(named(read, f"r{index}"))
        given = own(f"r{index}", "r")
        if column.kind is Kind.NUMBER:
            floors.append(named(operation(Floor, own(f"r{index}")), f"f{index}"))
            points.append(named(nearest(own(f"r{index}"), floor=own(f"f{index}")), f"g{index}"))
            value = canonical_number(given, point=own(f"g{index}", "r"), column=column)
            clean.append(named(value, f"c{index}"))
            continue
        values = listed(column, physical=found.physical) if column.kind is Kind.CATEGORY else ()
        if values:
            side = f"l{index}"
            joins.append(left_join(_codes(values, side), on=equal(own("t", side), given)))
            value = looked_up(given, index=own("i", side), column=column)
        else:
            value = canonical(given, column=column, physical=found.physical)
        clean.append(named(value, f"c{index}"))
    there = source_rows(table, located=located, persons=persons, judged=table.name in scope.quality)
    rows = select(*raw, of=there, where=conditions(table, located=located))
    if points:  # level by level, so that nothing is computed twice
        rows = select(STAR, *points, of=select(STAR, *floors, of=rows))
    return select(*clean, of=rows, alias="r", joins=joins, where=usable)


def judged(table: Table, quality: frozenset[str]) -> tuple[str, ...]:
    """Name the columns ``q0, q1, …`` that say how the cells of a table were as they came.

    Rows of a person that are equal in all declared columns are ordered by all of them where one is
    asked for, as prepared copies are; rows equal in these too are interchangeable.
    """
    return tuple(f"q{i}" for i in range(len(table.columns))) if table.name in quality else ()


def _codes(values: Sequence[tuple[exp.Expr, int]], alias: str) -> exp.Expr:
    """Return a code list to join; its codes are distinct by construction."""
    pairs = [exp.Tuple(expressions=[code, num(index)]) for code, index in values]
    names = exp.TableAlias(
        this=exp.to_identifier(alias, quoted=True),
        columns=[exp.to_identifier(name, quoted=True) for name in ("t", "i")],
    )
    return exp.Values(expressions=pairs, alias=names)


def _placed(scope: Scope, table: Table, rows: exp.Select) -> exp.Select:
    """Add the words ``k0, k1, …`` and ``h``, the place in the keyed order of what they say."""
    words = stored_words(table, of="q")
    rows = with_point(select(STAR, *words, of=rows), person="p", ids=scope.layout.ids)
    columns = [own("p"), own("x"), *(own(f"c{i}") for i in range(len(table.columns)))]
    columns += [own(f"k{i}") for i in range(len(words))]
    columns += map(own, judged(table, scope.quality))
    return select(*columns, placed(table), of=with_place(rows, limbs(table)))
