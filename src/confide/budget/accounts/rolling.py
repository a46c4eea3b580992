"""Rolling windows of one lineage: what each holds, and when it lets go.

A charge leaves 365 days after the first *confirmed day* that is not before it.  What is published
in steps counts from its newest step on, all of it.  Any 365 days then hold at most a cap: when the
last of their charges or steps was made, everything that is published in them counted.

*Privacy:* a charge counts until an officer has confirmed a day that ends its window; no clock ends
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from confide.budget.policy.counters import leaves_on
from confide.errors import LedgerFrozenError


@dataclass(slots=True)
class Rolling:
    """What counts as of which day.

    Attributes:
        days: Confirmed days, in order.
        batches: What each counter holds, by epoch: how many days were confirmed before.
        lost: What lost rows added in all, by epoch.
    """

    days: list[str] = field(default_factory=list)
    batches: dict[str, dict[int, int]] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)

    @property
    def epoch(self) -> int:
        """Of a charge that is made now."""
        return len(self.days)

    def confirm(self, day: str) -> None:
        """Let what was charged 365 days before ``day``, or earlier, leave."""
        if self.days and day <= self.days[-1]:
            raise LedgerFrozenError(f"Day {day} was confirmed after {self.days[-1]}.")
        self.days.append(day)

    def add(self, name: str, units: int, *, epoch: int, start: int) -> None:
        """Add to a counter as of an epoch; ``start`` is what a new one holds already."""
        batches = self.batches.setdefault(name, {self.epoch: start} if start else {})
        batches[epoch] = batches.get(epoch, 0) + units

    def move(self, name: str, units: int, *, epoch: int) -> None:
        """Let what a counter holds as of an epoch count as of now."""
        self.batches[name][epoch] -= units
        self.add(name, units, epoch=self.epoch, start=0)

    def add_lost(self, units: int) -> None:
        """Note what lost rows charged everybody."""
        self.lost[self.epoch] = self.lost.get(self.epoch, 0) + units

    def held(self, name: str) -> int:
        """Return what has not left a counter."""
        return self._held(self.batches[name])

    def lost_held(self) -> int:
        """Return what has not left of what lost rows added."""
        return self._held(self.lost)

    def has_left(self, epoch: int) -> bool:
        """Return whether what was charged in an epoch counts no more."""
        return epoch < len(self.days) and leaves_on(self.days[epoch]) <= self.days[-1]

    def leaves(self, epoch: int) -> str:
        """Return the first day on which it counts no more; "" if none is confirmed yet."""
        return leaves_on(self.days[epoch]) if epoch < len(self.days) else ""

    def comes_back(self, name: str) -> str | None:
        """Return the first day on which a counter holds less; None if nothing could leave."""
        batches = self.batches.get(name, {}).items()
        epochs = [epoch for epoch, units in batches if units and not self.has_left(epoch)]
        return self.leaves(min(epochs)) if epochs else None

    def _held(self, batches: Mapping[int, int]) -> int:
        return sum(units for epoch, units in batches.items() if not self.has_left(epoch))
