"""Run: the coordinator proposes a study over sites, brings the sum about, and keeps all releases.

The release is made of the certificate of the first site in the sum whose certificate verifies; that
of every other such site lies beside it with the files that it names, so that each verifies by
itself.  What a certificate says goes nowhere before it verifies.
"""

import contextlib
import datetime as dt
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from confide.errors import (
    ConfideError,
    ContractError,
    MessageRefusedError,
    RoundAbortedError,
    VerificationError,
)
from confide.files.federation.federation import read_federation
from confide.files.study import DeclaredStudy
from confide.jobs.federated.carriers.by_folder import Waiting
from confide.jobs.federated.runs.coordinate import Coordinator, propose
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, proposals
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.plan import Plan
from confide.plans.pricing.over_sites import Summed
from confide.plans.sites.federation import Federation
from confide.regular_file import read_bytes, write_bytes
from confide.release.certificate.certificate import NOISY_PATH
from confide.release.certificate.cuts import estimates_of
from confide.release.export import tables
from confide.release.noisy import NoisyAggregates
from confide.release.over_sites.among_sites import sums_of
from confide.release.site.keys import SigningKey
from confide.release.site.rotation import signing_key
from confide.release.verify.verify import verify
from confide.report.release import Release
from confide.service.federation.alone import alone
from confide.service.federation.meeting import Meeting
from confide.service.opening import initialise, study_in

OPEN_FOR = dt.timedelta(days=7)
_SITES = "sites"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRelease:
    """A release over sites, as its coordinator keeps it.

    Attributes:
        run: Which run.
        folder: Where it is.
        report: The page in it.
        added: Names of the sites that are in the sum.
        certificates: Certificate of each site, by its name; each verifies.
        missing: Sites in the sum whose certificate did not come in time, or does not verify, and
            why.
    """

    run: str
    folder: Path
    report: Path
    added: tuple[str, ...]
    certificates: dict[str, Path]
    missing: dict[str, str]


