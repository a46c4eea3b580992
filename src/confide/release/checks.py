"""Checks that verifiers of releases and of post-processed releases share; all read public files."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ConfideError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.plan import Plan
from confide.plans.soundness import asks_what_it_states, underpriced
from confide.release.keys import is_signed_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: What.
        holds: Whether it does.
        detail: What was found, when it does not hold or needs saying.
    """

    name: str
    holds: bool
    detail: str = ""


def signature_check(certificate: Json) -> Check:
    """Check that the issuer's key signed the whole certificate."""
    body = {name: part for name, part in certificate.items() if name != "signature"}
    signature = certificate["signature"]
    try:
        good = is_signed_by(
            str(signature["key"]),
            message=canonical_bytes(body),
            signature=bytes.fromhex(signature["value"]),
        )
        same = signature["key"] == certificate["issuer"]["key"]
    except (ConfideError, KeyError, ValueError, TypeError):
        good = same = False
    detail = "" if good else "does not match: something was changed after it was signed"
    return Check(name="signature", holds=good and same, detail=detail)


def plan_checks(plan: Plan) -> Iterator[Check]:
    """Re-derive sensitivities from the statistics, and losses from noise and sensitivity."""
    same = asks_what_it_states(plan)
    yield Check(
        name="sensitivities",
        holds=same,
        detail="" if same else "a measurement is not what its statistic asks for",
    )
    over = underpriced(plan)
    yield Check(
        name="losses",
        holds=not over,
        detail=f"more loss than was charged: {', '.join(over)}" if over else "",
    )


def file_checks(outputs: Json, *, folder: Path) -> Iterator[Check]:
    """Compare published files with the digests that follow from the noisy numbers.

    Args:
        outputs: Rebuilt by the verifier: never a path that only the certificate names.
        folder: Where the files are.
    """
    for output in outputs:
        path = Path(output["path"])
        said = "was changed, or is not the table that follows from the noisy numbers"
        try:
            found = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        except OSError:
            yield Check(name=str(path), holds=False, detail="missing")
            continue
        same = found == output["sha256"]
        yield Check(name=str(path), holds=same, detail="" if same else said)
