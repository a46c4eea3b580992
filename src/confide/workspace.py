"""The façade that users import: a data set, its engine, its ledger and its keys, wired together.

Opening a workspace reads no rows.  Its files are in ``.confide`` (mode 0700) beside dataset.yaml.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import Spent, StoredRelease
from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.budget.place import exists
from confide.errors import BudgetExhaustedError, ContractError
from confide.files.dataset import DeclaredDataset, asked_nano, declared_by, read_dataset
from confide.files.private_places import WORKSPACE
from confide.files.study import DeclaredStudy, ask_from, read_study
from confide.noise.entropy import SystemEntropy
from confide.plans.allocate import Ask, forecasts, make_plan
from confide.plans.estimates import Forecast
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.reuse import Answer
from confide.privacy.exact import Number
from confide.release.approval import analyst_of, authority_of
from confide.release.commitment import published
from confide.release.consent import Forgotten, Lost, require_same_consent, who_withdrew, withdraw
from confide.release.gate import Gate, asked_of
from confide.release.incidents import log_incident, stored_already
from confide.release.keys import read_order_key
from confide.release.ledger_pin import make_keys, may_begin
from confide.release.left_out import cap_uses, refusal
from confide.release.patients import may_leave_out
from confide.release.published import key_of_plan, refuse_again
from confide.release.refusal import told_in_epsilon
from confide.release.reused import certified_reuse, offers
from confide.release.rotation import signing_key
from confide.release.seal import sealing
from confide.release.site_ledger import ANCHOR, site_ledger, site_patients
from confide.release.snapshot import Snapshot, source_state
from confide.report.release import Release, ReusedRelease, certified
from confide.report.reused import reused_release
from confide.rows.engine import Engine

if TYPE_CHECKING:
    from confide.drawing.charts.outlines import Maps
    from confide.rows.prepared.build import Preparation


class Workspace:
    """One data set, ready to plan and release; a context manager, not shared between threads."""

    def __init__(
        self, declared: DeclaredDataset, *, frames: Mapping[str, object] | None = None
    ) -> None:
        self.declared = declared
        self._frames = frames
        self._engine: Engine | None = None
        self._withdrawn = Withdrawn()
        self._patients: PatientStore | None = None
        self._folder = declared.base / WORKSPACE
        self._signer = signing_key(self._folder, place=declared.ledger)
        self.ledger = site_ledger(
            self._folder, signer=self._signer, place=declared.ledger, anchor=declared.anchor
        )
        try:
            self.ledger.register(declared.terms())
            if declared.policy is not None:
                self.ledger.desk.follow(declared.dataset.lineage, policy=declared.policy)
        except BaseException:
            self.ledger.close()
            raise

    @property
    def public_key(self) -> str:
        """The key that readers pin."""
        return self._signer.name

    def plan(
        self,
        *statistics: Statistic | Mapping[str, Any],
        epsilon: Number | None = None,
        rho: Number | None = None,
        study: Study | None = None,
    ) -> Plan:
        """Return a priced plan; reads and charges nothing.

        Args:
            statistics: Specs, or mappings in the words of study.yaml.
            epsilon: Most that the plan may cost; under zcdp at the declared δ.
            rho: The same in ρ.
            study: Why; an id is made from the statistics when None.

        Raises:
            ContractError: If a spec does not suit the data set or the errors need more.
        """
        of = self.declared.dataset
        asks = [
            ask_from(each, dataset=of) if isinstance(each, Mapping) else Ask(statistic=each)
            for each in statistics
        ]
        nano = asked_nano(epsilon, rho, dataset=of)
        study = study or Study(id="-".join(ask.statistic.id for ask in asks)[:60] or "study")
        return make_plan(asks, study=study, dataset=of, nano=nano)

    def study(self, path: str | Path, *, period: str | None = None) -> DeclaredStudy:
        """Return what a study.yaml asks of this data set; ``period`` is for one that repeats."""
        return read_study(Path(path), declared=self.declared, period=period)

    def forecast(self, plan: Plan) -> dict[str, Forecast | str]:
        """Return what each statistic will be like, or the reason why that cannot be said yet."""
        return forecasts(plan)

    def refusal(self, plan: Plan) -> BudgetExhaustedError | None:
        """Return why :meth:`release` would refuse a plan that can count nobody; None if it may."""
        found = refusal(plan, uses=cap_uses(plan.dataset, ledger=self.ledger))
        return None if found is None else told_in_epsilon(found, plan=plan)

    @sealing
    def release(
        self,
        plan: Plan,
        *,
        request: str | None = None,
        analyst: str | None = None,
        again: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Charge, read, add noise, certify.

        Args:
            plan: What to release.
            request: Idempotency key: the same plan and key return the same release at no charge.
                The plan's digest when None, so that running a study twice costs once.
            analyst: Account that asks; who has approval, or the user's login, when None.
            again: Publish anew what was published or is under way, by anybody: another charge.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or nobody counted; nothing is charged.
            ContractError: If the source lacks what is named, or without ``again`` the same was
                asked before (:mod:`confide.release.published`); nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        key, who = request or key_of_plan(plan), analyst or self.analyst(plan, request=request)
        if not again:
            refuse_again(plan, ledger=self.ledger, analyst=who, request_key=key)
        outlines = self.declared.outlines(plan)
        with Snapshot(state=self.engine().state, folder=self._folder) as snapshot:
            try:
                told = snapshot.watched(progress)
                stored = self._gate().release(
                    plan, analyst=who, request_key=key, again=again, progress=told
                )
            except BudgetExhaustedError as refusal:
                raise told_in_epsilon(refusal, plan=plan) from None
            return self._certified(stored, snapshot=snapshot, outlines=outlines)

    @sealing
    def advance(
        self,
        plan: Plan,
        *,
        request: str | None = None,
        analyst: str | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Publish the next periods of a growing release, which was charged when it was first run.

        As :meth:`release`; of the plan, ``through`` and the snapshot alone may have changed.
        """
        outlines = self.declared.outlines(plan)
        with Snapshot(state=self.engine().state, folder=self._folder) as snapshot:
            stored = self._gate().advance(
                plan,
                analyst=analyst or self.analyst(plan, request=request),
                request_key=request or key_of_plan(plan),
                progress=snapshot.watched(progress),
            )
            return self._certified(stored, snapshot=snapshot, outlines=outlines)

    def _certified(self, stored: StoredRelease, *, snapshot: Snapshot, outlines: "Maps") -> Release:
        with stored_already(stored.entry.number):
            return certified(
                stored,
                issuer=self.declared.issuer(),
                outlines=outlines,
                signer=self._signer,
                authority=authority_of(self.ledger, stored.entry),
                commitment=published(snapshot.opening(stored.entry)),
            )

    def _gate(self) -> Gate:
        from confide.report.rehearsal import rehearse

        of, ledger = self.declared.dataset, self.ledger
        return Gate(
            ledger=ledger,
            engine=self.engine(),
            entropy=SystemEntropy(),
            report_incident=functools.partial(log_incident, self._folder / "incidents.log"),
            require_consent=self.same_consent(),
            rehearse=rehearse,
            patients=self.patients() if may_leave_out(of, ledger=ledger) else None,
        )

    def same_consent(self) -> Callable[[], None]:
        """Return what refuses once others withdrew consent than those the engine leaves out."""
        of, ledger = self._withdrawn, self.ledger
        return functools.partial(require_same_consent, of, folder=self._folder, ledger=ledger)

    def patients(self) -> PatientStore:
        """Return the store of per-patient budgets: for the gate and the privacy officer."""
        if self._patients is None:
            self._patients = site_patients(self._folder, lineage=self.declared.dataset.lineage)
        return self._patients

    def forget(self, ids: Iterable[str], *, lost: Lost | None = None) -> Forgotten:
        """Take persons who withdrew consent out of what is kept and of every later release.

        Args:
            ids: Person ids as the source has them; the data need not hold them.
            lost: Why these are all who ever withdrew; None if lists of before hold.

        Raises:
            ContractError: If one cannot be a person id; nothing was done.
        """
        if self._patients is not None:
            self._patients.close()
        self._patients, of, over = None, self.declared.dataset, self._without
        return withdraw(ids, lost, dataset=of, over=over, ledger=self.ledger, folder=self._folder)

    def offers(self, plan: Plan) -> dict[str, Answer | ContractError]:
        """Return for each statistic how published releases answer it, or why they do not: free."""
        return offers(self.ledger, plan)

    def reuse(self, plan: Plan) -> ReusedRelease:
        """Return a release made of published ones, if they answer the plan; charges nothing."""
        by = self.declared.issuer()
        found = certified_reuse(self.ledger, plan, issuer=by, signer=self._signer)
        return reused_release(*found, outlines=self.declared.outlines(plan))

    def explain(self, plan: Plan) -> tuple[str, ...]:
        """Return how a plan would be read; ContractError if the source lacks what it names."""
        return self.engine().explain(asked_of(plan), dataset=plan.dataset)

    def analyst(self, plan: Plan, *, request: str | None = None) -> str:
        """Return for whom a plan is run: whose approved request admits it, or the user's login."""
        return analyst_of(self.ledger, plan, request=request)

    def spent(self, plan: Plan | None = None) -> Spent:
        """Return the use of every cap, or of those that a plan falls under."""
        lineage = self.declared.dataset.lineage
        if plan is None:
            return self.ledger.spent(lineage)
        return self.ledger.spent(lineage, project=plan.study.project, analyst=self.analyst(plan))

    def close(self) -> None:
        """Release the engine and the ledger."""
        for part in (self._engine, self._patients):
            if part is not None:
                part.close()
        self._engine = self._patients = None
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def engine(self) -> Engine:
        """Return the engine over the source as it is now, consent too; reads no rows by itself."""
        return self._without(who_withdrew(self._folder, ledger=self.ledger))

    def _without(self, withdrawn: Withdrawn) -> Engine:
        declared, of = self.declared, self.declared.dataset
        # Closed if of other files, of before somebody withdrew, or broken: rows are of their time.
        if self._engine is not None and (
            withdrawn != self._withdrawn
            or not self._engine.sound()
            or self._engine.state != source_state(declared.source, base=declared.base, dataset=of)
        ):
            self._engine.close()
            self._engine = None
        if self._engine is None:
            from confide.rows.duckdb import open_engine
            from confide.rows.prepared.copies import PREPARED, UseCopies
            from confide.rows.sources.frames import kept

            self._withdrawn, self._frames = withdrawn, kept(self._frames)
            self._engine = open_engine(
                declared.source,
                base=declared.base,
                dataset=of,
                hash_key=read_order_key(self._folder),
                frames=self._frames,
                threads=declared.threads,
                memory_limit=declared.memory_limit,
                copying=UseCopies(folder=self._folder / PREPARED),
                withdrawn=withdrawn.hashes,
            )
        return self._engine


