"""The end of requests that nobody holds: burned if one was being read, given back if it was not.

Nobody holds what a process that is gone had, or what a caller in this one let go after a failure.

*Privacy:* each step is a transaction of its own and looks at the request again, under the lock.
"""

import contextlib
from collections.abc import Callable

from confide.budget.journal import Journal
from confide.budget.ledger import State
from confide.errors import LedgerFrozenError, LedgerUnreachableError

GONE, _LET_GO = "the process is gone", "let go by its owner"


class Unheld:
    """Requests of a journal that nobody holds any more.

    Args:
        journal: Whose requests.
        burn: Ends one that was being read; told its number and why.
        give_back: Ends one that was only reserved, or lets it read no more, to be burned next.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        burn: Callable[[int, str], None],
        give_back: Callable[[int, str], None],
    ) -> None:
        self._journal = journal
        self._steps = {State.READING: burn, State.RESERVED: give_back}
        self._ours: dict[int, str] = {}

    def end_the_dead(self) -> None:
        """End every request whose process is gone."""
        store = self._journal.store
        for number in sorted(self._journal.book.open):
            self._end(number, why=GONE, dead=lambda it: not store.is_alive(it))

    def let_go(self, number: int, *, why: str = _LET_GO) -> None:
        """Note that nobody holds a request of this process, whether it is on disk or not."""
        self._ours[number] = why

    def held(self, number: int) -> None:
        """Note that a caller has it."""
        self._ours.pop(number, None)

    def end_ours(self) -> None:
        """End what was let go."""
        for number, why in sorted(self._ours.items()):
            self._end(number, why=why, dead=lambda it: it == self._journal.store.owner)
            del self._ours[number]

    def try_to_end_ours(self) -> None:
        """Do so unless the disk is still full; the next request does it, or whoever opens next."""
        failures = self._journal.store.failures
        with contextlib.suppress(OSError, LedgerUnreachableError, LedgerFrozenError, *failures):
            self.end_ours()

    def state(self, number: int) -> State | None:
        """Return how a request ended; None of one that could not be ended yet."""
        held = self._journal.book.requests.get(number)
        return None if held is None or number in self._ours else held.entry.state

    def _end(self, number: int, *, why: str, dead: Callable[[str], bool]) -> None:
        while self._step(number, why=why, dead=dead):
            pass

    def _step(self, number: int, *, why: str, dead: Callable[[str], bool]) -> bool:
        """Take a request one step towards its end; return whether one was taken."""
        with self._journal.transaction():
            held = self._journal.book.requests.get(number)  # as it is now, under the lock
            step = None if held is None else self._steps.get(held.entry.state)
            if held is None or step is None or not dead(held.owner):
                return False
            step(number, why)
            return True
