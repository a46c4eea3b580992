"""``confide prepare``: write the prepared copies of a source, once a snapshot.

Each step writes one file under a temporary name, makes it durable and renames it; the manifest
comes last, and only if the source is still the one that was read.  A run that is interrupted
anywhere leaves in use what was in use, and the next one goes on after the last finished file.  The
generation before stays on disk until the next run, for engines that are reading it.

*Privacy:* the facts that come back (rows, most rows of a patient) are exact, for the steward's
screen alone; no release, plan or policy sees them.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.regular_file import descriptor
from confide.rows.copies.choice import streams
from confide.rows.copies.copies import Copies, MakeCopies, TableCopy, UseCopies, parquet
from confide.rows.copies.manifest import (
    MANIFEST,
    Manifest,
    Standing,
    copies_in,
    generation,
    put_in_place,
    read_manifest,
    write_manifest,
)
from confide.rows.engines.duckdb import DuckDBEngine, open_engine
from confide.rows.prepared.check import differing
from confide.rows.prepared.facts import met_elsewhere, table_facts
from confide.rows.prepared.layouts import (
    clustered_rows,
    partial_rows,
    patient_index,
    rank_rows,
    text_numbers,
)
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.prepare import state_of
from confide.tables.schema import Dataset, Kind, Table
from confide.tables.source import Source, SourceKind

PATIENTS = "patients.parquet"
LOCK = "lock"
ROOM = 3
"""Copies, spilling and the copies of before, in multiples of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What one source needs to be prepared.

    Attributes:
        source: What is declared.
        base: Folder of dataset.yaml.
        dataset: Public facts.
        hash_key: Secret key of the row order.
        folder: Where the copies lie.
        threads: For the engine.
        memory_limit: For the engine.
        withdrawn: Keyed hashes of persons who withdrew consent; none of their rows is copied.
    """

    source: Source
    base: Path
    dataset: Dataset
    hash_key: bytes
    folder: Path
    threads: int | None = None
    memory_limit: str | None = None
    withdrawn: tuple[str, ...] = ()

    def disk_needed(self) -> int:
        """Return the bytes that preparing may take, from the size of the source."""
        return ROOM * sum(path.stat().st_size for path in self._state().files)

    def prepare(self, *, progress: Callable[[str], None] = lambda _: None) -> Manifest:
        """Write the copies unless they are current; return what is in use.

        Args:
            progress: Told the name of each stage.

        Raises:
            ContractError: If the source is in memory, lacks every table, changed meanwhile, or the
                disk is too small.
            EngineError: If reading or writing failed.
        """
        if self.source.kind is SourceKind.SPARK:
            raise ContractError(
                "Of a Spark source no copies are prepared: Spark reads its files as they are.",
                hint="Write `kind: parquet` to read the same files in DuckDB, from copies.",
            )
        if self.source.in_postgres:
            raise ContractError(
                "Tables of a database are not prepared: the database reads them itself.",
                hint="Run the study; nothing is needed before.",
            )
        state = self._state()
        if not state.files and self.source.kind is not SourceKind.FRAMES:
            raise _none_of(self.problems())
        name = generation(
            self.dataset, state=state, hash_key=self.hash_key, withdrawn=self.withdrawn
        )
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(self.folder):
            before = read_manifest(self.folder)
            if before is not None and self._standing(state) is Standing.CURRENT:
                return before
            _refuse_small_disk(self)
            _clear(self.folder, keep={name, before.generation if before else name})
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)
            manifest = _written(self, state, name=name, before=before, progress=progress)
            _require_same(self._state(), state)
            progress("use the copies")
            write_manifest(self.folder, manifest)
        return manifest

    def differing(self) -> tuple[str, ...]:
        """Return the tables whose copies do not give what the source gives; none should.

        Raises:
            ContractError: If there are no current copies.
            EngineError: If reading failed.
        """
        if self._standing(self._state()) is not Standing.CURRENT:
            raise ContractError("There are no current copies.", hint="Run: confide prepare")
        with (
            _engine(self) as source,
            _engine(self, copying=UseCopies(folder=self.folder)) as copies,
        ):
            unread = tuple(source.problems())
            return differing(source, copies=copies, dataset=self.dataset, unread=unread)

    def problems(self) -> Mapping[str, str]:
        """Return why a declared table cannot be read, by its name; reads no rows.

        Raises:
            ContractError: If the source cannot be opened.
        """
        with _engine(self) as engine:
            return engine.problems()

    def _state(self) -> SourceState:
        return state_of(self.source, base=self.base, dataset=self.dataset)

    def _standing(self, state: SourceState) -> Standing:
        found, _ = copies_in(
            self.folder,
            dataset=self.dataset,
            state=state,
            hash_key=self.hash_key,
            withdrawn=self.withdrawn,
        )
        return found


def _none_of(problems: Mapping[str, str]) -> ContractError:
    """Return the refusal of a source in which no declared table can be read."""
    reasons = " ".join(problems.values())
    return ContractError(
        f"No declared table can be prepared. {reasons}".rstrip(),
        hint="Check `source: {path}` and `from` of each table in dataset.yaml.",
    )


def _require_same(found: SourceState, state: SourceState) -> None:
    """Refuse copies of other files, or of another state of them, than they would be named after."""
    if found != state:
        raise ContractError(
            "The source changed while it was being prepared; nothing new is in use.",
            hint="Run `confide prepare` again once it is at rest.",
        )


def _engine(work: Preparation, *, copying: UseCopies | MakeCopies | None = None) -> DuckDBEngine:
    return open_engine(
        work.source,
        base=work.base,
        dataset=work.dataset,
        hash_key=work.hash_key,
        threads=work.threads,
        memory_limit=work.memory_limit,
        copying=copying,
        withdrawn=work.withdrawn,
    )


def _written(
    work: Preparation,
    state: SourceState,
    *,
    name: str,
    before: Manifest | None,
    progress: Callable[[str], None],
) -> Manifest:
    if work.dataset.unit.entity is Entity.HOSPITAL:
        raise ContractError(
            "With the hospital as privacy unit there is nothing to prepare.",
            hint="Trainings read the source as it is: run the study.",
        )
    with _engine(work, copying=MakeCopies(folder=work.folder.resolve())) as engine:
        _require_same(engine.state, state)
        problems = engine.problems()
        tables = [
            table
            for table in work.dataset.tables
            if table.name not in problems and not _of_contacts(table, dataset=work.dataset)
        ]
        if not tables:
            raise _none_of(problems)
        build = _Build(engine=engine, folder=work.folder.resolve() / name, progress=progress)
        ids = engine.scope.layout.ids.value
        known = None
        if before is not None and (before.ids, before.lineage) == (ids, work.dataset.lineage):
            known = work.folder.resolve() / before.generation / before.patients
        patients = build.patients(tables, known=known) if streams(work.dataset) else None
        copies = Copies(dataset=work.dataset, tables={}, patients=patients)
        facts = []
        for number, table in enumerate(tables):
            copy = build.table(table, number=number, copies=copies)
            copies = replace(copies, tables={**copies.tables, table.name: copy})
            progress(f"examine {table.name}")
            facts.append(table_facts(table, engine=engine, copy=copy))
        told = met_elsewhere(facts, engine=engine, copies=copies.tables)
    return Manifest(
        generation=name,
        lineage=work.dataset.lineage,
        ids=ids,
        patients=PATIENTS if patients else "",
        tables={table: _names(copy) for table, copy in copies.tables.items()},
        texts={
            table: {str(i): path.name for i, path in copy.texts.items()}
            for table, copy in copies.tables.items()
        },
        sizes={path.name: path.stat().st_size for path in copies.files()},
        facts=told,
    )


def _of_contacts(table: Table, *, dataset: Dataset) -> bool:
    """Return whether only degree histograms read the table: from the source, as it is."""
    return bool(table.other_id) or dataset.unit.entity is Entity.EDGE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """One generation being written."""

    engine: DuckDBEngine
    folder: Path
    progress: Callable[[str], None]

    def patients(self, tables: list[Table], *, known: Path | None) -> Path:
        earlier = parquet(known) if known is not None and known.is_file() else None
        query = patient_index(tables, scope=self.engine.scope, known=earlier)
        return self._file(PATIENTS, "index patients", query)

    def table(self, table: Table, *, number: int, copies: Copies) -> TableCopy:
        index = None if copies.patients is None else parquet(copies.patients)
        stem = f"t{number}"
        texts = {} if index is None else self._texts(table, stem=stem)
        query = clustered_rows(
            table,
            scope=self.engine.scope,
            patients=index,
            texts={column: parquet(path) for column, path in texts.items()},
        )
        clustered = self._file(f"{stem}.parquet", f"cluster {table.name}", query)
        copy = TableCopy(clustered=clustered, texts=texts)
        if index is None or table.one_row_per_patient:
            return copy
        there = replace(copies, tables={table.name: copy})
        ranks = self._file(
            f"{stem}-ranks.parquet", f"rank {table.name}", rank_rows(table, copies=there)
        )
        partial = self._file(
            f"{stem}-partial.parquet",
            f"set apart {table.name}",
            partial_rows(table, copies=there),
        )
        return replace(copy, ranks=ranks, partial=partial)

    def _texts(self, table: Table, *, stem: str) -> dict[int, Path]:
        return {
            i: self._file(
                f"{stem}-text{i}.parquet",
                f"number the texts of {table.name}",
                text_numbers(table, column=i, scope=self.engine.scope),
            )
            for i, column in enumerate(table.columns)
            if column.kind is Kind.TEXT
        }

    def _file(self, name: str, stage: str, query: exp.Query) -> Path:
        """Write a file, unless an earlier run finished it."""
        path = self.folder / name
        if not path.exists():
            self.progress(stage)
            part = path.with_name(name + ".part")
            part.unlink(missing_ok=True)
            self.engine.write(query, to=part)
            put_in_place(part, path)
        return path


def _names(copy: TableCopy) -> tuple[str, str, str]:
    ranks, partial = ("" if path is None else path.name for path in (copy.ranks, copy.partial))
    return copy.clustered.name, ranks, partial


def _refuse_small_disk(work: Preparation) -> None:
    needed, free = work.disk_needed(), shutil.disk_usage(work.folder).free
    if free < needed:
        raise ContractError(
            f"Preparing may take {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free.",
            hint=f"Make room where {work.folder.name!r} lies.",
        )


def _clear(folder: Path, *, keep: set[str]) -> None:
    """Remove what interrupted runs and generations before the last left."""
    for path in folder.iterdir():
        if path.is_dir() and path.name not in keep:
            shutil.rmtree(path, ignore_errors=True)


def delete_copies(folder: Path) -> bool:
    """Delete all prepared copies, of every generation; return whether any were in use.

    Raises:
        ContractError: If copies are being written.
        OSError: If a file cannot be deleted.
    """
    if not folder.exists():
        return False
    with _alone(folder):
        in_use = read_manifest(folder) is not None
        (folder / MANIFEST).unlink(missing_ok=True)
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    return in_use


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one run at a time write; a killed one lets go."""
    file = descriptor(folder / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ContractError(
                "Another `confide prepare` is running here.", hint="Wait until it is done."
            ) from None
        yield
    finally:
        os.close(file)
