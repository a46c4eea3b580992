"""What is found in one table that is opened: counts by column, and what seems wrong.

*Privacy:* exact, and for the steward's screen (:mod:`.findings`).
"""

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.build import STAR, named, num, own, select
from confide.rows.cells.layout import Ids
from confide.rows.checked.counted import (
    OUTSIDE,
    READ,
    UNREADABLE,
    Run,
    checked_columns,
    inside_if,
    odd_texts,
)
from confide.rows.checked.findings import CheckedColumn, CheckedTable, Finding
from confide.rows.checked.ids import alike_ids, rounded_ids, summed_rows
from confide.rows.checked.spellings import ReadNow, spellings
from confide.rows.checked.units import unit_finding
from confide.rows.engines.duckdb import DuckDBEngine
from confide.rows.engines.examine import narrowing, unread_lines, unreadable_rows
from confide.rows.relational.table_rows import Scope, person_ids
from confide.tables.dialect import ISO
from confide.tables.schema import Column, Kind, Table
from confide.tables.source import Source, SourceKind


def found_in_table(
    table: Table, *, engine: DuckDBEngine, source: Source
) -> tuple[CheckedTable, list[Finding]]:
    """Return what is found in a table.

    Raises:
        ContractError: If it has other columns than declared.
        EngineError: If it cannot be read.
    """
    scope, run = engine.scope, engine.run
    scope.layout.located(table)
    scope.layout.persons_of(table, dataset=scope.dataset)
    counts = _counts(table, scope=scope, run=run)
    findings = _of_rows(counts, table=table, scope=scope, run=run)
    now = _read_now(counts, table=table, scope=scope, run=run)
    if source.kind.stores_numbers:
        now = replace(now, pointed={})  # they are read under any decimal
    for column, cells in zip(table.columns, counts.columns, strict=True):
        findings += _of_column(column, cells=cells, table=table, now=now, scope=scope, run=run)
    if source.kind is SourceKind.FHIR:
        findings = [_malformed(each, table=table) for each in findings]
    return counts, findings


def _malformed(each: Finding, *, table: Table) -> Finding:
    """Return a finding in words of NDJSON, where a line that is quarantined is cut short."""
    if each.what != "too few fields":
        return each
    return replace(
        each,
        what="malformed lines",
        why=f"They are no JSON object of resource {table.source}, and are left out.",
        fix="Export them again: a line is one whole resource.",
    )


def _counts(table: Table, *, scope: Scope, run: Run) -> CheckedTable:
    there, of_codes, read = narrowing(table, scope=scope, run=run)
    unread, long = unread_lines(table, scope=scope, run=run), _long_lines(table, scope, run)
    known = CheckedTable(
        table=table.name,
        rows=there,
        short_lines=unread - long,
        long_lines=long,
        other_codes=there - of_codes,
        other_units=of_codes - read,
        columns=checked_columns(table, scope=scope, run=run),
    )
    if scope.dataset.unit.entity is not Entity.PATIENT or table.other_id:
        return known
    each = select(named(exp.Count(this=STAR), "n"), of=person_ids(scope, table), by=[own("p")])
    whole = (exp.Count(this=STAR), exp.Sum(this=own("n")), exp.Max(this=own("n")))
    [(patients, usable, most)] = run(
        select(*(named(value, f"v{i}") for i, value in enumerate(whole)), of=each)
    )
    return replace(
        known,
        without_person=read - int(usable or 0),
        patients=int(patients),
        most_rows=int(most or 0),
        repeated=int(usable or 0) - int(patients) if table.one_row_per_patient else 0,
    )


def _long_lines(table: Table, scope: Scope, run: Run) -> int:
    """Return how many lines have more fields than the header."""
    lines = scope.layout.located(table).lines
    if lines is None:
        return 0
    surplus = lines.this.this.expressions[0].alias_or_name
    [(long,)] = run(select(named(exp.Count(this=own(surplus)), "n"), of=lines.copy()))
    return int(long)


