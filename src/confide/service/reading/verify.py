"""Verify: everything in a certificate that can be re-derived, is; needs no data.

It runs where workspaces do not, so what opens a ledger is imported when a steward asks for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confide.budget.chain.chain import Event, SignedHead
from confide.errors import VerificationError
from confide.jobs.kinds import read_spec
from confide.regular_file import read_bytes, require_posix
from confide.release.verify.against_chain import chain_checks, read_chain
from confide.release.verify.checks import Check, ledger_of
from confide.release.verify.verify import read_certificate
from confide.release.verify.verify import verify as check
from confide.release.verify.verify_reuse import is_reuse
from confide.release.verify.versions import versions, versions_check
from confide.service.reading.certificate_file import certificate_path, stored_payload
from confide.service.reading.pinned import pinned_key, pinned_keys

BESIDE = ("report.html", "evaluation.json", "methods.md", "references.bib", "figures")
"""What lies beside a certificate, in words and pictures, and is not covered by it."""


SYNTHETIC = "synthetic.json"
"""What lies beside the certificate of a synthesis, with the digests of its tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What a reader holds against a certificate; nothing of it is needed.

    Attributes:
        key: A signing.pub.
        ledger_id: Id of the ledger, known from an earlier release.
        chain: An exported chain, or a copy of anchor.jsonl.
        earlier: Versions that it supersedes.
        noisy: noisy.json, where a house rule withholds it.
        dataset: For the steward: dataset.yaml, to ask its ledger.
    """

    key: Path | None = None
    ledger_id: str | None = None
    chain: Path | None = None
    earlier: tuple[Path, ...] = ()
    noisy: Path | None = None
    dataset: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was checked of a certificate.

    Attributes:
        certificate: Where it is.
        holds: Whether every check does.
        signer: Whose key signed.
        pinned: Whether the reader trusts that key.
        ledger: To which it says it was charged.
        rebuilt: Whether every number was computed anew.
        unchecked: What a reader might think was checked, and was not.
        checks: In order.
    """

    certificate: Path
    holds: bool
    signer: str
    pinned: bool
    ledger: str
    rebuilt: bool
    unchecked: tuple[str, ...]
    checks: tuple[Check, ...]


def verify(certificate: Path, *, trusted: Trusted) -> Verified:
    """Check a certificate and the files beside it, without data.

    Raises:
        VerificationError: If a file cannot be read as what it is named for.
    """
    if trusted.dataset is not None:
        require_posix()
    path = certificate_path(certificate)
    held = read_certificate(path)
    key = None if trusted.key is None else _pinned(trusted.key, held)
    payload = None if trusted.noisy is None else _read(trusted.noisy)
    asked = tuple(_asked(held, trusted))
    rows, heads = ((), ()) if trusted.chain is None else read_chain(trusted.chain)
    if payload is None and trusted.dataset is not None:
        payload = stored_payload(held, trusted.dataset)
    reused = isinstance(held, dict) and is_reuse(held)
    found = check(
        held,
        folder=path.parent,
        pinned_key=key,
        pinned_ledger=None
        if reused and (trusted.dataset is not None or rows)
        else trusted.ledger_id,
        payload=payload,
        read_spec=read_spec,
    )
    signer = str(held["signature"].get("key", ""))
    shown = chain_checks(held, rows=rows, heads=heads, key=signer, pinned=trusted.ledger_id)
    more = (*_versions(held, trusted.earlier), *shown, *asked)
    found = replace(found, checks=(*found.checks, *more))
    return Verified(
        certificate=path,
        holds=found.holds,
        signer=found.signer,
        pinned=found.pinned,
        ledger=ledger_of(held),
        rebuilt=found.rebuilt,
        unchecked=tuple(_unchecked(path.parent, asked=bool(asked), heads=heads, rows=rows)),
        checks=found.checks,
    )


def _unchecked(
    folder: Path, *, asked: bool, heads: Sequence[SignedHead], rows: Sequence[Event]
) -> Iterator[str]:
    """Yield what a reader might think was checked, and was not."""
    if not asked:
        what = (
            "approvals and policy" if heads or rows else "the charge, dates, approvals and policy"
        )
        since = "" if rows else "; also that nobody withheld the answer since"
        ask = "The steward can ask the ledger: --ledger dataset.yaml"
        yield f"On the issuer's word: {what}{since}. {ask}"
    beside = [name for name in BESIDE if (folder / name).exists()]
    if (folder / SYNTHETIC).exists():
        beside.append("the synthetic tables and their model (confide.combine makes them anew)")
    if beside:
        yield f"Not checked: {', '.join(beside)}. Where they differ, what was checked counts."


def _asked(certificate: Any, trusted: Trusted) -> Iterator[Check]:
    """Yield what the ledger of the steward says; nothing where it is not named."""
    if trusted.dataset is None:
        return
    from confide.files.public.private_places import WORKSPACE
    from confide.release.site.snapshot import source_state
    from confide.release.verify.against_ledger import ledger_checks
    from confide.service.opening import open_ledger

    with open_ledger(trusted.dataset) as (held, declared):
        yield from ledger_checks(
            certificate,
            ledger=held,
            lineage=declared.dataset.lineage,
            folder=declared.base / WORKSPACE,
            state=source_state(declared.source, base=declared.base, dataset=declared.dataset),
            pinned=trusted.ledger_id,
        )


def _versions(certificate: Any, earlier: Sequence[Path]) -> Iterator[Check]:
    held = [read_certificate(certificate_path(each)) for each in earlier]
    found = versions(certificate, earlier=held)
    if len(found) > 1 or held:
        yield versions_check(found)


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, largest=None)
    except OSError:
        raise VerificationError(f"{path.name} cannot be read.") from None


def _pinned(path: Path, certificate: Any) -> str:
    keys = pinned_keys(path)
    signature = certificate.get("signature") if isinstance(certificate, dict) else None
    signer = signature.get("key") if isinstance(signature, dict) else None
    return pinned_key(keys, signer=signer)
