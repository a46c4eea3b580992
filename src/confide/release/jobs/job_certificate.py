"""The certificate of a job: what was promised, what it cost, what it drew, and which files it made.

The form is that of a study's certificate where both say the same; instead of measurements it lists
events.  Its body is a function of the stored answer, the ledger's entry and the issuer, so a
verifier rebuilds it and compares.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://www.rfc-editor.org/rfc/rfc8785
"""

import json
from dataclasses import dataclass
from pathlib import Path

from confide.budget.ledger import StoredRelease
from confide.plans.canonical import Json, canonical_bytes, encode
from confide.plans.events import JobEvent
from confide.regular_file import tell_day_alone, write_bytes
from confide.release.certificate.certificate import (
    Issuer,
    data_of,
    explained,
    files_of,
    signed,
    stated,
)
from confide.release.certificate.form_check import statable
from confide.release.certificate.over_sites import federation_part
from confide.release.certificate.parts import AuthorityPart, CommitmentPart, MovedPart
from confide.release.certificate.software import software
from confide.release.certificate.statement import SAMPLER, cadence_of, study_of
from confide.release.jobs.job_answer import JOB_PATH, JobAnswer, read_answer
from confide.release.jobs.job_form import (
    JOB_VERSION,
    EventPart,
    JobDerivedPart,
    JobForm,
    JobGuaranteePart,
    JobPlanPart,
    JobReleasePart,
)
from confide.release.site.keys import SigningKey

CERTIFICATE_PATH = "certificate.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRelease:
    """What a job left: files, and the certificate over them; free to publish.

    Attributes:
        answer: The files with their plan.
        certificate: Signed JSON.
    """

    answer: JobAnswer
    certificate: Json

    def save(self, folder: str | Path) -> Path:
        """Write files, ``job.json`` and ``certificate.json`` into a folder; return it."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        files = {
            **self.answer.files,
            JOB_PATH: self.answer.head(),
            CERTIFICATE_PATH: canonical_bytes(self.certificate),
        }
        for name, content in files.items():
            write_bytes(place / name, content)
        tell_day_alone([*(place / name for name in files), place])
        return place


def certified_job(
    stored: StoredRelease,
    *,
    issuer: Issuer,
    signer: SigningKey,
    authority: AuthorityPart | None = None,
    commitment: CommitmentPart | None = None,
) -> JobRelease:
    """Return the stored answer of a job with its signed certificate."""
    answer = read_answer(stored.payload)
    facts = stated(
        stored.entry, issuer=issuer, key=signer.name, software=software(), authority=authority
    )
    body = derived_job(answer, commitment=commitment)
    certificate = signed(JobForm, facts, body, signer=signer)
    return JobRelease(answer=answer, certificate=certificate.to_json())


@statable()
def derived_job(answer: JobAnswer, *, commitment: CommitmentPart | None = None) -> JobDerivedPart:
    """Return every part of a certificate that follows from the stored answer."""
    plan = answer.plan
    return JobDerivedPart(
        certificate=JOB_VERSION,
        release=JobReleasePart(
            **dict(study_of(plan.study)), product=plan.kind, cadence=cadence_of(plan.study)
        ),
        data=data_of(plan.dataset, commitment=commitment),
        guarantee=JobGuaranteePart(
            **dict(explained(plan)), contribution_bounds=encode(plan.reads.bounds)
        ),
        plan=JobPlanPart(sha256=plan.digest(), kind=plan.kind, spec=json.loads(plan.spec)),
        reads=encode(plan.reads),
        events=[_event(event) for event in plan.events],
        outputs=files_of(answer.files),
        federation=federation_part(plan, added=answer.added),
    )


def _event(event: JobEvent) -> EventPart:
    return EventPart(
        name=event.name,
        noise=encode(event.noise),
        sensitivity=MovedPart(
            l1=str(event.l1), l2_squared=str(event.l2_squared), because=event.because
        ),
        uses=str(event.count),
        reach=str(event.reach) if event.reach else None,
        poisson_sampling_rate=None if event.rate == 1 else str(event.rate),
        sampler=SAMPLER,
    )
