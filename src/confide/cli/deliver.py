"""From a study file to a folder with everything in it; used by ``run`` and ``demo``."""

import errno
import functools
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from confide.cli.output import Output
from confide.errors import ContractError, VerificationError
from confide.regular_file import read_bytes

if TYPE_CHECKING:
    from confide.plans.plan import Plan
    from confide.workspace import Workspace

Way: TypeAlias = "Callable[[Workspace], Callable[..., Any]]"
"""What of a workspace delivers a plan."""

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
    "write": "Saving",
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


def deliver(
    study: Path,
    *,
    out: Path,
    request: str | None,
    output: Output,
    period: str | None = None,
    again: bool = False,
    way: "Way | None" = None,
) -> Delivered:
    """Run a study or one period of it, or take another way, save it to ``out`` and verify it there.

    Raises:
        ContractError: If ``out`` holds another release, or the study breaks its contract.
        PolicyError: If a cap would be passed.
        VerificationError: If what was saved does not verify.
    """
    from confide.cli.plan_body import growth_body
    from confide.release.incidents import stored_already
    from confide.release.verify import verify
    from confide.workspace import open_study

    with output.stages(STAGES) as progress:
        workspace, declared = open_study(study, period=period)
        with workspace:
            plan = declared.plan()
            _require_room(out, plan=plan, request=request)
            key = request_key(plan, request)
            before = workspace.ledger.head().number
            go = (
                functools.partial(workspace.release, again=again) if way is None else way(workspace)
            )
            release = go(plan, request=key, progress=progress)
            with stored_already(release.certificate["accounting"]["entry"]):
                release.save(out, progress=progress)
                progress("verify")
                checked = verify(
                    release.certificate,
                    folder=out,
                    pinned_key=workspace.public_key,
                    payload=release.noisy.payload(),
                )
    if checked.failed:
        raise VerificationError(
            f"What was saved does not verify: {checked.failed}.",
            hint="Run it again: the stored answer is delivered at no charge.",
        )
    is_known = release.certificate["accounting"]["entry"] <= before
    body = {
        "folder": str(out),
        "report": str(out / "report.html"),
        "certificate": str(out / "certificate.json"),
        "id": release.certificate["id"],
        "request": key,
        "charged": not is_known and "continues" not in release.certificate["accounting"],
        "snapshot": plan.dataset.snapshot,
        "loss": loss_body(plan),
        "grows": growth_body(plan),
        "verifies": True,
        "signer": checked.signer,
    }
    return Delivered(folder=out, again=is_known, body=body)


def loss_body(plan: "Plan") -> dict[str, Any]:
    """Return a plan's loss as numbers and in words: odds, never a bare ε."""
    from confide.drawing.words import load_words
    from confide.privacy.loss import ApproxDP
    from confide.report.odds_words import adjacency_text, loss_text, meaning_of, odds_sentences

    words, dataset = load_words("en"), plan.dataset
    unit, adjacency = dataset.unit.entity, dataset.adjacency
    meaning = meaning_of(plan.loss, delta=dataset.delta)
    shown = meaning.shown
    told = adjacency_text(unit, adjacency=adjacency, words=words)
    return {
        "unit": unit.value,
        "adjacency": adjacency.value,
        "measure": dataset.measure.value,
        "nano": str(plan.nano),
        "epsilon": f"{math.ceil(shown.epsilon * 10_000) / 10_000:.4f}",
        "delta": f"{float(shown.delta if isinstance(shown, ApproxDP) else 0):g}",
        "text": f"{loss_text(shown, words=words)}: {told}",
        "odds": list(odds_sentences(meaning, unit=unit, adjacency=adjacency, words=words)),
    }


def has_room(out: Path, *, plan: "Plan", request: str | None = None) -> bool:
    """Return whether a folder is free, or holds this plan under this request already."""
    path = out / "certificate.json"
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return True
    try:
        held = json.loads(read_bytes(path))
        named = (held["plan"]["sha256"], held["authority"]["request"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(named == (plan.digest(), request_key(plan, request)))


def _require_room(out: Path, *, plan: "Plan", request: str | None) -> None:
    """Refuse a place that cannot be written, before anything is charged."""
    if not has_room(out, plan=plan, request=request):
        raise ContractError(
            f"{out.name or out} holds something else; nothing was charged.",
            hint="Choose another --out: a new folder, or the one that holds this release.",
        )
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))


def request_key(plan: "Plan", request: str | None) -> str:
    """Return the idempotency key of a request; the plan's digest when none was given."""
    from confide.release.published import key_of_plan

    return request or key_of_plan(plan)
