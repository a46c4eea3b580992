"""Exact facts of a table, for the steward's eyes alone, read while its copies are prepared.

*Privacy:* never part of a plan, a policy, a release or a log that leaves the site.  A fact of these
data says nothing of their neighbour: that nobody has more than three rows today bounds nothing, so
no contribution bound is ever taken from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from confide.rows.cells.build import STAR, named, num, own, select
from confide.rows.copies.manifest import TableFacts
from confide.rows.engines.examine import narrowing, unread_lines, unreadable_rows
from confide.rows.prepared.layouts import incomplete_patients
from confide.rows.relational.table_rows import Scope, person_ids
from confide.tables.schema import Table


def met_elsewhere(
    facts: Sequence[TableFacts],
    *,
    scope: Scope,
    run: Callable[[exp.Query], list[tuple[Any, ...]]],
    clustered: Mapping[str, exp.Table],
) -> tuple[TableFacts, ...]:
    """Return facts with how many patients of a table have a row in another one too.

    Nobody, where two tables write the ids of the same patients differently.  Tables that are made
    of the same table of the source are no other ones: they hold the same ids.

    Raises:
        EngineError: If reading failed.
    """
    if scope.per_event:
        return tuple(facts)

    def patients(table: str) -> exp.Select:
        return select(own("p"), of=clustered[table], by=[own("p")])

    sources = {table.name: table.source for table in scope.dataset.tables}
    found = []
    for each in facts:
        source = sources[each.table]
        elsewhere = [other for other in facts if sources[other.table] != source]
        if not elsewhere:
            found.append(each)
            continue
        first, *rest = (patients(other.table) for other in elsewhere)
        others: exp.Query = first
        for other in rest:
            others = exp.Union(this=others, expression=other)
        both = exp.Intersect(this=patients(each.table), expression=select(own("p"), of=others))
        [(met,)] = run(select(named(exp.Count(this=STAR), "n"), of=both))
        found.append(replace(each, elsewhere=met))
    return tuple(found)


def table_facts(
    table: Table,
    *,
    scope: Scope,
    run: Callable[[exp.Query], list[tuple[Any, ...]]],
    clustered: exp.Table,
) -> TableFacts:
    """Return the facts of one table.

    Raises:
        EngineError: If reading failed.
    """
    rows = named(exp.Count(this=STAR), "n")
    there, of_codes, read = narrowing(table, scope=scope, run=run)
    unread = unread_lines(table, scope=scope, run=run)
    unreadable = unreadable_rows(table, scope=scope, run=run)
    if scope.per_event:
        [(kept,)] = run(select(rows, of=clustered))
        return TableFacts(
            table=table.name, rows=there, other_codes=there - of_codes,
            other_units=of_codes - read, without_person=read - kept, patients=0, most_rows=0,
            repeated=0, complete=0, unread_lines=unread, unreadable_rows=unreadable,
        )  # fmt: skip
    of = person_ids(scope, table) if table.one_row_per_patient else clustered
    each = select(rows, of=of, by=[own("p")])
    n = own("n")
    sums = [exp.Count(this=STAR), exp.Sum(this=n), exp.Max(this=n)]
    whole = [exp.Coalesce(this=value, expressions=[num(0)]) for value in sums]
    [(patients, usable, most)] = run(
        select(*(named(value, f"n{i}") for i, value in enumerate(whole)), of=each)
    )
    apart = select(rows, of=incomplete_patients(table, clustered=clustered))
    [(incomplete,)] = run(apart)
    return TableFacts(
        table=table.name,
        rows=there,
        other_codes=there - of_codes,
        other_units=of_codes - read,
        without_person=read - int(usable),
        patients=patients,
        most_rows=most,
        repeated=int(usable) - patients if table.one_row_per_patient else 0,
        complete=patients - incomplete,
        unread_lines=unread,
        unreadable_rows=unreadable,
    )
