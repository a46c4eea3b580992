"""Where members meet, which run a site takes part in there, and how it says that it does not."""

import contextlib
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confide.budget.ledger import Entry
from confide.errors import ContractError, MessageRefusedError
from confide.jobs.federated.carriers.by_folder import Waiting
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, proposals
from confide.jobs.federated.runs.site_round import SiteRound, look_for_end
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.plans.job import JobPlan
from confide.plans.plan import Plan
from confide.plans.pricing.over_sites import Summed
from confide.plans.sites.federation import Federation
from confide.release.published import answered_request
from confide.service.federation.telling import tell, told_why
from confide.service.site import Site

_USED = "federation"
CHARGED_BEFORE = (
    "it was charged for this before, and its operator asked for no other run; nothing was charged."
)


class Digested(Protocol):
    """What is proposed: a plan over sites, of a study or of a job."""

    def digest(self) -> str:
        """Return the SHA-256 of its canonical JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Where members meet, and how long they wait there.

    Attributes:
        folder: The one that is synchronised.
        seconds: How long each word of another member is waited for.
        pause: Seconds between looks.
        clock: Says what time it is.
    """

    folder: Path
    seconds: float
    pause: float = 0.2
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The run that a site takes part in.

    Attributes:
        board: Its notices.
        held: The entry that has its answer already; None where it is to be charged.
    """

    board: Board
    held: Entry | None


def join_latest(
    plan: Plan | JobPlan,
    *,
    sums: Summed,
    site: Site,
    name: str,
    federation: Federation,
    meeting: Meeting,
    again: bool,
    progress: Callable[[str], None],
) -> Joined:
    """Return the latest run of a plan, or that which has its answer in this site's ledger.

    Args:
        plan: That is charged here.
        sums: What the coordinator has to propose.
        site: Open.
        name: Of the site in the federation.
        federation: Its members.
        meeting: Where they meet.
        again: Whether to take part in another run of what was charged before.
        progress: Told when a proposal is waited for.

    Raises:
        ContractError: If something else is proposed; nothing is charged.
        PolicyError: If the run is of another time; nothing is charged.
        RoundAbortedError: If nobody proposes one in time; nothing is charged.
    """
    root = meeting.folder
    held = None if again else answered_request(plan, ledger=site.ledger)
    if held is not None:
        run = held.request_key
        decline_another(plan, run=run, root=root, federation=federation, site=site, name=name)
        return Joined(board=Board(root, federation=federation, run=run), held=held)
    progress("wait")
    waiting = Waiting(
        coordinator=federation.coordinator.name, seconds=meeting.seconds, pause=meeting.pause
    )
    proposal = waiting.until(lambda: latest_run(root, federation=federation, plan=plan))
    board = Board(root, federation=federation, run=proposal.run)
    held = answered_request(plan, ledger=site.ledger, request_key=proposal.run)
    if held is None:
        with told_why(board, site=site, name=name):
            proposal.require_timely(meeting.clock())
            proposal.require_same(sums)
    return Joined(board=board, held=held)


def round_of(
    sums: Summed, *, site: Site, place: int, federation: Federation, board: Board, meeting: Meeting
) -> SiteRound:
    """Return a site's part in the sums of a run, which ends when the coordinator says so."""
    hub = federation.coordinator.name
    waiting = Waiting(
        coordinator=hub,
        seconds=meeting.seconds,
        pause=meeting.pause,
        look=lambda: look_for_end(board, coordinator=hub),
    )
    return SiteRound(
        sums,
        site=place,
        key=site.signer,
        used=used_rounds(site),
        board=board,
        folder=meeting.folder,
        waiting=waiting,
    )


def decline_another(
    plan: Digested, *, run: str, root: Path, federation: Federation, site: Site, name: str
) -> None:
    """Tell those who wait in another run of a plan that this site takes no part in it."""
    with contextlib.suppress(OSError, MessageRefusedError):
        proposal = latest_run(root, federation=federation, plan=plan)
        if proposal is None or proposal.run == run or proposal.digest != plan.digest():
            return
        board = Board(root, federation=federation, run=proposal.run)
        if board.read(NoticeKind.ACCEPTED, name) is None:
            tell(board, NoticeKind.REFUSED, CHARGED_BEFORE, site=site, name=name)


def place_of(site: Site, federation: Federation) -> int:
    """Return the number of this site."""
    for place, member in enumerate(federation.sites):
        if member.key == site.signer.name:
            return place
    raise ContractError(
        f"No site of the federation has this site's key, {site.signer.name}.",
        hint="Tell it to the others with confide federate enrol, and get their federation.yaml.",
    )


def latest_run(root: Path, *, federation: Federation, plan: Digested) -> Proposal | None:
    """Return the latest run that did not end; one of another plan ends with its sum, too."""
    name = federation.coordinator.name
    for proposal in proposals(root, federation=federation):
        board = Board(root, federation=federation, run=proposal.run)
        other = proposal.digest != plan.digest()
        if board.read(NoticeKind.ABORTED, name) is not None or (
            other and board.read(NoticeKind.ADDED, name) is not None
        ):
            continue
        return proposal
    return None


def used_rounds(site: Site) -> UsedRounds:
    """Return a site's own marks of the rounds that it took part in; durable."""
    place = site.folder / _USED
    place.mkdir(mode=0o700, exist_ok=True)
    return UsedRounds(place)