def run_over_sites(
    study: Path,
    *,
    federation: Path,
    meeting: Meeting,
    out: Path,
    open_for: dt.timedelta = OPEN_FOR,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> JointRelease:
    """Propose a study, add, and save the release with the certificates of all sites.

    A run that was proposed and whose sum was not begun, or is there already, goes on: a sum that is
    there is delivered again, at no charge.  Any other run is ended, and another one proposed.

    Args:
        study: A study.yaml, as every member has it; beside a dataset.yaml, whose data are not read.
        federation: A federation.yaml, as every member has it.
        meeting: Where members meet.
        out: A new folder for the release.
        open_for: Until when sites may begin to take part.
        again: Begin another run, whatever became of earlier ones: another charge at every site.
        progress: Told the name of each step.

    Raises:
        ContractError: If ``out`` holds something, this is not the coordinator, or another process
            of it is at this plan.
        RoundAbortedError: If too few sites took part in time; says which, and why if they said.
        VerificationError: If no site's certificate verifies.
    """
    members = read_federation(federation)
    declared = study_in(study, period=None)
    place = declared.declared
    workspace = initialise(place.base)
    key = signing_key(workspace, place=place.ledger)
    if key.name != members.coordinator.key:
        raise ContractError(
            f"The federation's coordinator has another key than this one, {key.name}.",
            hint="Run it where the coordinator is enrolled.",
        )
    if out.exists() and any(out.iterdir()):
        raise ContractError(f"{out.name or out} is not empty.", hint="Choose another --out.")
    plan = declared.plan_over(members)
    with open_run(
        plan,
        workspace=workspace,
        federation=members,
        meeting=meeting,
        key=key,
        open_for=open_for,
        again=again,
        progress=progress,
    ) as proposal:
        coordinator = coordinator_of(proposal, federation=members, meeting=meeting, key=key)
        noisy = _sum_of(plan, board=coordinator.board, federation=members)
        if noisy is None:
            noisy = coordinator.bring_about(plan, progress=progress)
    progress("certificates")
    found, missing = certificates_of(
        noisy.added,
        payload=noisy.digest(),
        board=coordinator.board,
        federation=members,
        meeting=meeting,
    )
    progress("verify")
    found = _verified(noisy, found, missing)
    if not found:
        raise VerificationError(
            f"No site's certificate came that fits the sum: {_told(missing)}",
            hint="Run it again: the sum is there, and certificates are waited for anew.",
        )
    return _saved(
        noisy, found, missing, declared=declared, run=proposal.run, out=out, progress=progress
    )


@contextlib.contextmanager
def open_run(
    plan: Summed,
    *,
    workspace: Path,
    federation: Federation,
    meeting: Meeting,
    key: SigningKey,
    open_for: dt.timedelta,
    again: bool,
    progress: Callable[[str], None],
) -> Iterator[Proposal]:
    """Give the run of a plan that goes on, or a new one, to one process of the coordinator.

    Raises:
        ContractError: If another one is at this plan, which would seem to be cut off.
    """
    with alone(workspace, about=plan.digest()):
        yield _going_on(
            plan,
            federation=federation,
            meeting=meeting,
            key=key,
            open_for=open_for,
            again=again,
            progress=progress,
        )


def _going_on(
    plan: Summed,
    *,
    federation: Federation,
    meeting: Meeting,
    key: SigningKey,
    open_for: dt.timedelta,
    again: bool,
    progress: Callable[[str], None],
) -> Proposal:
    now, name = meeting.clock(), federation.coordinator.name
    for earlier in proposals(meeting.folder, federation=federation):
        board = Board(meeting.folder, federation=federation, run=earlier.run)
        if board.read(NoticeKind.ABORTED, name) is not None or earlier.digest != plan.digest():
            continue
        before = coordinator_of(earlier, federation=federation, meeting=meeting, key=key)
        was_added = board.read(NoticeKind.ADDED, name) is not None
        if was_added and again:
            continue
        may_begin = before.may_go_on(plan, now=now, until=earlier.until)
        if was_added or (may_begin and not again):
            progress("resume")
            return earlier
        if not was_added:
            before.abort("The coordinator was cut off, or the run was not begun in time.")
    made = propose(plan, now=now, open_for=open_for)
    board = Board(meeting.folder, federation=federation, run=made.run)
    board.post(NoticeKind.PROPOSED, made.body(), sender=name, key=key)
    progress("propose")
    return made


def coordinator_of(
    proposal: Proposal, *, federation: Federation, meeting: Meeting, key: SigningKey
) -> Coordinator:
    """Return the coordinator in a run."""
    return Coordinator(
        federation=federation,
        board=Board(meeting.folder, federation=federation, run=proposal.run),
        folder=meeting.folder,
        key=key,
        seconds=meeting.seconds,
        pause=meeting.pause,
    )


def _sum_of(plan: Plan, *, board: Board, federation: Federation) -> NoisyAggregates | None:
    """Return the sum of a run that was brought about before."""
    said = board.read(NoticeKind.ADDED, federation.coordinator.name)
    if said is None:
        return None
    totals, added = [int(total) for total in said["totals"]], tuple(said["added"])
    return sums_of(plan, totals, added=added, salt=str(said["salt"]))


def certificates_of(
    added: tuple[str, ...],
    *,
    payload: str,
    board: Board,
    federation: Federation,
    meeting: Meeting,
) -> tuple[dict[str, Json], dict[str, str]]:
    """Return the certificates of the sites in the sum that came in time, and who is missing.

    Args:
        added: Names of the sites that are in the sum.
        payload: SHA-256 of what each of them certifies.
        board: Notices of the run.
        federation: Whose keys are pinned.
        meeting: How long certificates are waited for.
    """
    waiting = Waiting(
        coordinator="the sites in the sum", seconds=meeting.seconds, pause=meeting.pause
    )

    def all_came() -> bool | None:
        said = (_said(board, name) for name in added)
        return True if all(each is not None for each in said) else None

    with contextlib.suppress(RoundAbortedError):  # time is up: with those that came
        waiting.until(all_came)
    keys = {site.name: site.key for site in federation.sites}
    found, missing = {}, {}
    for name in added:
        said = _said(board, name)
        if said is None or isinstance(said, str):
            missing[name] = said or "none came in time"
        elif why := _unfit(said, payload=payload, key=keys[name]):
            missing[name] = why
        else:
            found[name] = said
    return found, missing


def _said(board: Board, name: str) -> Json | str | None:
    """Return a site's certificate, or why there is none; None as long as nothing came."""
    try:
        certificate = board.read(NoticeKind.CERTIFIED, name)
        if certificate is not None:
            return certificate
        ended = board.read(NoticeKind.ENDED, name)
    except MessageRefusedError as error:
        return str(error)
    if ended is None:
        return None
    return str(ended.get("why", "it ended") if isinstance(ended, dict) else "it ended")[:500]


def _unfit(certificate: Json, *, payload: str, key: str) -> str:
    """Return why a certificate is not this site's over this sum; "" if it is.

    Of its files those that it names are compared once they are written.
    """
    try:
        if certificate["signature"]["key"] != key:
            return "its certificate is signed by another key than the pinned one"
        if certificate["accounting"]["payload-sha256"] != payload:
            return "its certificate is of another sum"
    except (KeyError, TypeError):
        return "what came is no certificate"
    return ""


def _verified(
    noisy: NoisyAggregates, found: dict[str, Json], missing: dict[str, str]
) -> dict[str, Json]:
    """Return the certificates that verify beside what follows from the sum; the rest is missing."""
    good, payload = {}, noisy.payload()
    files = {NOISY_PATH: payload, **tables(noisy.plan, estimates_of(noisy))}
    with tempfile.TemporaryDirectory(prefix="confide-") as made:
        folder = Path(made)
        (folder / "tables").mkdir()
        for path, content in files.items():
            write_bytes(folder / path, content)
        for name, certificate in found.items():
            key = certificate["signature"]["key"]  # the pinned one, as was compared
            try:
                failed = verify(certificate, folder=folder, pinned_key=key, payload=payload).failed
            except ConfideError as broken:
                failed = str(broken)
            if failed:
                missing[name] = f"its certificate does not verify: {failed}"
            else:
                good[name] = certificate
    return good


def _saved(
    noisy: NoisyAggregates,
    found: dict[str, Json],
    missing: dict[str, str],
    *,
    declared: DeclaredStudy,
    run: str,
    out: Path,
    progress: Callable[[str], None],
) -> JointRelease:
    certificates = {}
    made = Release(
        noisy=noisy,
        estimates=estimates_of(noisy),
        certificate=next(iter(found.values())),
        outlines=declared.declared.outlines(noisy.plan),
        labels=declared.declared.labels,
    ).called(declared.labels)
    made.save(out, progress=progress)
    for name, certificate in found.items():
        place = out / _SITES / name
        (place / "tables").mkdir(parents=True)
        write_bytes(place / "certificate.json", canonical_bytes(certificate))
        for path in (out / NOISY_PATH, *sorted((out / "tables").iterdir())):
            if path.exists():  # a house rule may keep the noisy numbers back
                write_bytes(place / path.relative_to(out), read_bytes(path, largest=None))
        certificates[name] = place / "certificate.json"
    return JointRelease(
        run=run,
        folder=out,
        report=out / "report.html",
        added=noisy.added,
        certificates=certificates,
        missing=missing,
    )


def _told(missing: dict[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in missing.items())
