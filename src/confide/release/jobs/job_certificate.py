"""The certificate of a job: what was promised, what it cost, what it drew, and which files it made.

The form is that of a study's certificate where both say the same; instead of measurements it lists
events.  Its body is a function of the stored answer, the ledger's entry and the issuer, so a
verifier rebuilds it and compares.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://www.rfc-editor.org/rfc/rfc8785
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.budget.ledger import StoredRelease
from confide.plans.canonical import Json, canonical_bytes, encode
from confide.plans.events import JobEvent
from confide.regular_file import tell_day_alone, write_bytes
from confide.release.certificate.authority import NO_AUTHORITY, Authority
from confide.release.certificate.certificate import Issuer, data_of, guarantee_of, signed, stated
from confide.release.certificate.equivalents import equivalents
from confide.release.certificate.in_words import in_words, not_protected
from confide.release.certificate.software import software
from confide.release.certificate.statement import release_of
from confide.release.jobs.job_answer import JOB_PATH, JobAnswer, read_answer
from confide.release.site.keys import SigningKey

JOB_VERSION = "job-1"
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
    authority: Authority = NO_AUTHORITY,
    commitment: Json = None,
) -> JobRelease:
    """Return the stored answer of a job with its signed certificate."""
    answer = read_answer(stored.payload)
    entry = stored.entry
    body = stated(entry, issuer=issuer, key=signer.name, software=software(), authority=authority)
    body |= derived_job(answer, commitment=commitment)
    return JobRelease(answer=answer, certificate=signed(body, signer=signer))


def derived_job(answer: JobAnswer, *, commitment: Json = None) -> dict[str, Json]:
    """Return every part of a certificate that follows from the stored answer."""
    plan = answer.plan
    return {
        "certificate": JOB_VERSION,
        "release": release_of(plan.study, product=plan.kind),
        "data": data_of(plan, commitment=commitment),
        "guarantee": guarantee_of(plan)
        | {
            "contribution-bounds": encode(plan.reads.bounds),
            "equivalents": equivalents(plan),
            "not-protected": not_protected(plan),
            "in-words": in_words(plan),
        },
        "plan": {"sha256": plan.digest(), "kind": plan.kind, "spec": json.loads(plan.spec)},
        "reads": encode(plan.reads),
        "events": [_event(event) for event in plan.events],
        "outputs": outputs(answer.files),
    }


def outputs(files: Mapping[str, bytes]) -> list[Json]:
    """Return path and SHA-256 of each file."""
    return [
        {"path": path, "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in sorted(files.items())
    ]


def _event(event: JobEvent) -> Json:
    return {
        "name": event.name,
        "noise": encode(event.noise),
        "sensitivity": {
            "l1": str(event.l1),
            "l2-squared": str(event.l2_squared),
            "because": event.because,
        },
        "uses": str(event.count),
        **({} if event.rate == 1 else {"poisson-sampling-rate": str(event.rate)}),
        "sampler": "exact, integer arithmetic, operating-system entropy",
    }
