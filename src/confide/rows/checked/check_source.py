"""Check a source: every declared table is read once, and what is wrong with it is counted.

Each table is opened by itself, so that one that cannot be read hides no other.  Where a file is
written in another dialect than declared, the rest is counted as if the dialect that is proposed
were declared.

*Privacy:* what comes back is exact and for the steward's screen (:mod:`.findings`).  Nothing is
stored, and no plan, release or ledger is opened.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.privacy.unit import Entity
from confide.rows.cells.build import STAR, named, num, own, select
from confide.rows.cells.layout import Ids, source_names
from confide.rows.checked.counted import (
    OUTSIDE,
    READ,
    UNREADABLE,
    Run,
    checked_columns,
    inside_if,
    odd_texts,
)
from confide.rows.checked.findings import CheckedColumn, CheckedSource, CheckedTable, Finding
from confide.rows.checked.ids import alike_ids, rounded_ids, summed_rows
from confide.rows.checked.sheets import misread_sheets
from confide.rows.checked.spellings import ReadNow, spellings
from confide.rows.checked.units import unit_finding
from confide.rows.checked.written import as_written
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.examine import narrowing, unread_lines, unreadable_rows
from confide.rows.relational.table_rows import Scope, person_ids
from confide.rows.sources.prepare import existing, found_files
from confide.tables.dialect import ISO
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.source import Source, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    """What one source needs to be checked.

    Attributes:
        source: What is declared.
        base: Folder of dataset.yaml.
        dataset: Public facts.
        hash_key: Secret key of the site, of which hashes of persons are.
        threads: For the engine.
        memory_limit: For the engine.
        withdrawn: Keyed hashes of persons who withdrew consent; their rows are in no count of
            patients.
    """

    source: Source
    base: Path
    dataset: Dataset
    hash_key: bytes
    threads: int | None = None
    memory_limit: str | None = None
    withdrawn: tuple[str, ...] = ()

    def checked(self, *, progress: Callable[[str], None] = lambda _: None) -> CheckedSource:
        """Read every declared table and return what was found.

        Args:
            progress: Told the name of each table.

        Raises:
            ContractError: If the source does not exist, or is in memory.
        """
        if self.source.kind is SourceKind.FRAMES:
            raise ContractError(
                "Tables in memory cannot be checked.", hint="Store them as Parquet first."
            )
        if self.source.in_postgres:
            from confide.rows.checked.of_database import of_database

            with of_database(self.source, dataset=self.dataset, hash_key=self.hash_key) as found:
                dataset = replace(self.dataset, tables=found.tables)
                work = replace(self, source=found.source, base=found.base, dataset=dataset)
                return found.with_problems(work.checked(progress=progress))
        tables, findings = [], []
        for table in self.dataset.tables:
            progress(table.name)
            told = self._table(table)
            tables.append(told[0])
            findings += told[1]
        return CheckedSource(tables=tuple(tables), findings=tuple(findings))

    def _table(self, declared: Table) -> tuple[CheckedTable, list[Finding]]:
        table, findings = self._in_its_dialect(declared)
        dataset = replace(
            self.dataset, tables=(table,), per_patient=(), derived=(), spines=(), patients=()
        )
        try:
            with open_engine(
                self.source,
                base=self.base,
                dataset=dataset,
                hash_key=self.hash_key,
                threads=self.threads,
                memory_limit=self.memory_limit,
                withdrawn=self.withdrawn,
            ) as engine:
                engine.scope.layout.located(table)
                engine.scope.layout.persons_of(table, dataset=dataset)
                counts = _counts(table, scope=engine.scope, run=engine.run)
                findings += _of_rows(counts, table=table, scope=engine.scope, run=engine.run)
                now = _read_now(counts, table=table, scope=engine.scope, run=engine.run)
                if self.source.kind.stores_numbers:
                    now = replace(now, pointed={})  # they are read under any decimal
                for column, cells in zip(table.columns, counts.columns, strict=True):
                    findings += _of_column(
                        column,
                        cells=cells,
                        table=table,
                        now=now,
                        scope=engine.scope,
                        run=engine.run,
                    )
        except (ContractError, EngineError) as error:
            why, _, hint = str(error).partition(" → ")
            fix = getattr(error, "hint", "") or hint
            findings.append(
                Finding(
                    table=table.name,
                    column="",
                    what="cannot be read",
                    cells=None,
                    why=why,
                    fix=fix,
                )
            )
            return CheckedTable(table=table.name), findings
        if self.source.kind is SourceKind.FHIR:
            findings = [_malformed(each, table=table) for each in findings]
        return counts, findings

    def _in_its_dialect(self, table: Table) -> tuple[Table, list[Finding]]:
        """Return a table in the dialect that its files seem to have, and what differs."""
        if self.source.kind not in (SourceKind.CSV, SourceKind.OMOP, SourceKind.EXCEL):
            return table, []
        alone = replace(
            self.dataset, tables=(table,), per_patient=(), derived=(), spines=(), patients=()
        )
        try:
            root = existing(self.source, base=self.base)
            places = found_files(self.source, root=root, dataset=alone)[table.name]
        except ContractError:
            return table, []  # told when it is opened
        files = tuple(part for parts in places for part in parts)
        texts = tuple(
            part
            for part in files
            if part.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
        )
        declared = source_names(table, dataset=self.dataset)
        if self.source.kind is SourceKind.EXCEL:
            fitting, misread = table, misread_sheets(files, table=table)
        else:
            fitting, misread = as_written(texts, table=table, declared=declared)
        return fitting, [
            Finding(
                table=table.name,
                column="",
                what=each.what,
                cells=each.cells,
                why=each.why,
                fix=each.fix,
            )
            for each in misread
        ]


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
        tell(*_repeated_rows(table, scope=scope, run=run))
    return found


def _repeated_rows(table: Table, *, scope: Scope, run: Run) -> tuple[str, int, str, str]:
    """Say how many rows repeat another one of the patient in everything that is declared."""
    from confide.rows.relational.table_rows import cleaned_rows

    keys = [own("p"), *(own(f"c{i}") for i in range(len(table.columns)))]
    each = select(
        named(exp.Count(this=STAR), "n"), of=cleaned_rows(scope, table), alias="r", by=keys
    )
    more = exp.Sum(this=exp.Sub(this=own("n"), expression=num(1)))
    [(rows,)] = run(select(named(more, "m"), of=each))
    repeated = 0 if table.one_row_per_patient else int(rows or 0)
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
