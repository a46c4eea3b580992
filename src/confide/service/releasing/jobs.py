"""A job through the gate of an open data set: charged, run, certified."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import State, StoredRelease
from confide.errors import BudgetExhaustedError
from confide.files.dataset import DeclaredDataset
from confide.files.public.private_places import WORKSPACE
from confide.noise.entropy import SystemEntropy
from confide.plans.job import Job, JobPlan, plan_job
from confide.plans.plan import Study
from confide.privacy.exact import Number, exact
from confide.release.approval import analyst_of, authority_of
from confide.release.certificate.certificate import commitment_of
from confide.release.certificate.parts import CommitmentPart
from confide.release.jobs.job_answer import is_answer
from confide.release.jobs.job_certificate import JobRelease, certified_job
from confide.release.jobs.job_gate import JobGate, RunnableJob
from confide.release.jobs.job_rounds import InParts, has_parts, release_in_parts
from confide.release.published import has_answer, key_of_plan
from confide.release.refusal import told_in_epsilon
from confide.release.site.incidents import log_incident
from confide.release.site.rotation import signing_key
from confide.release.site.seal import sealing
from confide.release.site.snapshot import Snapshot
from confide.service.releasing.release import require_checked

if TYPE_CHECKING:
    from confide.rows.engine import Engine


class OpenData(Protocol):
    """A data set that is open: a site, or a workspace."""

    @property
    def declared(self) -> DeclaredDataset:
        """What dataset.yaml says."""

    @property
    def ledger(self) -> ChainedLedger:
        """The ledger of its budget."""

    def engine(self) -> "Engine":
        """Return the engine over the source as it is now."""

    def same_consent(self) -> Callable[[], None]:
        """Return what refuses once others withdrew consent than those the engine leaves out."""


def planned(ws: OpenData, job: Job, *, study: Study | None = None, delta: Number = 0) -> JobPlan:
    """Return the priced plan of a job; reads and charges nothing.

    Args:
        ws: Whose data set.
        job: What is to be run.
        study: Why; the kind of the job when None.
        delta: Charged where an event has no loss without one.

    Raises:
        ContractError: If the job does not suit the data set.
    """
    why = study or Study(id=job.kind)
    return plan_job(job, study=why, dataset=ws.declared.dataset, delta=exact(delta))


def gate_of(ws: OpenData) -> JobGate:
    """Return the gate of jobs of a workspace."""
    return JobGate(
        ledger=ws.ledger,
        engine=ws.engine(),
        entropy=SystemEntropy(),
        report_incident=functools.partial(
            log_incident, ws.declared.base / WORKSPACE / "incidents.log"
        ),
        require_consent=ws.same_consent(),
    )


@sealing
def run_job(
    ws: OpenData,
    job: RunnableJob,
    *,
    plan: JobPlan,
    request: str | None = None,
    analyst: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> JobRelease:
    """Charge, run, certify.

    Args:
        ws: Where.
        job: What is run.
        plan: Of that job, by :func:`planned`.
        request: Idempotency key; the same plan with the same key returns the same files at no
            charge.  The plan's digest when None.
        analyst: Account that asks; who has approval, or the user's login, when None.
        progress: Told the name of each stage.

    Raises:
        PolicyError: If a cap would be passed; nothing is charged.
        ContractError: If the plan is not the job's, or the source lacks what it names.
        ReleaseFailedError: If anything fails after reading began; the charge stays.
    """
    who = analyst or analyst_of(ws.ledger, plan, request=request)
    key = request or key_of_plan(plan)
    require_checked(
        ws.declared, stored=has_answer(plan, ledger=ws.ledger, analyst=who, request_key=key)
    )

    def through(watched: Callable[[str], None]) -> StoredRelease:
        return gate_of(ws).release(job, plan=plan, analyst=who, request_key=key, progress=watched)

    return certified_through(ws, plan, through=through, progress=progress)


@sealing
def run_in_parts(
    ws: OpenData,
    job: Job,
    *,
    plan: JobPlan,
    runner: InParts,
    request: str | None = None,
    analyst: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> JobRelease:
    """Charge once, run part by part from where an earlier run stopped, certify.

    Arguments are those of :func:`run_job`; ``runner`` is what runs the job.  Raises what
    :func:`confide.release.jobs.job_rounds.release_in_parts` does.
    """
    who = analyst or analyst_of(ws.ledger, plan, request=request)
    key = request or key_of_plan(plan)
    done = has_parts(plan, runner=runner, ledger=ws.ledger, analyst=who, request_key=key)
    require_checked(ws.declared, stored=done)

    def through(watched: Callable[[str], None]) -> StoredRelease:
        return release_in_parts(
            gate_of(ws),
            job,
            plan=plan,
            runner=runner,
            analyst=who,
            request_key=key,
            progress=watched,
        )

    return certified_through(ws, plan, through=through, progress=progress)


def last_part(ws: OpenData) -> JobRelease | None:
    """Return the last answer of a job in the ledger, certified; None where there is none.

    For a job that ended early: what it published until then was charged for.
    """
    for entry in reversed(ws.ledger.entries(ws.declared.dataset.lineage)):
        if entry.state is State.PUBLISHED and not entry.withheld:
            stored = ws.ledger.stored(entry.number)
            if is_answer(stored.payload):
                return _signed(ws, stored)
    return None


def certified_through(
    ws: OpenData,
    plan: JobPlan,
    *,
    through: Callable[[Callable[[str], None]], StoredRelease],
    progress: Callable[[str], None],
) -> JobRelease:
    """Take the passage, commit to the snapshot, certify.

    Args:
        ws: Whose data set.
        plan: Of the job.
        through: Takes the passage, with a listener to stages.
        progress: Told the name of each stage.

    Raises:
        BudgetExhaustedError: If a cap would be passed, in words of ε; else what ``through`` does.
    """
    folder = ws.declared.base / WORKSPACE
    with Snapshot(state=ws.engine().state, folder=folder) as snapshot:
        try:
            stored = through(snapshot.watched(progress))
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        opening = snapshot.opening(stored.entry)
    return _signed(ws, stored, commitment=commitment_of(opening))


def _signed(
    ws: OpenData, stored: StoredRelease, *, commitment: CommitmentPart | None = None
) -> JobRelease:
    """Return a stored answer with its certificate."""
    declared = ws.declared
    return certified_job(
        stored,
        issuer=declared.issuer(),
        signer=signing_key(declared.base / WORKSPACE, place=declared.ledger),
        authority=authority_of(ws.ledger, stored.entry),
        commitment=commitment,
    )
