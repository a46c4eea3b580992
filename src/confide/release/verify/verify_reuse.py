"""Verification of a release that was made of earlier ones, without data and without the ledger.

Its folder holds the noisy payloads of the earlier releases.  The verifier checks that each is
priced as its noise asks, answers the questions from them anew, and compares every number.  What
remains is the ledger's word: which entry holds which payload.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from confide.errors import ConfideError, VerificationError
from confide.plans.canonical import Json
from confide.regular_file import read_bytes
from confide.release.noisy import read_payload
from confide.release.reused import (
    FORMAT,
    PRODUCT,
    REUSED_PATH,
    Reused,
    ReusedSource,
    admits,
    derived_reuse,
    is_same_data,
    reuse,
)
from confide.release.reused_form import ReusedForm, SourcePart
from confide.release.verify.checks import (
    Check,
    file_checks,
    plan_checks,
    rebuilt_checks,
)
from confide.statistics import read_asked


def is_reuse(certificate: Json) -> bool:
    """Return whether a certificate says that it is of a release made of earlier ones."""
    release = certificate.get("release") if isinstance(certificate, dict) else None
    return isinstance(release, dict) and release.get("product") == PRODUCT


def reuse_checks(form: ReusedForm, *, folder: Path) -> Iterator[Check]:
    """Yield what was checked besides signature and form."""
    try:
        reused = read_reused(form, folder=folder)
    except ConfideError as broken:
        yield Check(name="earlier answers", holds=False, detail=str(broken))
        return
    yield Check(name="earlier answers", holds=True)
    for source in reused.sources:
        for check in plan_checks(source.noisy.plan):
            name = f"{check.name} of entry {source.entry}"
            yield Check(name=name, holds=check.holds, detail=check.detail)
    follows = derived_reuse(reused)
    yield from rebuilt_checks(form.to_json(), follows=follows)
    yield from file_checks(follows.outputs, form=form, folder=folder)


def read_reused(form: ReusedForm, *, folder: Path) -> Reused:
    """Return what a folder holds, answered anew from its sources.

    Raises:
        VerificationError: If a file is missing, changed or of another format, or the sources are
            about other data or for a narrower audience.
        ContractError: If they do not answer what is asked.
    """
    try:
        body = json.loads(read_bytes(folder / REUSED_PATH))
        study, dataset, statistics = read_asked(body)
        if body["format"] != FORMAT:
            raise VerificationError(f"Expected {REUSED_PATH} of this format.")
        named = [(each["entry"], each["payload-sha256"]) for each in body["sources"]]
        if named != [(each.entry, each.payload_sha256) for each in form.sources]:
            raise VerificationError("The certificate names other sources.")
        sources = [_source(stated, folder=folder) for stated in form.sources]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
        if isinstance(broken, ConfideError):
            raise
        raise VerificationError(f"{REUSED_PATH} or one of its sources cannot be read.") from None
    for source in sources:
        if not is_same_data(source.noisy.plan.dataset, dataset):
            raise VerificationError(f"Entry {source.entry} is about other data.")
        if not admits(source.noisy.plan.study.audience, reader=study.audience):
            raise VerificationError(f"Entry {source.entry} was for a narrower audience.")
    return reuse(study, statistics, sources, dataset=dataset)


def _source(stated: SourcePart, *, folder: Path) -> ReusedSource:
    payload = read_bytes(folder / "sources" / f"{stated.entry}.json", largest=None)
    if hashlib.sha256(payload).hexdigest() != stated.payload_sha256:
        raise VerificationError(f"The answer of entry {stated.entry} was changed.")
    return ReusedSource(
        entry=stated.entry,
        hash=stated.hash,
        at=stated.released,
        payload=payload,
        noisy=read_payload(payload),
    )
