"""A site among the others, by folder: what its gate asks to be gathered, and to be added."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, RoundAbortedError
from confide.jobs.federated.carriers.by_folder import Waiting, heard_until_asked, say_the_rest
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import sum_terms
from confide.jobs.federated.secure_sum.participant import Participant
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import SystemEntropy
from confide.plans.canonical import Json
from confide.plans.plan import Plan
from confide.plans.pricing.over_sites import Summed, lengths_of_sums
from confide.release.noisy import NoisyAggregates
from confide.release.over_sites.among_sites import sums_of
from confide.release.site.keys import SigningKey


class SiteRound:
    """One site in the sums of a run: one, or one for each round of a model; used once.

    The sites of all sums are those of the first: gradients of other patients than the moments'
    would lead elsewhere.

    Args:
        plan: Over sites, as the site approved it.
        site: Its number.
        key: Its signing key.
        used: Marks of rounds, durable, of the site's own.
        board: Notices of the run.
        folder: The one that is synchronised.
        waiting: For the coordinator's words.

    Raises:
        ContractError: If the plan is of one site.
    """

    def __init__(
        self,
        plan: Summed,
        *,
        site: int,
        key: SigningKey,
        used: UsedRounds,
        board: Board,
        folder: Path,
        waiting: Waiting,
    ) -> None:
        self._plan, self._board, self._folder = plan, board, folder
        self._site, self._key, self._used, self._waiting = site, key, used, waiting
        self._sums = len(lengths_of_sums(plan))
        self._totals: tuple[int, ...] = ()
        self._added: tuple[str, ...] = ()
        self._salt = ""
        self._numbers: tuple[int, ...] = ()
        self._delivery = b""
        self._terms, self._carrier, self._participant = self._next()

    @property
    def run(self) -> str:
        """Which run it is."""
        return self._board.run

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the sites that are in the sums; none before the first."""
        return self._added

    def gather(self) -> None:
        """Say and hear all that comes before this site's numbers are asked for.

        Raises:
            RoundAbortedError: If the round ended.
        """
        self._delivery = heard_until_asked(
            self._participant, carrier=self._carrier, waiting=self._waiting
        )

    def add(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Send this site's noisy numbers of the next sum, hidden, and return the sum over sites.

        Raises:
            RoundAbortedError: If the round ended, or is not of the sites of the first one.
            ContractError: If the run has no other sum.
        """
        if self._totals:
            self._terms, self._carrier, self._participant = self._next()
            self.gather()
        self._numbers = numbers
        try:
            say_the_rest(
                self._participant, self._delivery, carrier=self._carrier, waiting=self._waiting
            )
        finally:
            self._numbers = ()
        survivors = self._participant.survivors
        added = tuple(self._terms.federation.sites[site].name for site in survivors)
        if self._added and added != self._added:
            raise RoundAbortedError("A round of the model is of other sites than the first one.")
        self._added = added
        totals = self._told()
        if any(abs(total) > len(added) * self._terms.bound for total in totals):
            raise RoundAbortedError("The coordinator's sum is beyond what the sites can give.")
        self._totals += totals
        return totals

    def result(self) -> NoisyAggregates:
        """Return all that was added.

        Raises:
            ContractError: If the last sum was not told, or is not of this plan, or that is a
                job's, which keeps its sums itself.
        """
        if not isinstance(self._plan, Plan):
            raise ContractError("The sums of a job are no noisy aggregates.")
        return sums_of(self._plan, self._totals, added=self._added, salt=self._salt)

    def _next(self) -> tuple[RoundTerms, FolderCarrier, Participant]:
        """Return what the next sum is about, its folder and this site's machine, silent as yet."""
        terms = sum_terms(self._plan, run=self._board.run, before=self._totals)
        member = terms.federation.sites[self._site].name
        carrier = FolderCarrier(self._folder, terms=terms, member=member)
        participant = Participant(
            terms,
            site=self._site,
            key=self._key,
            used=self._used,
            contribution=self._vector,
            entropy=SystemEntropy(),
        )
        return terms, carrier, participant

    def _told(self) -> tuple[int, ...]:
        """Return the sum that the coordinator tells; with the last one it tells all of them."""
        number, before = self._terms.number, self._totals
        if number + 1 < self._sums:
            said = self._heard(NoticeKind.ANSWERED, number=number)
            return self._of_these(said)
        said = self._heard(NoticeKind.ADDED)
        totals = self._of_these(said)
        if totals[: len(before)] != before:
            raise RoundAbortedError("The coordinator tells other sums than it told before.")
        self._salt = str(said["salt"])
        return totals[len(before) :]

    def _heard(self, kind: NoticeKind, *, number: int | None = None) -> Json:
        coordinator = self._waiting.coordinator
        return self._waiting.until(lambda: self._board.read(kind, coordinator, number=number))

    def _of_these(self, said: Json) -> tuple[int, ...]:
        """Return the numbers that were told, if they are of the sites that consented."""
        if tuple(said["added"]) != self._added:
            raise RoundAbortedError("The coordinator tells of other sites than consented.")
        return tuple(int(total) for total in said["totals"])

    def _vector(self) -> NDArray[np.int64]:
        numbers, self._numbers = self._numbers, ()
        return np.array(numbers, dtype=np.int64)


def look_for_end(board: Board, *, coordinator: str) -> None:
    """Raise if the coordinator said that there will be no sum.

    Raises:
        RoundAbortedError: With its reason.
    """
    said = board.read(NoticeKind.ABORTED, coordinator)
    if said is not None:
        why = str(said.get("why", ""))[:500] if isinstance(said, dict) else ""
        raise RoundAbortedError(f"The coordinator ended the run: {why}")
