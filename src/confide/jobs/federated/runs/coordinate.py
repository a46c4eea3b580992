"""The coordinator of a run: proposes it, brings the sum about, and tells it to all.

It holds no records and no key but its own.  Where it is cut off before it passed keys on, the same
run goes on; later, it says that the run is over, and begins another one.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.carriers.by_folder import collect
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, sum_terms
from confide.jobs.federated.secure_sum.collector import Collector
from confide.noise.entropy import SystemEntropy
from confide.plans.canonical import Json
from confide.plans.plan import Plan
from confide.plans.sites.federation import Federation
from confide.release.noisy import NoisyAggregates, shows_noisy
from confide.release.over_sites.among_sites import SALT, sums_of
from confide.release.site.keys import SigningKey

_GONE = (NoticeKind.REFUSED, NoticeKind.ENDED)


def propose(plan: Plan, *, now: dt.datetime, open_for: dt.timedelta) -> Proposal:
    """Return a new run of a plan over sites."""
    return Proposal(
        run=SystemEntropy().octets(32).tobytes().hex(),
        plan=plan.to_json(),
        digest=plan.digest(),
        at=now,
        until=now + open_for,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """The coordinator in one run.

    Attributes:
        federation: Of the plan.
        board: Notices of the run.
        carrier: Its view of the folder.
        key: Its signing key.
        seconds: How long it waits for the answers to each step.
        pause: Seconds between looks.
    """

    federation: Federation
    board: Board
    carrier: FolderCarrier
    key: SigningKey
    seconds: float
    pause: float

    def bring_about(self, plan: Plan, *, progress: Callable[[str], None]) -> NoisyAggregates:
        """Return the sum over sites, after all were told.

        Args:
            plan: Over sites.
            progress: Told the name of each step.

        Raises:
            RoundAbortedError: If too few sites took part; says which are missing, and why if they
                said.
        """
        try:
            found = collect(
                Collector(sum_terms(plan, run=self.board.run), key=self.key),
                carrier=self.carrier,
                federation=self.federation,
                seconds=self.seconds,
                pause=self.pause,
                gone=self._gone,
                progress=progress,
            )
        except RoundAbortedError as error:
            why = " ".join((str(error), *reasons(self.board, federation=self.federation)))
            self.abort(why)
            raise RoundAbortedError(why) from None
        salt = "" if shows_noisy(plan.study) else SystemEntropy().octets(SALT).tobytes().hex()
        added = tuple(self.federation.sites[place].name for place in found.survivors)
        totals = [int(total) for total in found.total]
        noisy = sums_of(plan, totals, added=added, salt=salt)
        self._say(NoticeKind.ADDED, written_sum(totals, added=added, salt=salt))
        return noisy

    def abort(self, why: str) -> None:
        """Tell all sites that there will be no sum."""
        self._say(NoticeKind.ABORTED, {"why": why})

    def _say(self, kind: NoticeKind, body: Json) -> None:
        self.board.post(kind, body, sender=self.federation.coordinator.name, key=self.key)

    def _gone(self) -> tuple[int, ...]:
        """Return the numbers of sites that said that they will not answer."""
        return tuple(
            place
            for place, site in enumerate(self.federation.sites)
            if any(_said(self.board, kind, site.name) is not None for kind in _GONE)
        )


def written_sum(totals: list[int], *, added: tuple[str, ...], salt: str) -> Json:
    """Return what the coordinator tells of a sum; integers are texts, of any size."""
    return {"totals": [str(total) for total in totals], "added": list(added), "salt": salt}


def reasons(board: Board, *, federation: Federation) -> list[str]:
    """Return why sites do not take part, one sentence each; names sites and no patient."""
    found = []
    for site in federation.sites:
        for kind in _GONE:
            try:
                board.require_own(kind, site.name)
                said = board.read(kind, site.name)
            except MessageRefusedError as error:
                found.append(str(error))
                continue
            if isinstance(said, dict):
                found.append(f"{site.name} {kind.value}: {str(said.get('why', ''))[:500]}")
    return found


def _said(board: Board, kind: NoticeKind, name: str) -> Json | None:
    try:
        return board.read(kind, name)
    except MessageRefusedError:  # nobody's word, so nobody is gone
        return None
