"""What each patient has spent in one window: a vector of integers, rebuilt from the memberships.

Kept as what everybody has paid, and beside it each patient's difference from that: what they paid
by their own norms, less what everybody paid where they were left out.  Releases that end in the
window are added, those that leave it are taken off again, by the same files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confide.budget.per_patient.members import Members

LOWEST = -(2**62)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCharge:
    """A charge in a window.

    Attributes:
        everybody: The whole loss, in 1e-15, where everybody paid it; 0 where a file says who did.
        tag: Of its membership file; "" where there is none.
        stamp: Size and time of that file when its tag was last checked.
    """

    everybody: int
    tag: str = ""
    stamp: tuple[int, int] = (0, 0)

    @property
    def paid(self) -> tuple[int, str]:
        """What it says that was paid, however often its file was touched."""
        return self.everybody, self.tag


@dataclass(slots=True)
class Tally:
    """Spends in one window; the one mutable thing of the store, and only a cache."""

    own: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    everybody: int = 0
    counted: dict[int, CountedCharge] = field(default_factory=dict)

    def add(self, number: int, counted: CountedCharge, members: Members | None) -> None:
        """Count a charge."""
        self._move(counted, members, sign=1)
        self.counted[number] = counted

    def settle(
        self, number: int, counted: CountedCharge, members: Members, *, after: NDArray[np.int64]
    ) -> None:
        """Count a charge after which those who pay by their own norm have the differences given."""
        self.everybody += members.everybody
        self.own[members.paid] = after
        self.own[members.left_out] -= members.everybody
        self.counted[number] = counted

    def remove(self, number: int, members: Members | None) -> None:
        """Take a charge off again, because its window is over."""
        self._move(self.counted.pop(number), members, sign=-1)

    def _move(self, counted: CountedCharge, members: Members | None, *, sign: int) -> None:
        if members is None:
            self.everybody += sign * counted.everybody
            return
        self.everybody += sign * members.everybody
        self.grow(members.people)
        self.own[members.paid] += sign * members.spends
        self.own[members.left_out] -= sign * members.everybody

    def grow(self, people: int) -> None:
        """Make room for patients who were met since."""
        more = people - self.own.size
        if more > 0:
            self.own = np.concatenate([self.own, np.zeros(more, dtype=np.int64)])

    def most(self, bound: int, *, everybody: int) -> int:
        """Return the largest difference with which a patient may still pay what everybody does."""
        return max(bound - self.everybody - everybody, LOWEST)

    def spent(self, number: int) -> int:
        """Return what one patient has spent; a patient not met yet paid what everybody did."""
        own = int(self.own[number]) if 0 <= number < self.own.size else 0
        return self.everybody + own

    def header(self) -> Mapping[str, object]:
        """Return what a cache of it says besides the vector."""
        counted = {
            str(number): [str(each.everybody), each.tag, *each.stamp]
            for number, each in self.counted.items()
        }
        return {"everybody": str(self.everybody), "counted": counted}


def tally_of(fields: Mapping[str, object], own: NDArray[np.int64]) -> Tally:
    """Return the tally that a cache holds."""
    stored = fields["counted"]
    counted: dict[int, CountedCharge] = {}
    if isinstance(stored, dict):
        for number, (everybody, tag, size, time) in stored.items():
            stamp = (int(size), int(time))
            counted[int(number)] = CountedCharge(everybody=int(everybody), tag=tag, stamp=stamp)
    return Tally(own=own.copy(), everybody=int(str(fields["everybody"])), counted=counted)
