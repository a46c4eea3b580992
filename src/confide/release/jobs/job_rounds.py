"""Jobs in parts: charged once, resumed after a crash, each part durable once and for all.

::

    open       the whole job is charged; what it starts from is committed; no row is read
    a part     rows are read, the job runs from the last committed part, noise is drawn
               reserve (free), commit, publish: what the part made is in the ledger
    …          until the last part

*Lemma.*  The charge covers each noisy step of the job once.  A part is in the transcript only once
it is committed, and the ledger commits each part once, each from the part before it (a growing
release, :mod:`confide.budget.growth`).  A part that was cut off before it was committed left
nothing: its weights and its noise died with the process, and it is run again from the same
committed start with fresh noise.  One that was made is committed before an interrupt goes on; only
a kill in the instant between the record that rows were read and the commit ends the job, since the
ledger takes no such record back.  So whatever was published has the law of one uninterrupted run,
given that the interruption does not depend on what it lost.  An older start cannot be gone on from:
the ledger knows the position, and a ledger that was put back is found out by its anchor.  ∎

*Privacy:* a kill, a power failure or an operator's stop is taken not to depend on rows; a failure
of the job itself may, so it burns the part: the text is constant, the charge stays, and the job
never goes on. Nobody is told anything between parts but which step is under way. What leaves here,
a failure or an interrupt, holds no frame of the job (:mod:`.seal`): none of its rows, and no noise
of a part that will be drawn afresh.

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022, thm. 2.1.
        https://arxiv.org/abs/2202.08312
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from confide.budget.growth import Growth, part_key
from confide.budget.ledger import Entry, Ledger, Step, StoredRelease
from confide.budget.refusals import in_progress
from confide.errors import BurnedError, LedgerFrozenError
from confide.noise.entropy import Entropy
from confide.plans.job import Job, JobPlan
from confide.release.asking import charge_request
from confide.release.jobs.job_answer import JobAnswer, read_answer
from confide.release.jobs.job_gate import JobGate
from confide.release.passage import BoughtAnswer
from confide.release.quiet import no_warnings
from confide.release.site.seal import sealed, stop_of
from confide.release.site.snapshot import RESUMED
from confide.rows.records import RecordRows

Files = Mapping[str, bytes]


class InParts(Protocol):
    """What runs in parts; its files are public."""

    @property
    def parts(self) -> int:
        """Number of parts, at least 1."""

    def opened(self) -> Files:
        """Return what the job starts from; reads no row."""

    def advanced(
        self,
        rows: RecordRows,
        *,
        part: int,
        before: Files,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Files:
        """Return what part number ``part`` (from 1) makes of the files before it."""


def release_in_parts(
    gate: JobGate,
    job: Job,
    *,
    plan: JobPlan,
    runner: InParts,
    analyst: str,
    request_key: str,
    progress: Callable[[str], None] = lambda _: None,
) -> StoredRelease:
    """Return the stored last part of a job, charging it unless this request already was.

    Args:
        gate: Of jobs.
        job: What is planned.
        plan: Of that job.
        runner: What runs it.
        analyst: Account that asks.
        request_key: The same key goes on where an earlier run stopped, or returns the same bytes.
        progress: Told the name of each stage.

    Raises:
        PolicyError: If a cap would be passed, the terms differ, or somebody else is at it.
        ContractError: If the plan is not the job's, or the source lacks what it names.
        BurnedError: If the job failed before, in its last part too.
        ReleaseFailedError: If anything fails after the job was opened; the charge stays.
    """
    return sealed(
        lambda: _released(
            gate,
            job,
            plan=plan,
            runner=runner,
            analyst=analyst,
            request_key=request_key,
            progress=progress,
        )
    )


def has_parts(
    plan: JobPlan, *, runner: InParts, ledger: Ledger, analyst: str, request_key: str
) -> bool:
    """Return whether all parts of a job were taken, so that no row is read for another run."""
    opened = ledger.known(plan.digest(), analyst=analyst, request_key=request_key)
    return opened is not None and any(
        growth.opened == opened.number and growth.position > runner.parts
        for growth in ledger.growths(plan.lineage)
    )


def _released(
    gate: JobGate,
    job: Job,
    *,
    plan: JobPlan,
    runner: InParts,
    analyst: str,
    request_key: str,
    progress: Callable[[str], None],
) -> StoredRelease:
    gate.check(job, plan=plan, progress=progress)
    question = plan.digest()
    opening = charge_request(
        plan,
        analyst=analyst,
        request_key=request_key,
        step=Step(question=question, start=0, stop=1),
    )
    stored = gate.keep(opening, answer=_answer(plan, runner.opened()), progress=progress)
    opened, rows = stored.entry.number, None
    if 1 < _growth(gate, plan, opened=opened).position <= runner.parts:
        progress(RESUMED)
    while (growth := _growth(gate, plan, opened=opened)).position <= runner.parts:
        if growth.closed:
            raise _ended(growth)
        part, before = growth.position, read_answer(gate.ledger.stored(growth.latest).payload)
        made: BoughtAnswer | BaseException
        try:
            with no_warnings():  # that one was given may depend on the data
                rows = rows or gate.read(plan, progress=progress)
                files = runner.advanced(
                    rows, part=part, before=before.files, entropy=gate.entropy, progress=progress
                )
                made = _answer(plan, files)
        except BaseException as broken:
            if stop_of(broken) is not None:
                raise
            made = broken
        request = charge_request(
            plan,
            analyst=analyst,
            request_key=part_key(opened, part=part),
            step=Step(question=question, start=part, stop=part + 1, continues=opened),
        )
        if isinstance(made, BoughtAnswer):
            stored = gate.keep(request, answer=made, progress=progress)
        else:
            stored = gate.take(request, answer=_raising(made), progress=progress)
    latest = gate.ledger.stored(growth.latest)
    if not _is_last(latest.entry, parts=runner.parts):
        raise _ended(growth) if growth.closed else in_progress(growth.busy)
    return StoredRelease(entry=gate.ledger.publish(latest.entry), payload=latest.payload)


def _is_last(entry: Entry, *, parts: int) -> bool:
    """Return whether an answer is that of the last part.

    Its periods count as taken from the moment that reading begins, so a position says it not.
    """
    return entry.step is not None and entry.step.stop > parts


def _ended(growth: Growth) -> BurnedError:
    return BurnedError(
        f"The job of entry {growth.opened} ended: {growth.closed}; its charge stays.",
        hint="Its last part is in the ledger: confide.service.releasing.jobs.last_part, or "
        "checkpoint() of a model. To begin anew, and be charged again, use a new request "
        "key.",
    )


def _raising(failure: BaseException) -> Callable[[], BoughtAnswer]:
    """Return the failure of a part as an answer, which burns it."""

    def answer() -> BoughtAnswer:
        raise failure

    return answer


def _answer(plan: JobPlan, files: Files) -> BoughtAnswer:
    return BoughtAnswer(payload=JobAnswer(plan=plan, files=files).payload())


def _growth(gate: JobGate, plan: JobPlan, *, opened: int) -> Growth:
    for growth in gate.ledger.growths(plan.lineage):
        if growth.opened == opened:
            return growth
    raise LedgerFrozenError(f"The ledger does not know of the job of entry {opened}.")
