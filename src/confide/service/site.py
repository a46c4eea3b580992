"""One data set that is open: its declaration, ledger, keys and, once rows are wanted, its engine.

Opening a site reads no rows.  Its files are in ``.confide`` (mode 0700) beside dataset.yaml.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.errors import UnknownNameError
from confide.files.dataset import DeclaredDataset
from confide.files.public.private_places import WORKSPACE
from confide.privacy.measure import Mixed
from confide.release.consent import order_key, require_same_consent, who_withdrew
from confide.release.site.rotation import signing_key
from confide.release.site.site_ledger import site_ledger, site_patients
from confide.release.site.snapshot import source_state
from confide.rows.engine import Engine
from confide.tables.source import SourceKind


class Site:
    """What use cases work on; a context manager, not shared between threads.

    Attributes:
        declared: The data set.
        folder: Of its keys, its ledger and its copies.
        signer: Whose key signs certificates.
        ledger: Of its budget.
    """

    def __init__(
        self,
        declared: DeclaredDataset,
        *,
        frames: Mapping[str, object] | None = None,
        spends: bool = True,
    ) -> None:
        """Open it.

        Args:
            declared: The data set.
            frames: Tables by name, of a source in memory.
            spends: Whether caps and policy have to be those in force, as for whatever is charged.
        """
        self.declared = declared
        self._frames = frames
        self._engine: Engine | None = None
        self._withdrawn = Withdrawn()
        self._patients: PatientStore | None = None
        self.folder = declared.base / WORKSPACE
        self.signer = signing_key(self.folder, place=declared.ledger)
        self.ledger = site_ledger(
            self.folder, signer=self.signer, place=declared.ledger, anchor=declared.anchor
        )
        try:
            if spends or not self._is_known():
                self.ledger.register(declared.terms())
                if declared.policy is not None:
                    self.ledger.desk.follow(declared.dataset.lineage, policy=declared.policy)
            self.declared = self._in_its_orders()
        except BaseException:
            self.ledger.close()
            raise

    def _in_its_orders(self) -> DeclaredDataset:
        """Return the data set, that of a mixed ledger in the orders in which it counts."""
        if not self.declared.dataset.mixed:
            return self.declared
        measure = self.ledger.spent(self.declared.dataset.lineage).measure
        return replace(self.declared, orders=measure if isinstance(measure, Mixed) else None)

    def _is_known(self) -> bool:
        """Return whether the ledger has the lineage; MismatchError if it has it otherwise."""
        try:
            self.ledger.require_measured(self.declared.terms())
        except UnknownNameError:
            return False
        return True

    def same_consent(self) -> Callable[[], None]:
        """Return what refuses once others withdrew consent than those the engine leaves out."""
        of, ledger = self._withdrawn, self.ledger
        return functools.partial(require_same_consent, of, folder=self.folder, ledger=ledger)

    def patients(self) -> PatientStore:
        """Return the store of per-patient budgets: for the gate and the privacy officer."""
        if self._patients is None:
            under = self.ledger.desk.consent.hash_key() or self._withdrawn.key
            key = order_key(self.folder, under=under)
            lineage = self.declared.dataset.lineage
            self._patients = site_patients(self.folder, lineage=lineage, hash_key=key)
        return self._patients

    def close_patients(self) -> None:
        """Close the store of per-patient budgets, which is opened anew when it is asked for."""
        if self._patients is not None:
            self._patients.close()
        self._patients = None

    def close(self) -> None:
        """Release the engine and the ledger."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None
        self.close_patients()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def engine(self) -> Engine:
        """Return the engine over the source as it is now, consent too; reads no rows by itself."""
        return self.engine_without(who_withdrew(self.folder, ledger=self.ledger))

    def engine_without(self, withdrawn: Withdrawn) -> Engine:
        """Return the engine over the source as it is now, without those persons."""
        declared, of = self.declared, self.declared.dataset
        if withdrawn.key != self._withdrawn.key:
            self.close_patients()  # their numbers are by another hash key
        # Closed if of other files, of before somebody withdrew, or broken: rows are of their time.
        if self._engine is not None and (
            withdrawn != self._withdrawn
            or not self._engine.sound()
            or self._engine.state != source_state(declared.source, base=declared.base, dataset=of)
        ):
            self._engine.close()
            self._engine = None
        if self._engine is None:
            self._engine, self._withdrawn = self._opened(withdrawn), withdrawn
        return self._engine

    def _opened(self, withdrawn: Withdrawn) -> Engine:
        """Open the engine of the declared source."""
        declared, of = self.declared, self.declared.dataset
        hash_key = order_key(self.folder, under=withdrawn.key)
        if declared.source.in_postgres:
            from confide.rows.copies.copies import PREPARED, UseCopies
            from confide.rows.engines.postgres import open_postgres

            return open_postgres(
                declared.source,
                dataset=of,
                hash_key=hash_key,
                withdrawn=withdrawn.hashes,
                copying=UseCopies(folder=self.folder / PREPARED),
            )
        if declared.source.kind is SourceKind.SPARK:
            from confide.rows.copies.copies import PREPARED, UseCopies
            from confide.rows.engines.spark.spark_engine import open_spark

            return open_spark(
                declared.source,
                base=declared.base,
                dataset=of,
                hash_key=hash_key,
                threads=declared.threads,
                memory_limit=declared.memory_limit,
                withdrawn=withdrawn.hashes,
                copying=UseCopies(folder=self.folder / PREPARED),
            )
        from confide.rows.copies.copies import PREPARED, UseCopies
        from confide.rows.engines.duckdb import open_engine
        from confide.rows.sources.frames import kept

        self._frames = kept(self._frames)
        return open_engine(
            declared.source,
            base=declared.base,
            dataset=of,
            hash_key=hash_key,
            frames=self._frames,
            threads=declared.threads,
            memory_limit=declared.memory_limit,
            copying=UseCopies(folder=self.folder / PREPARED),
            withdrawn=withdrawn.hashes,
        )
