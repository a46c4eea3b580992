"""``confide verify``: everything in a certificate that can be re-derived, is; needs no data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.errors import VerificationError

FAILED = 6


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    *,
    key: Annotated[Path | None, typer.Option(help="The signing.pub that you trust.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate and the files beside it, without data."""
    from confide.release.verify import read_certificate
    from confide.release.verify import verify as check

    path = certificate / "certificate.json" if certificate.is_dir() else certificate
    read = read_certificate(path)
    found = check(read, folder=path.parent, pinned_key=None if key is None else _pinned(key, read))
    body: dict[str, Any] = {
        "certificate": str(path),
        "holds": found.holds,
        "signer": found.signer,
        "pinned": found.pinned,
        "checks": [
            {"name": each.name, "holds": each.holds, "detail": each.detail} for each in found.checks
        ],
    }
    output = Output(json=as_json, quiet=quiet)
    output.result("verify", body, show=lambda: _show(body))
    if not found.holds:
        raise typer.Exit(FAILED)


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
        return path.read_text("ascii").split() or [""]
    except (OSError, UnicodeDecodeError):
        raise VerificationError(
            f"{path.name} cannot be read as a public key.",
            hint="Give the signing.pub that the issuer handed you.",
        ) from None


def _show(body: dict[str, Any]) -> None:
    for check in body["checks"]:
        mark, style = ("✓", "green") if check["holds"] else ("✗", "red")
        detail = f": {check['detail']}" if check["detail"] else ""
        say(f"{mark} {check['name']}{detail}", style=style)
    pinned = "which you have pinned" if body["pinned"] else "which you have not pinned"
    if body["holds"]:
        say(f"Verifies. Signed by {body['signer']}, {pinned}.", style="bold")
    else:
        say("Does not verify.", style="bold red")
