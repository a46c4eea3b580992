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
from confide.release.verify.checks import Check, file_checks, plan_checks
from confide.statistics import read_asked

STATED = frozenset({"issuer", "software", "sources", "signature"})
"""Members that are the ledger's or the issuer's word; all others are rebuilt."""


def is_reuse(certificate: Json) -> bool:
    """Return whether a certificate says that it is of a release made of earlier ones."""
    release = certificate.get("release") if isinstance(certificate, dict) else None
    return isinstance(release, dict) and release.get("product") == PRODUCT


def reuse_checks(certificate: Json, *, folder: Path) -> Iterator[Check]:
    """Yield what was checked besides the signature."""
    try:
        reused = read_reused(certificate, folder=folder)
    except ConfideError as broken:
        yield Check(name="earlier answers", holds=False, detail=str(broken))
        return
    yield Check(name="earlier answers", holds=True)
    for source in reused.sources:
        for check in plan_checks(source.noisy.plan):
            name = f"{check.name} of entry {source.entry}"
            yield Check(name=name, holds=check.holds, detail=check.detail)
    rebuilt = derived_reuse(reused)
    for name, part in rebuilt.items():
        same = certificate.get(name) == part
        yield Check(name=name, holds=same, detail="" if same else "differs from what follows")
    unknown = certificate.keys() - rebuilt.keys() - STATED
    detail = f"{min(unknown)!r} follows from nothing" if unknown else ""
    yield Check(name="members", holds=not unknown, detail=detail)
    yield from file_checks(rebuilt["outputs"], certificate=certificate, folder=folder)


def read_reused(certificate: Json, *, folder: Path) -> Reused:
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
        stated = {each["entry"]: each for each in certificate["sources"]}
        if [(n, stated[n]["payload-sha256"]) for n, _ in named] != named or len(stated) != len(
            named
        ):
            raise VerificationError("The certificate names other sources.")
        sources = [_source(stated[number], folder=folder) for number, _ in named]
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


def _source(stated: Json, *, folder: Path) -> ReusedSource:
    number = stated["entry"]
    if type(number) is not int:
        raise VerificationError("An entry of the ledger is a number.")
    payload = read_bytes(folder / "sources" / f"{number}.json", largest=None)
    if hashlib.sha256(payload).hexdigest() != stated["payload-sha256"]:
        raise VerificationError(f"The answer of entry {number} was changed.")
    return ReusedSource(
        entry=number,
        hash=str(stated["hash"]),
        at=str(stated["released"]),
        payload=payload,
        noisy=read_payload(payload),
    )
