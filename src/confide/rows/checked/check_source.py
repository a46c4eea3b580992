"""Check a source: every declared table is read once, and what is wrong with it is counted.

A table that cannot be read hides no other; tables of one file that is written anew (FHIR) are
opened together, so that it is once.  Where a file is
written in another dialect than declared, the rest is counted as if the dialect that is proposed
were declared.

*Privacy:* what comes back is exact and for the steward's screen (:mod:`.findings`).  Nothing is
stored, and no plan, release or ledger is opened.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from confide.errors import ContractError, EngineError
from confide.rows.cells.layout import source_names
from confide.rows.checked.findings import CheckedSource, CheckedTable, Finding
from confide.rows.checked.sheets import misread_sheets
from confide.rows.checked.table_findings import found_in_table
from confide.rows.checked.written import as_written
from confide.rows.engines.duckdb import DuckDBEngine, open_engine
from confide.rows.sources.prepare import existing, found_files
from confide.tables.schema import Dataset, Table
from confide.tables.source import Source, SourceKind

_Found: TypeAlias = tuple[CheckedTable, list[Finding]]


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
        told = {}
        for group in self._groups():
            told.update(self._group(group, progress=progress))
        ordered = [told[table.name] for table in self.dataset.tables]
        return CheckedSource(
            tables=tuple(each for each, _ in ordered),
            findings=tuple(finding for _, findings in ordered for finding in findings),
        )

    def _groups(self) -> list[tuple[Table, ...]]:
        """Return the tables that are read together: those of one file that is written anew."""
        if self.source.kind is not SourceKind.FHIR:
            return [(table,) for table in self.dataset.tables]
        groups: dict[str, list[Table]] = {}
        for table in self.dataset.tables:
            groups.setdefault(table.source, []).append(table)
        return [tuple(group) for group in groups.values()]

    def _group(
        self, group: tuple[Table, ...], *, progress: Callable[[str], None]
    ) -> dict[str, _Found]:
        """Return what is found in tables that one engine opens; one that fails hides no other."""
        fitting = [self._in_its_dialect(table) for table in group]
        told: dict[str, _Found] = {}
        try:
            with self._engine(tuple(table for table, _ in fitting)) as engine:
                for table, misread in fitting:
                    progress(table.name)
                    try:
                        counts, findings = found_in_table(table, engine=engine, source=self.source)
                    except (ContractError, EngineError) as error:
                        counts, findings = _unread(table, error=error)
                    told[table.name] = counts, [*misread, *findings]
        except (ContractError, EngineError) as error:
            if len(group) > 1:
                for table in group:
                    told |= self._group((table,), progress=progress)
                return told
            counts, findings = _unread(group[0], error=error)
            told[group[0].name] = counts, [*fitting[0][1], *findings]
        return told

    def _engine(self, tables: tuple[Table, ...]) -> DuckDBEngine:
        dataset = replace(
            self.dataset, tables=tables, per_patient=(), derived=(), spines=(), patients=()
        )
        return open_engine(
            self.source,
            base=self.base,
            dataset=dataset,
            hash_key=self.hash_key,
            threads=self.threads,
            memory_limit=self.memory_limit,
            withdrawn=self.withdrawn,
        )

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


def _unread(table: Table, *, error: Exception) -> _Found:
    why, _, hint = str(error).partition(" → ")
    fix = getattr(error, "hint", "") or hint
    told = Finding(table=table.name, column="", what="cannot be read", cells=None, why=why, fix=fix)
    return CheckedTable(table=table.name), [told]
