"""What the steward should know about a source before it is used; never part of a release.

Findings look at rows, so they are for the steward alone: they go to the local screen, not to an
analyst, a log that leaves the site, a plan or a release.  They name declared tables and columns,
and hold no count and no value.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.build import STAR, aliased, call, named, own, select, string
from confide.rows.cells.by_code import conditions, source_rows
from confide.rows.cells.layout import Layout, source_names
from confide.rows.relational.table_rows import Scope, cleaned_rows, person_ids
from confide.tables.encoding import UNREADABLE
from confide.tables.schema import Dataset, Kind, Table


def findings(
    dataset: Dataset, *, layout: Layout, run: Callable[[exp.Query], list[tuple[Any, ...]]]
) -> tuple[str, ...]:
    """Return one sentence for each oddity of the source.

    Args:
        dataset: Public facts.
        layout: Where the tables lie.
        run: Runs one query.
    """
    found: list[str] = []
    for table in dataset.tables:
        problem = layout.problem(table, dataset=dataset)
        if problem:
            found.append(problem)
        else:
            found.extend(_of_table(table, dataset=dataset, layout=layout, run=run))
    return tuple(found)


def _of_table(
    table: Table,
    *,
    dataset: Dataset,
    layout: Layout,
    run: Callable[[exp.Query], list[tuple[Any, ...]]],
) -> list[str]:
    scope = Scope(dataset=dataset, layout=layout)
    counts = [named(exp.Count(this=own(f"c{i}")), f"n{i}") for i in range(len(table.columns))]
    rows = exp.Count(this=STAR)
    there, of_codes, read = narrowing(table, scope=scope, run=run)
    [(usable, *known)] = run(select(named(rows, "n"), *counts, of=cleaned_rows(scope, table)))
    name = f"Table {table.name!r}"
    found = []
    if unread_lines(table, scope=scope, run=run):
        found.append(
            f"{name} has lines with too few or too many fields; they are left out. confide prepare "
            "counts them."
        )
    if unreadable_rows(table, scope=scope, run=run):
        found.append(
            f"{name} has text that is not {table.encoding.value.upper()}, or was damaged before: "
            f"{UNREADABLE} stands in it, and rows with one in their person id are left out."
        )
    if there == 0:
        return [*found, f"{name} is empty."]
    if of_codes == 0:
        return [*found, f"{name}: no row has one of its codes."]
    if read < of_codes:
        found.append(
            f"{name} has rows in a unit that is not read, or without one; they are left out."
        )
    if usable < read:
        found.append(f"{name} has rows without a usable person id; they are left out.")
    for column, count in zip(table.columns, known, strict=True):
        if count == 0 and usable > 0:
            what = "text" if column.kind is Kind.TEXT else f"{column.kind.value} as declared"
            found.append(f"{name}: column {column.name!r} holds no {what} in any row.")
    if not scope.per_event:
        each = select(named(rows, "n"), of=cleaned_rows(scope, table), by=[own("p")])
        [(most,)] = run(select(named(exp.Max(this=own("n")), "m"), of=each))
        if table.one_row_per_patient and (most or 0) > 1:
            found.append(
                f"{name} has several rows for some patients; the first in keyed order stays."
            )
    return found


def narrowing(
    table: Table, *, scope: Scope, run: Callable[[exp.Query], list[tuple[Any, ...]]]
) -> tuple[int, int, int]:
    """Return how many rows the source has, how many with the codes of a table, how many are read.

    What the last two differ by is left out for its unit.  Rows of who withdrew consent are in none.
    """
    of_codes = replace(table, columns=())
    whole = replace(of_codes, only=(), without=())
    there, coded, read = (_there(part, scope=scope, run=run) for part in (whole, of_codes, table))
    return there, coded, read


def unread_lines(
    table: Table, *, scope: Scope, run: Callable[[exp.Query], list[tuple[Any, ...]]]
) -> int:
    """Return how many lines of a table's CSV files are no rows of it: that is the lines' own form.

    They have too few or too many fields.
    """
    located, count = scope.layout.located(table), named(exp.Count(this=STAR), "n")
    if located.lines is None:
        return 0
    [(lines,)], [(rows,)] = (
        run(select(count, of=aliased(each, "s"))) for each in (located.lines, located.relation)
    )
    return int(lines) - int(rows)


def unreadable_rows(
    table: Table, *, scope: Scope, run: Callable[[exp.Query], list[tuple[Any, ...]]]
) -> int:
    """Return how many rows of CSV files hold text of a declared column that cannot be read."""
    located = scope.layout.located(table)
    declared = source_names(table, dataset=scope.dataset)
    texts = {each for name in declared if (each := located.columns.get(name)) is not None}
    cells = [
        call("contains", own(each.name), string(UNREADABLE))
        for each in sorted(texts, key=lambda each: each.name)
        if each.broken == UNREADABLE
    ]
    if not cells:
        return 0
    count = named(exp.Count(this=STAR), "n")
    [(rows,)] = run(select(count, of=aliased(located.relation, "s"), where=[exp.or_(*cells)]))
    return int(rows)


def _there(table: Table, *, scope: Scope, run: Callable[[exp.Query], list[tuple[Any, ...]]]) -> int:
    count, located = named(exp.Count(this=STAR), "n"), scope.layout.located(table)
    kept = conditions(table, located=located)
    of_units = replace(table, columns=tuple(c for c in table.columns if c.units is not None))
    [(there,)] = run(select(count, of=source_rows(of_units, located=located), where=kept))
    if not scope.layout.withdrawn:
        return int(there)
    persons = replace(scope.dataset, unit=replace(scope.dataset.unit, entity=Entity.PATIENT))
    scope = replace(scope, dataset=persons)  # a row is left out for its person, whatever the unit
    everybody = replace(scope, layout=replace(scope.layout, withdrawn=False))
    [(usable,)], [(consenting,)] = (
        run(select(count, of=person_ids(each, table))) for each in (everybody, scope)
    )
    return int(there) - (int(usable) - int(consenting))
