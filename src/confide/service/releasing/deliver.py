"""Run, advance: from a study file to a folder with everything in it, which verifies."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError, VerificationError
from confide.files.study import DeclaredStudy
from confide.plans.plan import Plan, Priced
from confide.regular_file import read_bytes
from confide.release.approval import analyst_of
from confide.release.published import has_answer, key_of_plan
from confide.release.site.incidents import stored_already
from confide.release.verify.verify import Verification, verify
from confide.report.release import Release
from confide.service.opening import open_study
from confide.service.planning.growth import ToldGrowth, told_growth
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.preparing.check import is_checked
from confide.service.releasing.release import advance, release
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A release in its folder.

    Attributes:
        folder: Where it is.
        report: The page in it.
        certificate: The certificate in it.
        id: Of the release.
        request: Its idempotency key.
        charged: Whether it was charged now.
        snapshot: Of the data set.
        loss: What it cost.
        grows: How far it has come; None where no period comes later.
        verifies: Whether what was saved verifies, which it does.
        signer: Whose key signed.
    """

    folder: Path
    report: Path
    certificate: Path
    id: str
    request: str
    charged: bool
    snapshot: str
    loss: ToldLoss
    grows: ToldGrowth | None
    verifies: bool
    signer: str


def run_study(
    study: Path,
    *,
    out: Path,
    request: str | None = None,
    period: str | None = None,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Delivered:
    """Run a study or one period of it, save it to ``out`` and verify it there.

    Args:
        study: A study.yaml.
        out: Folder for the release.
        request: Idempotency key; the plan's digest when None.
        period: Which run of a study that repeats.
        again: Publish anew what was published: another charge.
        progress: Told the name of each stage.

    Raises:
        ContractError: If ``out`` holds another release, or the study breaks its contract.
        PolicyError: If a cap would be passed.
        VerificationError: If what was saved does not verify.
    """
    site, declared = open_study(study, period=period)

    def released(plan: Plan, key: str) -> Release:
        who = analyst_of(site.ledger, plan, request=key)
        stored = has_answer(plan, ledger=site.ledger, analyst=who, request_key=key)
        if not stored and not is_checked(site.declared):
            progress("unchecked")
        return release(site, plan, request=key, again=again, progress=progress)

    return _delivered(site, declared, out=out, request=request, way=released, progress=progress)


def advance_study(
    study: Path, *, out: Path, progress: Callable[[str], None] = lambda _: None
) -> Delivered:
    """Publish the next periods of a growing study, save them to ``out`` and verify them there.

    Raises what :func:`run_study` does.
    """
    site, declared = open_study(study)

    def advanced(plan: Plan, key: str) -> Release:
        return advance(site, plan, request=key, progress=progress)

    return _delivered(site, declared, out=out, request=None, way=advanced, progress=progress)


def _delivered(
    site: Site,
    declared: DeclaredStudy,
    *,
    out: Path,
    request: str | None,
    way: Callable[[Plan, str], Release],
    progress: Callable[[str], None],
) -> Delivered:
    with site:
        plan = declared.plan()
        require_outside(out, folder=site.folder)
        require_room(out, plan=plan, request=request)
        key = request_key(plan, request)
        before = site.ledger.head().number
        made = way(plan, key).called(declared.labels)
        accounting = made.form.accounting
        with stored_already(accounting.entry):
            checked = save_and_verify(made, out=out, key=site.signer.name, progress=progress)
    require_verified(checked)
    is_known = accounting.entry <= before
    return Delivered(
        folder=out,
        report=out / "report.html",
        certificate=out / "certificate.json",
        id=made.certificate["id"],
        request=key,
        charged=not is_known and accounting.continues is None,
        snapshot=plan.dataset.snapshot,
        loss=told_loss(plan),
        grows=told_growth(plan),
        verifies=True,
        signer=checked.signer,
    )


def save_and_verify(
    made: Release, *, out: Path, key: str, progress: Callable[[str], None]
) -> Verification:
    """Save a release and return what its verification found.

    Args:
        made: The release.
        out: Its folder.
        key: Public key of the signer.
        progress: Told the name of each stage.
    """
    made.save(out, progress=progress)
    progress("verify")
    payload = made.noisy.payload()
    return verify(made.certificate, folder=out, pinned_key=key, payload=payload)


def require_verified(checked: Verification) -> None:
    """Refuse a release that was saved and does not verify.

    Raises:
        VerificationError: If something failed.
    """
    if checked.failed:
        raise VerificationError(
            f"What was saved does not verify: {checked.failed}.",
            hint="Run it again: the stored answer is delivered at no charge.",
        )


def has_room(out: Path, *, plan: Priced, request: str | None = None) -> bool:
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


def require_outside(out: Path, *, folder: Path) -> None:
    """Refuse a place within the workspace folder, whose files come and go with the ledger's needs.

    Raises:
        ContractError: If it is one.
    """
    if out.resolve().is_relative_to(folder.resolve()):
        raise ContractError(
            f"{out.name or out} is in the folder of ledger and keys; nothing was charged.",
            hint="Choose another --out: a release is for others, and that folder is for nobody.",
        )


def require_room(out: Path, *, plan: Priced, request: str | None) -> None:
    """Refuse a place that cannot be written, before anything is charged."""
    if not has_room(out, plan=plan, request=request):
        raise ContractError(
            f"{out.name or out} holds something else; nothing was charged.",
            hint="Choose another --out: a new folder, or the one that holds this release.",
        )
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))


def request_key(plan: Priced, request: str | None) -> str:
    """Return the idempotency key of a request; the plan's digest when none was given."""
    return request or key_of_plan(plan)
