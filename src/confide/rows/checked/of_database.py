"""Tables of a database as files of their own, to be checked as files are; for the steward alone.

The columns that are declared are copied as texts, in one transaction that sees one state of the
database, and read from there: what is found in a file is found in a database.

*Privacy:* the files lie in a folder that this user alone may open, and which is removed when the
check ends, or by the next one should its process be killed (:mod:`confide.rows.engines.spill`).
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from confide.rows.cells.build import VARCHAR, aliased, cast, named, own, select
from confide.rows.cells.clean import cell_of, text
from confide.rows.cells.layout import Found, source_names
from confide.rows.cells.operations import written
from confide.rows.cells.physical import Physical
from confide.rows.checked.findings import CheckedSource, CheckedTable, Finding
from confide.rows.dialects.postgres import ConfidePostgres
from confide.rows.engines.postgres import PostgresEngine, open_postgres
from confide.rows.engines.spill import SpillFolder
from confide.tables.schema import Dataset, Kind, Table
from confide.tables.source import Source, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class OfDatabase:
    """Tables of a database as CSV files.

    Attributes:
        source: The files.
        base: Folder that holds them.
        tables: Those that could be read, each with the name of its file as ``source``.
        problems: Why the others cannot be read, by name.
    """

    source: Source
    base: Path
    tables: tuple[Table, ...]
    problems: dict[str, str]

    def with_problems(self, found: CheckedSource) -> CheckedSource:
        """Return what was found in the files, and which tables cannot be read."""
        unread = tuple(
            Finding(table=name, column="", what="cannot be read", cells=None, why=why, fix="")
            for name, why in self.problems.items()
        )
        tables = tuple(CheckedTable(table=name) for name in self.problems)
        return CheckedSource(tables=(*found.tables, *tables), findings=(*found.findings, *unread))


@contextlib.contextmanager
def of_database(source: Source, *, dataset: Dataset, hash_key: bytes) -> Iterator[OfDatabase]:
    """Copy the declared columns of a database, for as long as they are looked at.

    Raises:
        ContractError: If the database cannot be used.
        EngineError: If reading failed; carries the class of the failure and no data.
    """
    with (
        open_postgres(source, dataset=dataset, hash_key=hash_key) as engine,
        contextlib.closing(SpillFolder()) as folder,
    ):
        problems = dict(engine.problems())
        tables = []
        readable = [table for table in dataset.tables if table.name not in problems]
        with engine.snapshot():
            for place, table in enumerate(readable):
                name = f"t{place}"
                query = _declared(table, dataset=dataset, engine=engine)
                engine.copy_rows(
                    written(query, dialect=ConfidePostgres), folder.path / f"{name}.csv"
                )
                tables.append(replace(table, source=name))
        yield OfDatabase(
            source=Source(kind=SourceKind.CSV, path="."),
            base=folder.path,
            tables=tuple(tables),
            problems=problems,
        )


def _declared(table: Table, *, dataset: Dataset, engine: PostgresEngine) -> exp.Select:
    """Return the declared columns of a table as texts, by the names that the data set has."""
    located = engine.scope.layout.located(table)
    numbers = {column.source for column in table.columns if column.kind is Kind.NUMBER}
    columns = [
        named(_as_text(located.columns[name], number=name in numbers), name)
        for name in sorted(source_names(table, dataset=dataset))
        if name in located.columns
    ]
    return select(*columns, of=aliased(located.relation, "s"))


def _as_text(found: Found, *, number: bool) -> exp.Expr:
    match found.physical:
        case Physical.TEXT:
            return cast(own(found.name, "s"), VARCHAR)
        case Physical.BOOLEAN if number:
            return cast(cast(own(found.name, "s"), exp.DType.INT), VARCHAR)
        case _:
            return text(cell_of(found), of=found)