def initialise(folder: Path) -> Path:
    """Make the workspace folder with its keys, unless it exists; return its path."""
    inside = folder / WORKSPACE
    make_keys(inside)
    inside.chmod(0o700)
    return inside


def open_study(path: str | Path, *, period: str | None = None) -> tuple[Workspace, DeclaredStudy]:
    """Open the workspace of the data set that a study.yaml names, with the study; reads no rows.

    Args:
        path: The study.
        period: Which run of a study that repeats: "2026-10".

    Raises:
        ContractError: If the study or the data set breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    study = read_study(Path(path), period=period)
    initialise(study.declared.base)
    return Workspace(study.declared), study


@contextlib.contextmanager
def open_ledger(dataset: str | Path) -> Iterator[tuple[ChainedLedger, DeclaredDataset]]:
    """Open the ledger of a dataset.yaml for an officer, even if it is frozen or its caps differ.

    Raises:
        ContractError: If the description breaks its contract, or there is no ledger yet.
    """
    declared = read_dataset(Path(dataset))
    folder = declared.base / WORKSPACE
    may_be = exists(declared.ledger, folder=folder) or (declared.anchor or folder / ANCHOR).exists()
    if not may_be and (may_begin(folder) or not folder.exists()):
        raise ContractError(
            "There is no ledger yet.", hint="It is made when a study is planned or run."
        )
    ledger = site_ledger(
        folder,
        signer=signing_key(folder, place=declared.ledger),
        place=declared.ledger,
        anchor=declared.anchor,
    )
    try:
        yield ledger, declared
    finally:
        ledger.close()


def open_workspace(
    dataset: str | Path | Mapping[str, Any],
    *,
    frames: Mapping[str, object] | None = None,
    folder: str | Path | None = None,
) -> Workspace:
    """Open a workspace; reads no rows.

    Args:
        dataset: Path of a dataset.yaml, its text, or its content as a mapping.
        frames: Tables by name, for ``source: {kind: frames}``: pandas, Polars or Arrow.
        folder: Where ``.confide`` is, when ``dataset`` is not a path.

    Raises:
        ContractError: If the description breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    declared = declared_by(dataset, folder=folder)
    initialise(declared.base)
    return Workspace(declared, frames=frames)


def preparation(dataset: str | Path) -> "Preparation":
    """Return the preparation of the source of a dataset.yaml, for the steward; reads no rows.

    Raises:
        ContractError: If the description breaks its contract.
    """
    from confide.rows.prepared.build import Preparation
    from confide.rows.prepared.copies import PREPARED

    declared = read_dataset(Path(dataset))
    inside = initialise(declared.base)
    return Preparation(
        source=declared.source,
        base=declared.base,
        dataset=declared.dataset,
        hash_key=read_order_key(inside),
        folder=inside / PREPARED,
        threads=declared.threads,
        memory_limit=declared.memory_limit,
        withdrawn=who_withdrew(inside, ledger=None).hashes,
    )
