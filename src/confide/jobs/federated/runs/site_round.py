"""A site among the others, by folder: what its gate asks to be gathered, and to be added."""

import numpy as np
from numpy.typing import NDArray

from confide.errors import RoundAbortedError
from confide.jobs.federated.carriers.by_folder import Waiting, heard_until_asked, say_the_rest
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.secure_sum.participant import Participant
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import SystemEntropy
from confide.plans.plan import Plan
from confide.release.noisy import NoisyAggregates
from confide.release.over_sites.among_sites import sums_of
from confide.release.site.keys import SigningKey


class SiteRound:
    """One site in the one sum of a run; used once.

    Args:
        plan: Over sites, as the site approved it.
        terms: Of the sum.
        site: Its number.
        key: Its signing key.
        used: Marks of rounds, durable, of the site's own.
        board: Notices of the run.
        carrier: The site's view of the folder.
        waiting: For the coordinator's words.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        terms: RoundTerms,
        site: int,
        key: SigningKey,
        used: UsedRounds,
        board: Board,
        carrier: FolderCarrier,
        waiting: Waiting,
    ) -> None:
        self._plan, self._board = plan, board
        self._carrier, self._waiting = carrier, waiting
        self._numbers: tuple[int, ...] = ()
        self._names = tuple(member.name for member in terms.federation.sites)
        self._most = len(self._names) * terms.bound
        self._delivery = b""
        self._participant = Participant(
            terms, site=site, key=key, used=used, contribution=self._vector, entropy=SystemEntropy()
        )

    def gather(self) -> None:
        """Say and hear all that comes before this site's numbers are asked for.

        Raises:
            RoundAbortedError: If the round ended.
        """
        self._delivery = heard_until_asked(
            self._participant, carrier=self._carrier, waiting=self._waiting
        )

    def add(self, numbers: tuple[int, ...]) -> NoisyAggregates:
        """Send this site's noisy numbers, hidden, and return the sum over sites.

        Raises:
            RoundAbortedError: If the round ended.
            ContractError: If the coordinator's sum is not of this plan.
        """
        self._numbers = numbers
        try:
            say_the_rest(
                self._participant, self._delivery, carrier=self._carrier, waiting=self._waiting
            )
        finally:
            self._numbers = ()
        coordinator = self._waiting.coordinator
        said = self._waiting.until(lambda: self._board.read(NoticeKind.ADDED, coordinator))
        added = tuple(self._names[site] for site in self._participant.survivors)
        if tuple(said["added"]) != added:
            raise RoundAbortedError("The coordinator tells of other sites than consented.")
        totals = [int(total) for total in said["totals"]]
        if any(abs(total) > self._most for total in totals):
            raise RoundAbortedError("The coordinator's sum is beyond what the sites can give.")
        return sums_of(self._plan, totals, added=added, salt=str(said["salt"]))

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
