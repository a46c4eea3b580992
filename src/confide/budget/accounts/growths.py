"""The growing releases of a ledger, as its rows leave them."""

from confide.budget.entry import Entry, State
from confide.budget.growth import Growth
from confide.errors import LedgerFrozenError


class Growths(dict[int, Growth]):
    """Growing releases by the entry that opened each."""

    def of(self, entry: Entry) -> Growth:
        """Return the growing release of which an entry publishes periods."""
        return self[entry.continues or entry.number]

    def begin(self, entry: Entry, *, over: str) -> None:
        """Open a growing release, or let a step of one begin.

        Args:
            entry: That does.
            over: A window in which what was charged for it counts no more, or "".

        Raises:
            LedgerFrozenError: If the step may not be taken.
        """
        step = entry.step
        if step is None:
            return
        if step.continues is None:
            growth = Growth(opened=entry.number, lineage=entry.lineage, question=step.question)
        else:
            growth = self[step.continues]
            problem = growth.problem(step, lineage=entry.lineage) or over
            if problem or entry.amount.nano or entry.amount.atto:
                raise LedgerFrozenError(f"Row {entry.number} continues a release that it may not.")
        self[growth.opened] = growth.reserved(entry.number)

    def follow(self, entry: Entry) -> None:
        """Take in the new state of a request that publishes periods."""
        if entry.step is None:
            return
        growth = self.of(entry)
        match entry.state:
            case State.READING:
                self[growth.opened] = growth.reading(entry.step)
            case State.COMMITTED | State.BURNED | State.CANCELLED:
                self[growth.opened] = growth.ended(entry.state.value)
            case _:
                pass

    def withhold(self, entry: Entry) -> None:
        """Take in that an answer is withheld: those that repeat it are, too."""
        if entry.step is not None:
            grown = self.of(entry).withhold(entry.step)
            self[grown.opened] = grown

    def is_withheld(self, entry: Entry) -> bool:
        """Return whether an answer is withheld, or repeats the periods of one that is."""
        if entry.step is None or entry.state is State.REFUSED:  # which opened nothing
            return entry.withheld
        return entry.withheld or self.of(entry).holds_withheld(entry.step)

    def that_may_grow(self) -> tuple[int, ...]:
        """Return the entries that opened those that have not ended."""
        return tuple(number for number, growth in self.items() if not growth.closed)

    def end_all(self) -> None:
        """Take in that rows of the ledger were lost."""
        for number, growth in self.items():
            self[number] = growth.lost()