def _of_rows(counts: CheckedTable, *, table: Table, scope: Scope, run: Run) -> list[Finding]:
    found: list[Finding] = []

    def tell(what: str, cells: int, why: str, fix: str) -> None:
        if cells:
            found.append(
                Finding(table=table.name, column="", what=what, cells=cells, why=why, fix=fix)
            )

    if not counts.rows:
        found.append(
            Finding(
                table=table.name,
                column="",
                what="no rows",
                cells=0,
                why="The table is empty.",
                fix="Export it again.",
            )
        )
    tell(
        "too few fields",
        counts.short_lines,
        "Such lines are left out.",
        "Is a line end in a text without quotes? Write the file again.",
    )
    tell(
        "too many fields",
        counts.long_lines,
        "Such lines are left out.",
        "Is a separator in a text or number without quotes, or at the end of lines? Where numbers "
        'are written 6,5 export with another separator, and declare dialect: {separator: ";", '
        'decimal: ","}.',
    )
    tell(
        "letters that cannot be read",
        unreadable_rows(table, scope=scope, run=run),
        "A sign of damage stands in the cell; rows with one in the person id are left out.",
        "encoding: windows-1252, or export the file again",
    )
    tell(
        "other codes",
        counts.other_codes if counts.rows == counts.other_codes else 0,
        "No row has a declared code.",
        "Compare `only` and `without` with the code book.",
    )
    tell(
        "other units",
        counts.other_units,
        "Rows in a unit that is not declared, or in none, are left out.",
        "units: {known: ...}: add the codes of the units that stand there",
    )
    tell(
        "no person id",
        counts.without_person,
        "Rows without an id that can be read are left out.",
        "Correct them in the source, or name the right column as `id`.",
    )
    tell(
        "repeated ids",
        counts.repeated,
        "rows-per-patient: 1 keeps one row of each patient, and leaves these out.",
        "Leave rows-per-patient out where a patient may have several rows.",
    )
    if scope.layout.ids is Ids.TEXT and counts.patients:
        for each in (alike_ids, rounded_ids, summed_rows):
            tell(*each(table, scope=scope, run=run))
    if scope.dataset.unit.entity is Entity.PATIENT and counts.patients:
        tell(*_repeated_rows(counts, table=table, scope=scope, run=run))
    return found


def _repeated_rows(
    counts: CheckedTable, *, table: Table, scope: Scope, run: Run
) -> tuple[str, int, str, str]:
    """Say how many rows repeat another one of the patient in everything that is declared."""
    from confide.rows.relational.table_rows import cleaned_rows

    keys = [own("p"), *(own(f"c{i}") for i in range(len(table.columns)))]
    each = select(
        named(exp.Count(this=STAR), "n"), of=cleaned_rows(scope, table), alias="r", by=keys
    )
    more = exp.Sum(this=exp.Sub(this=own("n"), expression=num(1)))
    [(rows,)] = run(select(named(more, "m"), of=each))
    repeated = 0 if table.one_row_per_patient else int(rows or 0)
    if lost := [each.column for each in counts.columns if each.outside or each.unreadable]:
        why = (
            f"Values of {', '.join(lost)} lie outside of what is declared, or cannot be read: rows "
            "that differ there alone are equal as declared, and each is counted."
        )
        fix = (
            "Mend what is found of these columns, such as bounds that are too narrow; what is "
            "still alike then is there twice."
        )
        return "rows that look alike", repeated, why, fix
    return (
        "rows that are there twice",
        repeated,
        "They are equal in all declared columns, and each is counted.",
        "Was the file put together twice? Distinct visits differ in a date: declare it.",
    )


def _read_now(counts: CheckedTable, *, table: Table, scope: Scope, run: Run) -> ReadNow:
    """Return what is read as the table is declared, which another dialect might lose."""
    pairs = list(zip(table.columns, counts.columns, strict=True))
    dated = any(of.kind is Kind.DATE and cells.read + cells.outside for of, cells in pairs)
    dates = table.dialect.dates or ((ISO,) if dated else ())
    numbers = [(of, cells) for of, cells in pairs if of.kind is Kind.NUMBER]
    pointed: Counter[str] = Counter()
    if table.dialect.decimal == "." and any(cells.unreadable for _, cells in numbers):
        for column, _ in numbers:
            texts = odd_texts(column, state=READ, table=table, scope=scope, run=run)
            pointed.update({text: n for text, n in texts.items() if "." in text})
    return ReadNow(dates=dates, pointed=pointed)


def _of_column(
    column: Column,
    *,
    cells: CheckedColumn,
    table: Table,
    now: ReadNow,
    scope: Scope,
    run: Run,
) -> list[Finding]:
    found: list[Finding] = []
    for state, number in ((UNREADABLE, cells.unreadable), (OUTSIDE, cells.outside)):
        if not number:
            continue
        texts = odd_texts(column, state=state, table=table, scope=scope, run=run)
        told = spellings(column, texts, unread=state == UNREADABLE, now=now)
        found += [
            Finding(
                table=table.name,
                column=column.name,
                what=each.what,
                cells=each.cells,
                why=each.why,
                fix=each.fix,
            )
            for each in told
        ]
    if cells.outside and column.kind is Kind.NUMBER:
        other = unit_finding(
            column,
            table=table,
            counts=cells,
            inside_if=lambda by: inside_if(column, by, table=table, scope=scope, run=run),
        )
        found += [] if other is None else [other]
    if cells.outside and not found and column.kind is not Kind.CATEGORY:
        clipped = "clipped to them" if column.outside.value == "clip" else "left out"
        found.append(
            Finding(
                table=table.name,
                column=column.name,
                what="outside the bounds",
                cells=cells.outside,
                why=f"They are {clipped if column.kind is Kind.NUMBER else 'left out'}.",
                fix="Compare lower, upper and unit with the code book; a bound is no maximum of "
                "the data.",
            )
        )
    if cells.missing and not cells.read + cells.unreadable + cells.outside:
        found.append(
            Finding(
                table=table.name,
                column=column.name,
                what="no value",
                cells=cells.missing,
                why="The column is empty in every row.",
                fix="Is `from` the right column, and `missing` no code that all have?",
            )
        )
    return found
