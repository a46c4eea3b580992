"""A training over sites: a site's part from the proposal to its certificate, and the coordinator's.

What is proposed is the plan of a job; who reads rows, charges and signs are the sites, as for a
study (:mod:`.serve`).  The coordinator makes the model of the sums by itself, and keeps what the
sites certify of the very same bytes.
"""

import contextlib
import datetime as dt
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.budget.ledger import Entry, StoredRelease
from confide.errors import ConfideError, ContractError, VerificationError
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.site_round import SiteRound
from confide.jobs.federated.training.fedavg import FedAvg
from confide.jobs.federated.training.rounds import AveragingRounds, TrainingRounds
from confide.jobs.federated.training.spec import DPSGDOverSites
from confide.jobs.kinds import read_spec
from confide.plans.canonical import Json
from confide.plans.job import JobPlan
from confide.release.approval import analyst_of
from confide.release.asking import charge_request
from confide.release.jobs.job_answer import JobAnswer
from confide.release.jobs.job_certificate import JobRelease
from confide.release.passage import BoughtAnswer
from confide.release.published import lost_or_answered
from confide.release.site.seal import sealing
from confide.release.verify.verify import verify
from confide.service.federation.meeting import (
    Meeting,
    join_latest,
    place_of,
    require_approved,
    round_of,
)
from confide.service.federation.run import OPEN_FOR, certificates_of, coordinator_of, open_run
from confide.service.federation.telling import certify, tell_charged_before, told_that
from confide.service.releasing.jobs import certified_through, gate_of
from confide.service.releasing.release import require_checked
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTraining:
    """A training over sites, as one member has it.

    Attributes:
        spec: What is planned.
        plan: Its price.
        rounds: What runs it.
    """

    spec: DPSGDOverSites | FedAvg
    plan: JobPlan
    rounds: TrainingRounds | AveragingRounds

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of weights that are trained, and of sums."""
        lengths = self.spec.sums(self.plan).lengths
        return lengths[0], len(lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTraining:
    """A training over sites, as its coordinator keeps it.

    Attributes:
        run: Which run.
        answer: The files, made of the sums.
        added: Names of the sites that are in the sums.
        certificates: Certificate of each site over these files, by its name; each verifies.
        missing: Sites in the sums whose certificate did not come in time, or does not verify, and
            why.
    """

    run: str
    answer: JobAnswer
    added: tuple[str, ...]
    certificates: Mapping[str, Json]
    missing: Mapping[str, str]

    def save(self, folder: str | Path) -> Path:
        """Write into a folder one of the same files for each site with its certificate."""
        for name, certificate in self.certificates.items():
            JobRelease(answer=self.answer, certificate=certificate).save(Path(folder) / name)
        return Path(folder)


@sealing
def serve_training(
    site: Site,
    training: PlannedTraining,
    *,
    meeting: Meeting,
    approve: str,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> JobRelease:
    """Take part in the latest run of a folder; return what it made, with this site's certificate.

    A plan that has its answer here is delivered from the ledger, at no charge and whatever is
    proposed.

    Args:
        site: Open, with its rows.
        training: As this site planned it.
        meeting: Where the run is.
        approve: Digest of the plan, as this site's operator saw it.
        again: Take part in another run of what was charged before: another charge.
        progress: Told the name of each stage.

    Raises:
        ContractError: If the coordinator proposes another plan than was approved, or without
            ``again`` the same was charged before; nothing is charged.
        PolicyError: If a cap would be passed, or the run is of another time; nothing is charged.
        RoundAbortedError: If the run ended before this site's numbers were asked for, or nobody
            proposes one in time; nothing is charged.
        ReleaseFailedError: If it ended afterwards; the charge stays.
    """
    plan, members = training.plan, training.spec.federation
    sums, me = training.spec.sums(plan), place_of(site, members)
    name = members.sites[me].name
    require_approved(
        plan,
        sums=sums,
        approve=approve,
        site=site,
        name=name,
        federation=members,
        meeting=meeting,
    )
    joined = join_latest(
        plan,
        sums=sums,
        site=site,
        name=name,
        federation=members,
        meeting=meeting,
        again=again,
        progress=progress,
    )
    board, held = joined.board, joined.held
    told = told_that(board, hub=members.coordinator.name, plan=plan, site=site, name=name)
    with joined.only, contextlib.nullcontext() if held else told:
        if held is None:
            if not again:
                _refuse_again(plan, board=board, site=site, name=name)
            board.post(NoticeKind.ACCEPTED, {"digest": approve}, sender=name, key=site.signer)
        among = round_of(
            sums, site=site, place=me, federation=members, board=board, meeting=meeting
        )
        made = _released(site, training, among=among, held=held, again=again, progress=progress)
    certify(board, made.certificate, site=site, name=name)
    return made


def _refuse_again(plan: JobPlan, *, board: Board, site: Site, name: str) -> None:
    """Refuse a second charge that this site's operator did not ask for, and tell the others."""
    why = lost_or_answered(plan, ledger=site.ledger)
    if why:
        tell_charged_before(board, plan=plan, site=site, name=name)
        raise _charged_before(why)


