"""The coordinator of a run: proposes it, brings the sums about, and tells them to all.

It holds no records and no key but its own.  A study is one sum, a model one for each of its rounds.
Where it is cut off, the same run goes on with what was told of earlier sums, and with the next one
if it passed no keys of that on, or if nobody may be missing from it; else it says that the run is
over, and begins another one.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.carriers.by_folder import collect
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal, software_of, sum_terms
from confide.jobs.federated.secure_sum.collector import Collector
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.noise.entropy import SystemEntropy
from confide.plans.canonical import Json
from confide.plans.plan import Plan
from confide.plans.pricing.job_sums import JobSums
from confide.plans.pricing.over_sites import Summed, lengths_of_sums
from confide.plans.sites.federation import Federation
from confide.release.noisy import NoisyAggregates, shows_noisy
from confide.release.over_sites.among_sites import SALT, sums_of
from confide.release.site.keys import SigningKey

_GONE = (NoticeKind.REFUSED, NoticeKind.ENDED)
ANOTHER_RUN = (
    "Another run is another charge: confide federate run --again at the coordinator, then confide "
    "federate serve-site --again at every site (in Python again=True)."
)
"""What to do where charges stay."""


def propose(plan: Summed, *, now: dt.datetime, open_for: dt.timedelta) -> Proposal:
    """Return a new run of a plan over sites."""
    return Proposal(
        run=SystemEntropy().octets(32).tobytes().hex(),
        plan=plan.to_json(),
        digest=plan.digest(),
        at=now,
        until=now + open_for,
        software=software_of(plan),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """Sums of a run so far.

    Attributes:
        sums: How many.
        totals: Of all of them, one after another.
        last: Of the last one.
        added: Names of the sites that are in them.
    """

    sums: int = 0
    totals: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    added: tuple[str, ...] = ()

    def then(self, totals: Sequence[int], added: tuple[str, ...]) -> "_Told":
        """Return the same with one more."""
        last = tuple(totals)
        return _Told(sums=self.sums + 1, totals=(*self.totals, *last), last=last, added=added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """The coordinator in one run.

    Attributes:
        federation: Of the plan.
        board: Notices of the run.
        folder: The one that is synchronised.
        key: Its signing key.
        seconds: How long it waits for the answers to each step.
        pause: Seconds between looks.
    """

    federation: Federation
    board: Board
    folder: Path
    key: SigningKey
    seconds: float
    pause: float

    def may_go_on(self, plan: Summed, *, now: dt.datetime, until: dt.datetime) -> bool:
        """Return whether the run can come to its next sum, and sites may still wait for it.

        It can if no keys of that sum were passed on; and, where nobody may be missing, afterwards
        too: what the coordinator says at each step follows from what all sites said, and their
        messages are there, so it says the same again.

        Args:
            plan: Over sites.
            now: What time it is.
            until: When nobody may begin to take part any more.
        """
        told = self._told()
        carrier = self._carrier(sum_terms(plan, run=self.board.run, before=told.totals))
        if carrier.has_said(Leg.KEYS):
            return self.federation.tolerance.drops == 0 and not self._gone()
        return told.sums > 0 or now < until

    def bring_about(self, plan: Plan, *, progress: Callable[[str], None]) -> NoisyAggregates:
        """Return the sums over sites, after all were told.

        Args:
            plan: Over sites.
            progress: Told the name of each step.

        Raises:
            RoundAbortedError: If too few sites took part, or other ones than in the first sum; says
                which are missing, and why if they said.
        """
        told = self._brought_about(plan, progress=progress)
        salt = "" if shows_noisy(plan.study) else SystemEntropy().octets(SALT).tobytes().hex()
        noisy = sums_of(plan, told.totals, added=told.added, salt=salt)
        self._say(NoticeKind.ADDED, written_sum(told.totals, added=told.added, salt=salt))
        return noisy

    def add_up(
        self, job: JobSums, *, progress: Callable[[str], None]
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return the sums of a job, one after another, and who is in them, after all were told.

        Arguments and errors are those of :meth:`bring_about`.
        """
        told = self._brought_about(job, progress=progress)
        self._say(NoticeKind.ADDED, written_sum(told.totals, added=told.added))
        return told.totals, told.added

    def _brought_about(self, plan: Summed, *, progress: Callable[[str], None]) -> _Told:
        """Return all sums, of which the last one is not told yet."""
        told, sums = self._told(), len(lengths_of_sums(plan))
        try:
            while told.sums < sums:
                if sums > 1:
                    progress(f"sum {told.sums + 1} of {sums}")
                told = self._with_next(plan, told, progress=progress)
                if told.sums < sums:
                    self._tell_last(told)
        except RoundAbortedError as error:
            said = str(error).removesuffix(error.hint).strip()
            why = " ".join((said, *reasons(self.board, federation=self.federation)))
            self.abort(why)
            raise RoundAbortedError(why, hint=error.hint or ANOTHER_RUN) from None
        return told

    def abort(self, why: str) -> None:
        """Tell all sites that there will be no sum."""
        self._say(NoticeKind.ABORTED, {"why": why})

    def _say(self, kind: NoticeKind, body: Json, *, number: int | None = None) -> None:
        name = self.federation.coordinator.name
        self.board.post(kind, body, sender=name, key=self.key, number=number)

    def _carrier(self, terms: RoundTerms) -> FolderCarrier:
        return FolderCarrier(self.folder, terms=terms, member=self.federation.coordinator.name)

    def _told(self) -> _Told:
        """Return the sums that were told before, in this process or not, but the last."""
        told, name = _Told(), self.federation.coordinator.name
        while (said := self.board.read(NoticeKind.ANSWERED, name, number=told.sums)) is not None:
            told = told.then([int(total) for total in said["totals"]], tuple(said["added"]))
        return told

    def _with_next(self, plan: Summed, told: _Told, *, progress: Callable[[str], None]) -> _Told:
        """Return the sums with the next one."""
        terms = sum_terms(plan, run=self.board.run, before=told.totals)
        found = collect(
            Collector(terms, key=self.key),
            carrier=self._carrier(terms),
            federation=self.federation,
            seconds=self.seconds,
            pause=self.pause,
            gone=lambda: {*self._gone(), *self._left_out(told)},
            progress=progress,
        )
        added = tuple(self.federation.sites[place].name for place in found.survivors)
        if told.added and added != told.added:
            missing = [name for name in told.added if name not in added] or added
            raise RoundAbortedError(
                "The rounds of a model are of the sites of the first one, and not all of them came "
                f"to another: {', '.join(missing)}."
            )
        return told.then([int(total) for total in found.total], added)

    def _tell_last(self, told: _Told) -> None:
        """Tell the sum that was made last."""
        body = written_sum(told.last, added=told.added)
        self._say(NoticeKind.ANSWERED, body, number=told.sums - 1)

    def _left_out(self, told: _Told) -> tuple[int, ...]:
        """Return the numbers of sites that are not in the sums so far; none before the first."""
        places = enumerate(self.federation.sites)
        return tuple(place for place, site in places if told.sums and site.name not in told.added)

    def _gone(self) -> tuple[int, ...]:
        """Return the numbers of sites that said that they will not answer."""
        return tuple(
            place
            for place, site in enumerate(self.federation.sites)
            if any(_said(self.board, kind, site.name) is not None for kind in _GONE)
        )


def written_sum(totals: Sequence[int], *, added: tuple[str, ...], salt: str = "") -> Json:
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
