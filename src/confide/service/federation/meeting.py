"""Where members meet, which run a site takes part in there, and how it says that it does not."""

import contextlib
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from confide.budget.ledger import Entry
from confide.errors import ContractError, MessageRefusedError, RoundAbortedError
from confide.jobs.federated.carriers.by_folder import Waiting
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, not_approved, proposals
from confide.jobs.federated.runs.site_round import SiteRound, look_for_end
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.plans.job import JobPlan
from confide.plans.plan import Plan
from confide.plans.pricing.over_sites import Summed
from confide.plans.sites.federation import Federation
from confide.release.published import answered_request
from confide.service.federation.alone import alone, own_place
from confide.service.federation.telling import tell_charged_before, told_why
from confide.service.site import Site


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
        only: What keeps other processes of this site out of the run until it is left.
    """

    board: Board
    held: Entry | None
    only: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)


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
        ContractError: If something else is proposed, or another process of this site is at the run;
            nothing is charged.
        PolicyError: If the run is of another time; nothing is charged.
        RoundAbortedError: If nobody proposes one in time; nothing is charged.
    """
    root, boards = meeting.folder, dict[str, Board]()
    held = None if again else answered_request(plan, ledger=site.ledger)
    if held is not None:
        run = held.request_key
        decline_another(plan, run=run, root=root, federation=federation, site=site, name=name)
        return Joined(board=Board(root, federation=federation, run=run), held=held)
    progress("wait")
    waiting = Waiting(
        coordinator=federation.coordinator.name, seconds=meeting.seconds, pause=meeting.pause
    )
    try:
        proposal = waiting.until(
            lambda: latest_run(root, federation=federation, plan=plan, boards=boards)
        )
    except RoundAbortedError:
        raise RoundAbortedError(
            f"{federation.coordinator.name!r} proposed no run in time; nothing was charged.",
            hint="Begin again once the coordinator runs (in Python: coordinate), and see that both "
            "have the same folder.",
        ) from None
    board = boards[proposal.run]
    with contextlib.ExitStack() as only:
        only.enter_context(alone(site.folder, about=proposal.run))
        held = answered_request(plan, ledger=site.ledger, request_key=proposal.run)
        if held is None:
            with told_why(board, proposed=proposal.digest, plan=plan, site=site, name=name):
                proposal.require_timely(meeting.clock())
                proposal.require_same(sums)
        return Joined(board=board, held=held, only=only.pop_all())


def require_approved(
    plan: Plan | JobPlan,
    *,
    sums: Summed,
    approve: str,
    site: Site,
    name: str,
    federation: Federation,
    meeting: Meeting,
) -> None:
    """Refuse to go on with a plan of which another digest was approved.

    Where a run lies in the folder, the text says which part of this site's plan is another than the
    coordinator's, and the others are told that this site takes no part.

    Args:
        plan: That would be charged here.
        sums: What the coordinator has to propose.
        approve: Digest that this site's operator approved.
        site: Open.
        name: Of the site in the federation.
        federation: Its members.
        meeting: Where they meet.

    Raises:
        ContractError: If it is another one; nothing is charged.
    """
    if approve == sums.digest():
        return
    try:
        proposal = _agreed_on(approve, plan=sums, root=meeting.folder, federation=federation)
    except MessageRefusedError as refused:  # of another federation, or nobody's word
        raise not_approved(why=str(refused)) from None
    except OSError:
        proposal = None
    if proposal is None or proposal.digest == sums.digest():
        raise not_approved(why="")
    refusal = not_approved(why=proposal.told_apart(sums))
    board = Board(meeting.folder, federation=federation, run=proposal.run)
    with contextlib.ExitStack() as only:
        try:
            only.enter_context(alone(site.folder, about=proposal.run))
        except ContractError:  # another process of this site is at the run
            raise refusal from None
        with told_why(board, proposed=proposal.digest, plan=plan, site=site, name=name):
            raise refusal


def _agreed_on(
    digest: str, *, plan: Digested, root: Path, federation: Federation
) -> Proposal | None:
    """Return the latest run under way of a digest; else of any plan, and None where there is none.

    Raises:
        MessageRefusedError: If all that lies there is of another federation, or nobody's word.
    """
    hub = federation.coordinator.name
    for each in proposals(root, federation=federation):
        board = Board(root, federation=federation, run=each.run)
        over = any(board.read(end, hub) for end in (NoticeKind.ABORTED, NoticeKind.ADDED))
        if each.digest == digest and not over:
            return each
    return latest_run(root, federation=federation, plan=plan)


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
    plan: Plan | JobPlan, *, run: str, root: Path, federation: Federation, site: Site, name: str
) -> None:
    """Tell those who wait in another run of a plan that this site takes no part in it.

    Nothing is told where another process of this site is at that run.
    """
    with contextlib.suppress(OSError, MessageRefusedError), contextlib.ExitStack() as only:
        proposal = latest_run(root, federation=federation, plan=plan)
        if proposal is None or proposal.run == run or proposal.digest != plan.digest():
            return
        try:
            only.enter_context(alone(site.folder, about=proposal.run))
        except ContractError:
            return
        board = Board(root, federation=federation, run=proposal.run)
        if board.read(NoticeKind.ACCEPTED, name) is None:
            tell_charged_before(board, plan=plan, site=site, name=name)


def place_of(site: Site, federation: Federation) -> int:
    """Return the number of this site."""
    for place, member in enumerate(federation.sites):
        if member.key == site.signer.name:
            return place
    raise ContractError(
        f"No site of the federation has this site's key, {site.signer.name}.",
        hint="Tell it to the others with confide federate enrol, and get their federation.yaml.",
    )


def latest_run(
    root: Path,
    *,
    federation: Federation,
    plan: Digested,
    boards: dict[str, Board] | None = None,
) -> Proposal | None:
    """Return the latest run that did not end; one of another plan ends with its sum, too.

    Args:
        root: Where members meet.
        federation: Its members.
        plan: That is looked for.
        boards: Those of each run at an earlier look; new ones are added.
    """
    name, boards = federation.coordinator.name, {} if boards is None else boards
    for proposal in proposals(root, federation=federation, boards=boards):
        board = boards[proposal.run]
        other = proposal.digest != plan.digest()
        if board.read(NoticeKind.ABORTED, name) is not None or (
            other and board.read(NoticeKind.ADDED, name) is not None
        ):
            continue
        return proposal
    return None


def used_rounds(site: Site) -> UsedRounds:
    """Return a site's own marks of the rounds that it took part in; durable."""
    return UsedRounds(own_place(site.folder))
