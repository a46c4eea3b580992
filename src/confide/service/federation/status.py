"""Status: how far each run in a folder has come, by what its members said."""

from dataclasses import dataclass
from pathlib import Path

from confide.errors import ConfideError, MessageRefusedError
from confide.files.federation.federation import read_federation
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, proposals
from confide.jobs.kinds import read_spec
from confide.plans.plan import Plan
from confide.plans.pricing.job_sums import AddedBySites
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.sites.federation import Federation
from confide.statistics import read_priced

_BY_SITE = (NoticeKind.CERTIFIED, NoticeKind.ENDED, NoticeKind.REFUSED, NoticeKind.ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStatus:
    """What one site said in a run.

    Attributes:
        site: Its name.
        said: The last of accepted, refused, ended, certified; "silent" before; "nobody's word" of
            what it did not sign.
        why: The reason that it gave, or what is wrong with its words.
    """

    site: str
    said: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """One run.

    Attributes:
        run: Which.
        digest: Of the plan that is proposed.
        at: When it was proposed.
        until: Until when sites may begin to take part.
        came_to: "proposed", "added" or "aborted"; "nobody's word" where the coordinator said two
            things.
        why: Why it was aborted, or what is wrong with the coordinator's words.
        sites: What each site said.
        told: How many sums were told: one, or one for each round of a model.
        sums: How many there will be; 0 where this version does not know the plan.
    """

    run: str
    digest: str
    at: str
    until: str
    came_to: str
    why: str
    sites: tuple[SiteStatus, ...]
    told: int
    sums: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationStatus:
    """All runs in a folder, the latest first.

    Attributes:
        sites: Names of the members.
        coordinator: Its name.
        runs: The runs.
    """

    sites: tuple[str, ...]
    coordinator: str
    runs: tuple[RunStatus, ...]


def status(*, federation: Path, folder: Path) -> FederationStatus:
    """Return how far each run has come; reads signed notices alone.

    Raises:
        ContractError: If federation.yaml breaks its contract.
        MessageRefusedError: If all proposals are of another key or federation.
    """
    members = read_federation(federation)
    found = proposals(folder, federation=members)
    return FederationStatus(
        sites=tuple(site.name for site in members.sites),
        coordinator=members.coordinator.name,
        runs=tuple(_run(each, folder=folder, federation=members) for each in found),
    )


def _run(proposal: Proposal, *, folder: Path, federation: Federation) -> RunStatus:
    board = Board(folder, federation=federation, run=proposal.run)
    name, told, sums = federation.coordinator.name, 0, _sums(proposal)
    try:
        while board.read(NoticeKind.ANSWERED, name, number=told) is not None:
            told += 1
        aborted, added = board.read(NoticeKind.ABORTED, name), board.read(NoticeKind.ADDED, name)
        came_to = "aborted" if aborted is not None else "added" if added else "proposed"
        why = str(aborted.get("why", ""))[:500] if isinstance(aborted, dict) else ""
        told += added is not None
    except MessageRefusedError as error:
        came_to, why = "nobody's word", str(error)
    return RunStatus(
        run=proposal.run,
        digest=proposal.digest,
        at=f"{proposal.at:%Y-%m-%d %H:%M}",
        until=f"{proposal.until:%Y-%m-%d %H:%M}",
        came_to=came_to,
        why=why,
        sites=tuple(_site(board, site.name) for site in federation.sites),
        told=told,
        sums=sums,
    )


def _sums(proposal: Proposal) -> int:
    """Return how many sums the plan of a proposal is; 0 of one that cannot be read here."""
    try:
        plan = read_priced(proposal.plan)
    except ConfideError:
        return 0
    if isinstance(plan, Plan):
        return len(lengths_of_sums(plan))
    job = read_spec(plan.kind, plan.spec)
    return len(job.sums(plan).lengths) if isinstance(job, AddedBySites) else 0


def _site(board: Board, name: str) -> SiteStatus:
    for kind in _BY_SITE:
        try:
            board.require_own(kind, name)
            said = board.read(kind, name)
        except MessageRefusedError as error:
            return SiteStatus(site=name, said="nobody's word", why=str(error))
        if said is not None:
            why = said.get("why", "") if isinstance(said, dict) else ""
            return SiteStatus(site=name, said=kind.value, why=str(why)[:500])
    return SiteStatus(site=name, said="silent", why="")
