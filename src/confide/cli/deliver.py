"""From a study file to a folder with everything in it; used by ``run`` and ``demo``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli.odds import odds
from confide.cli.output import Output
from confide.errors import ContractError, VerificationError

if TYPE_CHECKING:
    from confide.plans.plan import Plan

STAGES = {
    "check": "Checking the study against the source's schema",
    "charge": "Asking the ledger",
    "read": "Reading and bounding",
    "noise": "Adding noise",
    "commit": "Storing the answer",
    "publish": "Publishing",
    "figures": "Drawing figures",
    "tables": "Writing tables",
    "report": "Writing the report",
    "verify": "Verifying",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A release in its folder.

    Attributes:
        folder: Where it is.
        again: Whether the ledger had it already, so that nothing was charged.
        body: What ``confide run --json`` prints.
    """

    folder: Path
    again: bool
    body: dict[str, Any]


def deliver(study: Path, *, out: Path, request: str | None, output: Output) -> Delivered:
    """Run a study, save it to ``out`` and verify it there.

    Raises:
        ContractError: If ``out`` holds another release, or the study breaks its contract.
        PolicyError: If a cap would be passed.
        VerificationError: If what was saved does not verify.
    """
    from confide.release.certificate import shown_loss
    from confide.release.verify import verify
    from confide.report.save import save
    from confide.workspace import open_study

    with output.stages(STAGES) as progress:
        workspace, declared = open_study(study)
        with workspace:
            plan = declared.plan()
            if not has_room(out, plan=plan, request=request):
                raise ContractError(
                    f"{out.name} holds another release; nothing was charged.",
                    hint="Choose another --out.",
                )
            key = _key(plan, request)
            out.mkdir(parents=True, exist_ok=True)  # fails before anything is charged
            known = {entry.number for entry in workspace.ledger.entries(plan.dataset.lineage)}
            release = workspace.release(plan, request=key, progress=progress)
            save(release, out, progress=progress)
            progress("verify")
            checked = verify(release.certificate, folder=out, pinned_key=workspace.public_key)
    failed = [check.name for check in checked.checks if not check.holds]
    if failed:
        raise VerificationError(
            f"What was saved does not verify: {', '.join(failed)}.",
            hint="Run it again: the stored answer is delivered at no charge.",
        )
    again = release.certificate["accounting"]["entry"] in known
    shown = shown_loss(plan)
    body = {
        "folder": str(out),
        "report": str(out / "report.html"),
        "certificate": str(out / "certificate.json"),
        "id": release.certificate["id"],
        "request": key,
        "charged": not again,
        "epsilon": f"{float(shown.epsilon):.4f}",
        "delta": f"{float(plan.dataset.delta):g}",
        "odds": odds(shown, entity=plan.dataset.unit.entity.value),
        "verifies": True,
        "signer": checked.signer,
    }
    return Delivered(folder=out, again=again, body=body)


def has_room(out: Path, *, plan: "Plan", request: str | None = None) -> bool:
    """Return whether a folder is free, or holds this plan under this request already."""
    path = out / "certificate.json"
    if not path.exists():
        return True
    try:
        held = json.loads(path.read_bytes())
        named = (held["plan"]["sha256"], held["authority"]["request"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(named == (plan.digest(), _key(plan, request)))


def _key(plan: "Plan", request: str | None) -> str:
    return request or plan.digest()[:32]
