"""Who recomputes, from the events that are stored beside a charge, what they cost.

*Privacy:* a charge is believed only as far as its events say the same: they are of its measure,
they are there, and they cost no more.
"""

from typing import Protocol

from confide.privacy.amount import Amount
from confide.privacy.measure import Measure, Mixed


class Accountant(Protocol):
    """Returns the loss of stored events."""

    def __call__(
        self, events_json: str, /, *, measure: Measure, mixed: Mixed | None = None
    ) -> Amount:
        """Return what events charge, rounded up; nothing where there are none.

        Args:
            events_json: As stored beside the charge.
            measure: Of the charge.
            mixed: That of the ledger, if it takes charges of both: what they cost in its lanes.

        Raises:
            ConfideError: If they cannot be read, or are of another measure.
        """


def is_unexplained(amount: Amount, *, cost: Amount) -> bool:
    """Return whether something is charged of which no event says for what."""
    return amount != Amount(nano=0) and cost == Amount(nano=0)
