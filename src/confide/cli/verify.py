"""``confide verify``: everything in a certificate that can be re-derived, is; needs no data."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.errors import VerificationError
from confide.regular_file import read_bytes, read_text, require_posix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from confide.budget.chain import Event, SignedHead
    from confide.release.checks import Check

FAILED = 6
BESIDE = ("report.html", "methods.md", "figures")
"""What lies beside a certificate, in words and pictures, and is not covered by it."""


def verify(  # noqa: PLR0913 - one for each option
    certificate: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    *,
    key: Annotated[Path | None, typer.Option(help="The signing.pub that you trust.")] = None,
    ledger_id: Annotated[
        str | None, typer.Option(help="Id of the ledger that you know from an earlier release.")
    ] = None,
    chain: Annotated[
        Path | None, typer.Option(help="An exported chain, or a copy of anchor.jsonl.")
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier version that it supersedes; repeatable.")
    ] = None,
    noisy: Annotated[
        Path | None, typer.Option(help="noisy.json, where a house rule withholds it.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="For the steward: dataset.yaml, to ask its ledger.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate and the files beside it, without data."""
    from confide.jobs.kinds import read_spec
    from confide.release.against_chain import chain_checks, read_chain
    from confide.release.checks import ledger_of
    from confide.release.verify import read_certificate
    from confide.release.verify import verify as check
    from confide.release.verify_reuse import is_reuse

    if ledger is not None:
        require_posix()
    path = certificate_path(certificate)
    held = read_certificate(path)
    pinned = None if key is None else _pinned(key, held)
    payload = None if noisy is None else _read(noisy)
    asked = () if ledger is None else tuple(_asked(held, ledger, pinned=ledger_id))
    rows, heads = ((), ()) if chain is None else read_chain(chain)
    in_others = isinstance(held, dict) and is_reuse(held) and (ledger is not None or bool(rows))
    if payload is None and ledger is not None:
        payload = stored_payload(held, ledger)
    found = check(
        held,
        folder=path.parent,
        pinned_key=pinned,
        pinned_ledger=None if in_others else ledger_id,
        payload=payload,
        read_spec=read_spec,
    )
    signer = str(held["signature"].get("key", ""))
    shown = chain_checks(held, rows=rows, heads=heads, key=signer, pinned=ledger_id)
    more = (*_versions(held, earlier or ()), *shown, *asked)
    found = replace(found, checks=(*found.checks, *more))
    body: dict[str, Any] = {
        "certificate": str(path),
        "holds": found.holds,
        "signer": found.signer,
        "pinned": found.pinned,
        "ledger": ledger_of(held),
        "rebuilt": found.rebuilt,
        "unchecked": list(_unchecked(path.parent, asked=bool(asked), heads=heads, rows=rows)),
        "checks": [
            {
                "name": each.name,
                "holds": each.holds,
                "detail": each.detail,
                "caution": each.caution,
            }
            for each in found.checks
        ],
    }
    output = Output(json=as_json, quiet=quiet)
    output.result("verify", body, show=lambda: _show(body))
    if not found.holds:
        raise typer.Exit(FAILED)


def _unchecked(
    folder: Path, *, asked: bool, heads: "Sequence[SignedHead]", rows: "Sequence[Event]"
) -> "Iterator[str]":
    """Yield what a reader might think was checked, and was not."""
    if not asked:
        what = (
            "approvals and policy" if heads or rows else "the charge, dates, approvals and policy"
        )
        since = "" if rows else "; also that nobody withheld the answer since"
        ask = "The steward can ask the ledger: --ledger dataset.yaml"
        yield f"On the issuer's word: {what}{since}. {ask}"
    beside = [name for name in BESIDE if (folder / name).exists()]
    if beside:
        yield f"Not checked: {', '.join(beside)}. Where they differ, the tables count."


def certificate_path(given: Path) -> Path:
    """Return the certificate that a path names: itself, or the one in its folder."""
    return given / "certificate.json" if given.is_dir() else given


def stored_payload(certificate: Any, dataset: Path) -> bytes | None:
    """Return the noisy payload of a certificate from the ledger of a data set."""
    from confide.release.against_ledger import payload_of
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        return payload_of(certificate, ledger=held, lineage=declared.dataset.lineage)


def _asked(certificate: Any, dataset: Path, *, pinned: str | None) -> "Iterator[Check]":
    from confide.files.private_places import WORKSPACE
    from confide.release.against_ledger import ledger_checks
    from confide.release.snapshot import source_state
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        yield from ledger_checks(
            certificate,
            ledger=held,
            lineage=declared.dataset.lineage,
            folder=declared.base / WORKSPACE,
            state=source_state(declared.source, base=declared.base, dataset=declared.dataset),
            pinned=pinned,
        )


def _versions(certificate: Any, earlier: "Sequence[Path]") -> "Iterator[Check]":
    from confide.release.verify import read_certificate
    from confide.release.versions import versions, versions_check

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
    """Return the pinned key that signed, or the first one if none of them did."""
    keys = pinned_keys(path)
    signature = certificate.get("signature") if isinstance(certificate, dict) else None
    signer = signature.get("key") if isinstance(signature, dict) else None
    return next((key for key in keys if key == signer), keys[0])


def pinned_keys(path: Path) -> list[str]:
    """Return the public keys of a signing.pub or signing.old.pub, one a line.

    Raises:
        VerificationError: If it cannot be read as that.
    """
    try:
        return read_text(path, encoding="ascii").split() or [""]
    except FileNotFoundError:
        raise VerificationError(
            f"{path.name} is missing.", hint="Give the signing.pub that the issuer handed you."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise VerificationError(
            f"{path.name} cannot be read as a public key.",
            hint="Give the signing.pub that the issuer handed you.",
        ) from None


def _show(body: dict[str, Any]) -> None:
    for check in body["checks"]:
        good = ("!", "yellow") if check["caution"] else ("✓", "green")
        mark, style = good if check["holds"] else ("✗", "red")
        detail = f": {check['detail']}" if check["detail"] else ""
        say(f"{mark} {check['name']}{detail}", style=style)
    pinned = "which you have pinned" if body["pinned"] else "which you have not pinned"
    if body["holds"]:
        verifies = "Verifies" if body["rebuilt"] else "Verifies as far as it is published"
        say(f"{verifies}. Signed by {body['signer']}, {pinned}.", style="bold")
        cautions = [check["name"] for check in body["checks"] if check["caution"]]
        if cautions:
            say(f"It is genuine, but read before you use it: {', '.join(cautions)} (above, !).")
        if body["ledger"]:
            say(f"Charged to ledger {body['ledger']}.")
        for each in body["unchecked"]:
            say(each)
    else:
        say("Does not verify.", style="bold red")
