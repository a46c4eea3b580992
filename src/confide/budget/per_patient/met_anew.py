"""What whoever is met once lists of withdrawn patients have ended is taken to have paid before.

A patient who withdrew has no number any more.  Where the lists have ended, by an officers' act or
with rows that are lost, such a patient may be counted again, under a new number: as if nothing had
been paid.  So everybody who is met from then on begins with the whole loss of every charge before
that row, as far as it counts in a window: the most that anybody can have paid.  So it is after a
charge that was decided while older segments of :mod:`.people` were in the place of newer ones.

*Privacy:* losses of plans are public.  What those who withdrew did pay must not decide, because
their data would then move who else is left out.  Whether a patient was met before is about that
patient alone.  Who is known keeps their own spend.

*Utility:* patients who are really new wait as well, until a window is over.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from confide.budget.entry import Entry
from confide.budget.per_patient.people import People
from confide.budget.per_patient.records import whole
from confide.budget.per_patient.tally import CountedCharge
from confide.privacy.individual import ANYTHING


def met_anew(people: People, *, ended: Sequence[int]) -> NDArray[np.int64]:
    """Return for each patient the last row, before they were met, at which lists ended; 0 of none.

    A segment that was taken for one of before a withdrawal names a row of its own.

    Args:
        people: Who is known.
        ended: Numbers of such rows, oldest first
            (:meth:`confide.budget.per_patient.records.MembershipFiles.ended`).
    """
    found = np.zeros(people.count, dtype=np.int64)
    for each in people.segments():
        before = bisect_right(ended, each.after)
        found[each.start :] = max(each.anew, ended[before - 1] if before else 0)
    return found


def paid_before(
    rows: NDArray[np.int64],
    *,
    counted: Mapping[int, CountedCharge],
    known: Mapping[int, Entry],
    alike: Callable[[int], int],
) -> NDArray[np.int64]:
    """Return what each patient begins with beside what everybody paid, in 1e-15.

    Args:
        rows: As :func:`met_anew` says.
        counted: Charges that count in a window.
        known: Entries of the lineage, by number.
        alike: Returns what a membership file says that everybody paid.
    """
    begun = np.zeros(rows.size, dtype=np.int64)
    for row in np.unique(rows[rows > 0]).tolist():
        own = [
            max(0, whole(known[number]) - alike(number))
            for number, each in counted.items()
            if number < row and each.tag
        ]
        begun[rows == row] = min(ANYTHING, sum(own))
    return begun