def _charged_before(why: str) -> ContractError:
    return ContractError(
        f"{why} Nothing was charged.",
        hint="Its sums may be known to the coordinator. For another run, with a charge of its own, "
        "write again=True.",
    )


def _released(
    site: Site,
    training: PlannedTraining,
    *,
    among: SiteRound,
    held: Entry | None,
    again: bool,
    progress: Callable[[str], None],
) -> JobRelease:
    plan, run = training.plan, among.run
    who = held.analyst if held else analyst_of(site.ledger, plan, request=run)
    require_checked(site.declared, stored=held is not None)

    def through(watched: Callable[[str], None]) -> StoredRelease:
        gate = gate_of(site)
        gate.check(training.spec, plan=plan, progress=watched)

        def heard(entry: Entry) -> None:
            why = "" if again else lost_or_answered(plan, ledger=site.ledger, before=entry.number)
            if why:
                raise _charged_before(why)
            watched("gather")
            among.gather()

        def answer() -> BoughtAnswer:
            rows = gate.read(plan, progress=watched)
            files = training.rounds.run(rows, among=among, entropy=gate.entropy, progress=watched)
            return BoughtAnswer(
                payload=JobAnswer(plan=plan, files=files, added=among.added).payload()
            )

        request = charge_request(plan, analyst=who, request_key=run)
        return gate.take(request, answer=answer, before=heard, progress=watched)

    return certified_through(site, plan, through=through, progress=progress)


def run_training(
    site: Site,
    training: PlannedTraining,
    *,
    meeting: Meeting,
    open_for: dt.timedelta = OPEN_FOR,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> JointTraining:
    """Propose a training, add gradients up step by step, and keep the certificates of all sites.

    A run that was proposed goes on where it can; any other is ended, and another one proposed.

    Args:
        site: Of the coordinator; none of its rows are read, and nothing is charged here.
        training: As the coordinator planned it.
        meeting: Where members meet.
        open_for: Until when sites may begin to take part.
        again: Begin another run, whatever became of earlier ones: another charge at every site.
        progress: Told the name of each step.

    Raises:
        ContractError: If this is not the coordinator, or another process of it is at this plan.
        RoundAbortedError: If too few sites took part in time; says which, and why if they said.
        VerificationError: If no site's certificate verifies.
    """
    members, sums = training.spec.federation, training.spec.sums(training.plan)
    if site.signer.name != members.coordinator.key:
        raise ContractError(
            f"The federation's coordinator has another key than this one, {site.signer.name}.",
            hint="Run it where the coordinator is enrolled.",
        )
    with open_run(
        sums,
        workspace=site.folder,
        federation=members,
        meeting=meeting,
        key=site.signer,
        open_for=open_for,
        again=again,
        progress=progress,
    ) as proposal:
        hub = coordinator_of(proposal, federation=members, meeting=meeting, key=site.signer)
        said = hub.board.read(NoticeKind.ADDED, members.coordinator.name)
        if said is None:
            totals, added = hub.add_up(sums, progress=progress)
        else:
            totals, added = tuple(int(total) for total in said["totals"]), tuple(said["added"])
    answer = JobAnswer(plan=training.plan, files=training.rounds.files(totals), added=added)
    progress("certificates")
    came, missing = certificates_of(
        added, payload=answer.digest(), board=hub.board, federation=members, meeting=meeting
    )
    progress("verify")
    found = {}
    for name, certificate in came.items():
        if failed := _failed(answer, certificate):
            missing[name] = f"its certificate does not verify: {failed}"
        else:
            found[name] = certificate
    if not found:
        raise VerificationError(
            "No site's certificate came that fits the model of the sums: "
            + "; ".join(f"{name}: {why}" for name, why in missing.items()),
            hint="Run it again: the sums are there, and certificates are waited for anew.",
        )
    return JointTraining(
        run=proposal.run, answer=answer, added=added, certificates=found, missing=missing
    )


def _failed(answer: JobAnswer, certificate: Json) -> str:
    """Return what of a certificate does not hold beside the files; its key was compared."""
    key = certificate["signature"]["key"]
    with tempfile.TemporaryDirectory(prefix="confide-") as made:
        try:
            folder = JobRelease(answer=answer, certificate=certificate).save(made)
            found = verify(certificate, folder=folder, pinned_key=key, read_spec=read_spec)
        except ConfideError as broken:
            return str(broken)
    return str(found.failed or "")
