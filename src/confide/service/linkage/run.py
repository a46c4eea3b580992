"""Run a linkage: charge once, link, and leave a folder that verifies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from confide.jobs.kinds import read_spec
from confide.jobs.linkage.numbers import (
    LINKAGE_HEAD,
    LinkageNumber,
    estimates,
    read_linkage,
    rows_of_linkage,
    warning,
)
from confide.jobs.linkage.spec import LINKAGE_FILE
from confide.release.site.incidents import stored_already
from confide.release.verify.verify import verify
from confide.service.linkage.plan import declared_linkage, linkage_plan
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.releasing.deliver import require_outside, require_room, require_verified
from confide.service.releasing.jobs import run_job
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A linkage in its folder.

    Attributes:
        folder: Where it is.
        numbers: The file of noisy whole numbers in it.
        certificate: The certificate in it.
        id: Of the release.
        charged: Whether it was charged now.
        told: Counts and shares with 95 % intervals.
        loss: What it cost.
        verifies: Whether what was saved verifies, which it does.
    """

    folder: Path
    numbers: Path
    certificate: Path
    id: str
    charged: bool
    told: tuple[LinkageNumber, ...]
    loss: ToldLoss
    verifies: bool


def run_linkage(
    file: Path,
    *,
    out: Path,
    request: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> Linked:
    """Run a linkage, save it to ``out`` and verify it there.

    Args:
        file: A linkage.yaml.
        out: Folder for the release.
        request: Idempotency key; the plan's digest when None.
        progress: Told the name of each stage.
        warn: Told what to know before anything is charged, if there is something.

    Raises:
        ContractError: If ``out`` holds another release, or linkage.yaml breaks its contract.
        MissingExtraError: If Splink is not installed.
        PolicyError: If a cap would be passed.
        ReleaseFailedError: If anything fails after it was charged.
        VerificationError: If what was saved does not verify.
    """
    declared = declared_linkage(file)
    with Site(declared.declared) as site:
        plan = linkage_plan(declared)
        if said := warning(declared.job, adjacency=plan.adjacency):
            warn(said)
        require_outside(out, folder=site.folder)
        require_room(out, plan=plan, request=request)
        before = site.ledger.head().number
        release = run_job(site, declared.job, plan=plan, request=request, progress=progress)
        entry = int(release.certificate["accounting"]["entry"])
        with stored_already(entry):
            release.save(out)
            content = release.answer.files[LINKAGE_FILE]
            numbers = read_linkage(content, spec=declared.job)
            told = estimates(numbers, spec=declared.job, dataset=plan.dataset)
            progress("verify")
            checked = verify(
                release.certificate,
                folder=out,
                pinned_key=site.signer.name,
                payload=release.answer.payload(),
                read_spec=read_spec,
            )
    require_verified(checked)
    return Linked(
        folder=out,
        numbers=out / LINKAGE_FILE,
        certificate=out / "certificate.json",
        id=release.certificate["id"],
        charged=entry > before,
        told=told,
        loss=told_loss(plan),
        verifies=True,
    )


def in_rows(told: Sequence[LinkageNumber]) -> tuple[tuple[str, ...], ...]:
    """Return heads, then quantity, group, value, interval and flag of each number, as texts."""
    return (LINKAGE_HEAD, *rows_of_linkage(told))
