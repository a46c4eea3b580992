"""The end of requests whose process is gone: burned if it was reading, given back if it was not.

*Privacy:* each step is a transaction of its own and looks at the request again, under the lock.
"""

from collections.abc import Callable

from confide.budget.journal import Journal
from confide.budget.ledger import State


def end_the_dead(
    journal: Journal, *, burn: Callable[[int], None], give_back: Callable[[int], None]
) -> None:
    """End every request that nobody holds any more.

    Args:
        journal: Whose requests.
        burn: Ends one that was being read.
        give_back: Ends one that was only reserved, or lets it read no more, to be burned next.
    """
    steps = {State.READING: burn, State.RESERVED: give_back}
    for number in sorted(journal.book.open):
        while _step(journal, number, steps=steps):
            pass


def _step(journal: Journal, number: int, *, steps: dict[State, Callable[[int], None]]) -> bool:
    """Take a request one step towards its end; return whether one was taken."""
    with journal.transaction():
        held = journal.held(number)  # as it is now, under the lock
        step = steps.get(held.entry.state)
        if step is None or journal.store.is_alive(held.owner):
            return False
        step(number)
        return True
