"""The gate of jobs: training and exchange take the same passage as a study.

::

    check the plan against its job                events and charge are derived again
    check the rows that it reads                  no row is read, nothing is charged
    reserve, record that reading begins           as for a study (:mod:`.passage`)
    read bounded rows, run the job                in memory; exact values die inside the job
    commit, publish                               as for a study

*Privacy:* a job is charged for the events in its plan, whichever patients there are.  What each
patient adds is not known to the gate, so a policy that leaves patients out is refused: nobody could
be charged for less than everything.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from confide.budget.ledger import (
    ChargeRequest,
    Entry,
    Ledger,
    Reservation,
    StoredRelease,
)
from confide.budget.per_patient.caps import patient_caps
from confide.errors import ContractError
from confide.noise.entropy import Entropy
from confide.plans.job import Job, JobPlan, require_sound_job
from confide.release.asking import charge_request
from confide.release.certificate.certificate import require_statable
from confide.release.jobs.job_answer import JobAnswer
from confide.release.passage import Answering, BoughtAnswer, Passage
from confide.rows.engine import Engine
from confide.rows.records import RecordRows


class RunnableJob(Job, Protocol):
    """A job that can be run."""

    def run(
        self,
        rows: RecordRows,
        *,
        plan: JobPlan,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return public files by name; what is in them is hidden by the events of the plan.

        Called once, after the charge is durable.  ``progress`` is told words that do not depend on
        rows.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class JobGate:
    """Everything that a job passes through.

    Attributes:
        ledger: Where charges and payloads are stored.
        engine: What reads rows.
        entropy: What noise is made of.
        report_incident: Told the incident id and the failure, for the steward's local log only.
        require_consent: Refuses once others withdrew than those whom the engine leaves out.
    """

    ledger: Ledger
    engine: Engine
    entropy: Entropy
    report_incident: Callable[[str, BaseException], None]
    require_consent: Callable[[], None]

    def release(
        self,
        job: RunnableJob,
        *,
        plan: JobPlan,
        analyst: str,
        request_key: str,
        progress: Callable[[str], None] = lambda _: None,
    ) -> StoredRelease:
        """Return the stored answer of a job, charging it unless this request already was.

        Args:
            job: What is run.
            plan: Of that job, by :func:`confide.plans.job.plan_job`.
            analyst: Account that asks.
            request_key: A retry with the same key returns the same bytes and costs nothing.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
            ContractError: If the plan is not the job's, or the source lacks what it names; nothing
                is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        self.check(job, plan=plan, progress=progress)

        def answer() -> BoughtAnswer:
            rows = self.read(plan, progress=progress)
            files = job.run(rows, plan=plan, entropy=self.entropy, progress=progress)
            return BoughtAnswer(payload=JobAnswer(plan=plan, files=files).payload())

        request = charge_request(plan, analyst=analyst, request_key=request_key)
        return self.take(request, answer=answer, progress=progress)

    def check(self, job: Job, *, plan: JobPlan, progress: Callable[[str], None]) -> None:
        """Refuse a plan that is not the job's, or that the source cannot answer; reads no row."""
        progress("check")
        require_sound_job(plan, job=job)
        require_statable(plan)
        require_everybody_stays(plan, ledger=self.ledger)
        self.engine.check_records(plan.reads, dataset=plan.dataset)

    def read(self, plan: JobPlan, *, progress: Callable[[str], None]) -> RecordRows:
        """Return the bounded rows of a charged plan."""
        progress("read")
        return self.engine.records(plan.reads, dataset=plan.dataset)

    def take(
        self,
        request: ChargeRequest,
        *,
        answer: Answering,
        progress: Callable[[str], None],
        before: Callable[[Entry], None] = lambda _: None,
    ) -> StoredRelease:
        """Take the passage, under a policy that leaves nobody out.

        Args:
            request: What is charged.
            answer: Reads rows and hides them.
            progress: Told the name of each stage.
            before: Told the entry that is reserved, before reading begins; what it raises gives the
                charge back.
        """

        def admit(held: Reservation) -> Answering:
            self._require_everybody(held.entry)
            before(held.entry)
            return answer

        return self._passage().take(request, admit=admit, progress=progress)

    def keep(
        self, request: ChargeRequest, *, answer: BoughtAnswer, progress: Callable[[str], None]
    ) -> StoredRelease:
        """Take the passage with an answer that was made before and that nobody has seen."""

        def admit(held: Reservation) -> None:
            self._require_everybody(held.entry)

        return self._passage().keep(request, answer=answer, admit=admit, progress=progress)

    def _passage(self) -> Passage:
        return Passage(
            ledger=self.ledger,
            entropy=self.entropy,
            report_incident=self.report_incident,
            require_consent=self.require_consent,
        )

    def _require_everybody(self, entry: Entry) -> None:
        """Refuse a policy that was adopted between check and charge."""
        if entry.policy:
            adopted = self.ledger.desk.version(entry.lineage, digest=entry.policy)
            if patient_caps(adopted):
                raise _leaves_out()


def require_everybody_stays(plan: JobPlan, *, ledger: Ledger) -> None:
    """Refuse a job under a policy that leaves patients out.

    Raises:
        ContractError: If it is.
    """
    if plan.dataset.patients or patient_caps(ledger.desk.policy(plan.lineage)):
        raise _leaves_out()


def _leaves_out() -> ContractError:
    return ContractError(
        "The policy leaves patients out whose own budget is spent, and a job would charge every "
        "patient for all that it costs.",
        hint="Run jobs in a lineage whose policy has no cap of a patient with enforce: drop.",
    )
