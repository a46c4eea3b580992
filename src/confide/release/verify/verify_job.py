"""Verification of a job without data: loss from events, files, ledger's payload, certificate.

*Privacy:* reads published files only.  What the files say of the rows cannot be derived again; that
they are the ones that were charged for, and that the noise stated costs what was charged, can.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from confide.errors import ConfideError, VerificationError
from confide.plans.canonical import Json
from confide.plans.job import Job, job_underpriced, require_sound_job
from confide.regular_file import read_bytes
from confide.release.jobs.job_answer import JOB_PATH, JobAnswer, read_head
from confide.release.jobs.job_certificate import derived_job
from confide.release.jobs.job_form import JOB_VERSION, JobForm
from confide.release.verify.checks import (
    Check,
    Owed,
    charges_check,
    entry_check,
    file_checks,
    rebuilt_checks,
)

ReadSpec: TypeAlias = Callable[[str, str], Job | None]
"""From the kind and the settings of a job to the job; None where they are not known."""


def is_job(certificate: Json) -> bool:
    """Return whether a certificate says that it is of a job."""
    return isinstance(certificate, dict) and certificate.get("certificate") == JOB_VERSION


def job_checks(
    form: JobForm, *, folder: Path, read_spec: ReadSpec | None = None
) -> Iterator[Check]:
    """Yield what was checked besides signature and form.

    Args:
        form: Of its certificate.
        folder: Where its files are.
        read_spec: Reads the settings of a job; without it, events are taken as stated.
    """
    try:
        answer = answer_in(folder)
    except (ConfideError, OSError) as broken:
        detail = str(broken) if isinstance(broken, ConfideError) else "a file is missing"
        yield Check(name="answer of the job", holds=False, detail=detail)
        return
    yield Check(name="answer of the job", holds=True)
    plan = answer.plan
    yield _losses(answer)
    if read_spec is not None:
        yield _events(answer, read_spec=read_spec)
    follows = derived_job(answer, commitment=form.data.commitment)
    yield from rebuilt_checks(form.to_json(), follows=follows)
    yield entry_check(form, lineage=plan.lineage, payload=answer.digest())
    yield charges_check(form, owed=Owed.of(plan), grown=True)
    yield from file_checks(follows.outputs, form=form, folder=folder)


def answer_in(folder: Path) -> JobAnswer:
    """Return the answer whose first line and files lie in a folder.

    Raises:
        VerificationError: If they are not what they say.
        OSError: If one cannot be read.
    """
    plan, listed, added = read_head(read_bytes(folder / JOB_PATH))
    files = {}
    for path, size, sha256 in listed:
        content = read_bytes(folder / path, largest=None)
        if len(content) != size or hashlib.sha256(content).hexdigest() != sha256:
            raise VerificationError(f"{path} was changed.")
        files[path] = content
    return JobAnswer(plan=plan, files=files, added=added)


def _losses(answer: JobAnswer) -> Check:
    try:
        over = job_underpriced(answer.plan)
        detail = "the events lose more than was charged" if over else ""
    except ConfideError as broken:
        over, detail = True, str(broken)
    return Check(name="losses", holds=not over, detail=detail)


def _events(answer: JobAnswer, *, read_spec: ReadSpec) -> Check:
    """Derive what is read and drawn again from the settings of the job."""
    plan = answer.plan
    job, detail = read_spec(plan.kind, plan.spec), ""
    if job is None:
        detail = f"this version knows no such job: {plan.kind[:40]}"
    else:
        try:
            require_sound_job(plan, job=job)
        except ConfideError:
            detail = "what is read or drawn does not follow from the settings"
    return Check(name="settings", holds=not detail, detail=detail)
