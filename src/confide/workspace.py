"""The façade that users import: a data set, ready to plan and release.

Opening a workspace reads no rows.  Each method is a use case of :mod:`confide.service`.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import Spent
from confide.budget.per_patient.store import PatientStore
from confide.errors import BudgetExhaustedError, ContractError
from confide.files.dataset import DeclaredDataset
from confide.files.study import DeclaredStudy, read_study
from confide.plans.estimates import Forecast
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.pricing.allocate import forecasts
from confide.plans.reuse import Answer
from confide.privacy.exact import Number
from confide.release.approval import analyst_of
from confide.release.consent import Forgotten, Lost
from confide.release.gate import asked_of
from confide.release.on_record import on_record
from confide.release.reused import offers
from confide.release.site.seal import sealing
from confide.report.release import Release, ReusedRelease
from confide.rows.engine import Engine
from confide.service.opening import declared_in, known_to, open_ledger, study_in
from confide.service.patients.withdraw import withdraw
from confide.service.planning.left_out import refusal_of
from confide.service.planning.priced import priced
from confide.service.preparing.prepare import preparation
from confide.service.releasing.release import advance, release
from confide.service.releasing.reuse import reuse
from confide.service.site import Site
from confide.service.spent import spent_on

if TYPE_CHECKING:
    from confide.files.synth.synth import DeclaredSynthesis
    from confide.report.rehearsed import Rehearsal
    from confide.service.synthesis.evaluate import SynthesisEvaluation
    from confide.service.synthesis.plan import SynthesisPreview
    from confide.service.synthesis.run import SyntheticRelease

__all__ = ["Workspace", "open_ledger", "open_study", "open_workspace", "preparation"]


class Workspace:
    """One data set, ready to plan and release; a context manager, not shared between threads.

    Attributes:
        site: What use cases work on.
    """

    def __init__(
        self, declared: DeclaredDataset, *, frames: Mapping[str, object] | None = None
    ) -> None:
        self.site = Site(declared, frames=frames)

    @property
    def declared(self) -> DeclaredDataset:
        """What dataset.yaml says."""
        return self.site.declared

    @property
    def ledger(self) -> ChainedLedger:
        """The ledger of its budget."""
        return self.site.ledger

    @property
    def public_key(self) -> str:
        """The key that readers pin."""
        return self.site.signer.name

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
        return priced(
            statistics,
            declared=self.declared,
            epsilon=epsilon,
            rho=rho,
            study=study,
            record=on_record(self.ledger),
        )

    def study(self, path: str | Path, *, period: str | None = None) -> DeclaredStudy:
        """Return what a study.yaml asks of this data set; ``period`` is for one that repeats."""
        return known_to(self.site, read_study(Path(path), declared=self.declared, period=period))

    def forecast(self, plan: Plan) -> dict[str, Forecast | str]:
        """Return what each statistic will be like, or the reason why that cannot be said yet."""
        return forecasts(plan)

    def refusal(self, plan: Plan) -> BudgetExhaustedError | None:
        """Return why :meth:`release` would refuse a plan that can count nobody; None if it may."""
        return refusal_of(plan, ledger=self.ledger)

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
        return release(
            self.site, plan, request=request, analyst=analyst, again=again, progress=progress
        )

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
        return advance(self.site, plan, request=request, analyst=analyst, progress=progress)

    def twin(
        self,
        plan: Plan,
        *,
        patients: int | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> "Rehearsal":
        """Rehearse a plan on rows made up from dataset.yaml; opens neither data nor ledger.

        Args:
            plan: What would be released.
            patients: How many are made up; what public numbers say when None.
            progress: Told the name of each stage.

        Returns:
            What would be published, marked as a rehearsal wherever it is shown; no certificate.

        Raises:
            UnsupportedError: If the plan fails on made-up rows.
        """
        from confide.service.releasing.twin import rehearse

        return rehearse(self.declared, plan, patients=patients, progress=progress)

    def synthesis(self, asked: str | Path | Mapping[str, Any]) -> "DeclaredSynthesis":
        """Return what a synth.yaml, or a mapping in its words, asks; reads and charges nothing.

        Raises:
            ContractError: If it breaks its contract.
        """
        from confide.files.synth.synth import read_synth

        source = asked if isinstance(asked, Mapping) else Path(asked)
        return read_synth(source, declared=self.declared)

    def foresee(self, asked: "DeclaredSynthesis") -> "SynthesisPreview":
        """Return what a synthesis would cost, and how far its tables would be off: free.

        Raises:
            ContractError: If it cannot be learnt; the message says what would be.
        """
        from confide.service.synthesis.plan import preview_synthesis

        return preview_synthesis(asked, site=self.site)

    @sealing
    def synthesize(
        self,
        asked: "DeclaredSynthesis",
        *,
        request: str | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> "SyntheticRelease":
        """Charge once, measure noisy counts, certify; the tables that follow cost nothing.

        Args:
            asked: What :meth:`synthesis` returned.
            request: Idempotency key; the plan's digest when None.  One that was stopped goes on.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed; nothing is charged.
            ContractError: If it cannot be learnt, or the source lacks what is named.
            ReleaseFailedError: If anything fails after it was charged; the charge stays.
        """
        from confide.service.synthesis.run import synthesise

        return synthesise(self.site, asked, request=request, progress=progress)

    @sealing
    def evaluate(
        self,
        asked: "DeclaredSynthesis",
        *,
        request: str | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> "SynthesisEvaluation":
        """Check a synthesis that was run against its criteria; charges their declared share once.

        Args:
            asked: What :meth:`synthesis` returned, with ``accept``.
            request: Key under which the synthesis was run.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed; nothing is charged.
            ContractError: If it was not run, or has no criteria.
            ReleaseFailedError: If anything fails after it was charged; the charge stays.
        """
        from confide.service.synthesis.evaluate import evaluated_synthesis

        return evaluated_synthesis(self.site, asked, request=request, progress=progress)

    def same_consent(self) -> Callable[[], None]:
        """Return what refuses once others withdrew consent than those the engine leaves out."""
        return self.site.same_consent()

    def patients(self) -> PatientStore:
        """Return the store of per-patient budgets: for the gate and the privacy officer."""
        return self.site.patients()

    def forget(self, ids: Iterable[str], *, lost: Lost | None = None) -> Forgotten:
        """Take persons who withdrew consent out of what is kept and of every later release.

        Args:
            ids: Person ids as the source has them; the data need not hold them.
            lost: Why these are all who ever withdrew; None if lists of before hold.

        Raises:
            ContractError: If one cannot be a person id; nothing was done.
        """
        return withdraw(self.site, ids, lost=lost)

    def offers(self, plan: Plan) -> dict[str, Answer | ContractError]:
        """Return for each statistic how published releases answer it, or why they do not: free."""
        return offers(self.ledger, plan)

    def reuse(self, plan: Plan) -> ReusedRelease:
        """Return a release made of published ones, if they answer the plan; charges nothing."""
        return reuse(self.site, plan)

    def explain(self, plan: Plan) -> tuple[str, ...]:
        """Return how a plan would be read; ContractError if the source lacks what it names."""
        return self.engine().explain(asked_of(plan), dataset=plan.dataset)

    def analyst(self, plan: Plan, *, request: str | None = None) -> str:
        """Return for whom a plan is run: whose approved request admits it, or the user's login."""
        return analyst_of(self.ledger, plan, request=request)

    def spent(self, plan: Plan | None = None) -> Spent:
        """Return the use of every cap, or of those that a plan falls under."""
        return spent_on(self.site, plan)

    def close(self) -> None:
        """Release the engine and the ledger."""
        self.site.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def engine(self) -> Engine:
        """Return the engine over the source as it is now, consent too; reads no rows by itself."""
        return self.site.engine()


def open_study(path: str | Path, *, period: str | None = None) -> tuple[Workspace, DeclaredStudy]:
    """Open the workspace of the data set that a study.yaml names, with the study; reads no rows.

    Args:
        path: The study.
        period: Which run of a study that repeats: "2026-10".

    Raises:
        ContractError: If the study or the data set breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    study = study_in(Path(path), period=period)
    workspace = Workspace(study.declared)
    return workspace, known_to(workspace.site, study)


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
    return Workspace(declared_in(dataset, folder=folder), frames=frames)
