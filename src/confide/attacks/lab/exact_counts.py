"""Differencing and trackers: exact counts, of sets that are not too small, add up to one patient.

A desk answers how many patients are in a set and have one of some conditions.  To protect them it
refuses sets of fewer than k patients.  The attacker halves the conditions until one is left.

- *Differencing.* Everybody, and everybody but those who look like the patient: the difference is
  the patient.  Both sets are large.
- *Tracker.* A desk that also refuses sets of more than n − k cannot be asked about everybody.  With
  a padding T of between 2k and n − 2k patients, count(C) = count(C or T) + count(C or not T) −
  count(T) − count(not T) for any C: no restriction on sizes helps [DDS79].

Against noisy counts the same sums are made, and rounded.  A patient is in two of the counts of the
first attack and in three of the second, so that is their L1 sensitivity, and noise is scaled to it.

*Privacy:* exact, for the steward alone.

References:
    [DDS79] Denning, Denning, Schwartz. The tracker: a threat to statistical database security.
        ACM TODS 4(1), 1979. https://doi.org/10.1145/320064.320069
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from confide.arrays import Ints
from confide.attacks.lab.attack import (
    LabAttack,
    LabSettings,
    PrivateResult,
    UnprotectedResult,
    defend_counts,
    games_about_counts,
)
from confide.attacks.lab.coin_game import Verdicts, play_counts
from confide.noise.discrete_laplace import DiscreteLaplace

_NO_TRACKER = (
    "No quasi-identifier cuts off a padding of between 2k and n − 2k patients, so no tracker was "
    "found."
)


class _SetTooSmallError(Exception):
    """The desk refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """Answers exact counts of sets that are large enough, and of which the rest is.

    Attributes:
        least: Patients of a set at least.
        rest: Patients outside of it at least.
    """

    least: int
    rest: int

    def count(self, members: Verdicts) -> int:
        size = int(members.sum())
        if size < self.least or len(members) - size < self.rest:
            raise _SetTooSmallError
        return size


def _difference(settings: LabSettings) -> UnprotectedResult:
    desk = _Desk(least=settings.k, rest=0)

    def told(alike: Verdicts, having: Verdicts) -> int:
        """Count those alike who have the value, from sets of all and of all others."""
        return desk.count(having) - desk.count(having & ~alike)

    return _concluded(settings, told=told)


def _track(settings: LabSettings) -> UnprotectedResult:
    table = settings.table
    padding = _padding(table.known(), k=settings.k)
    if padding is None:
        size = min(settings.targets, table.patients)
        return UnprotectedResult(exposed=0, wrong=0, patients=size, remark=_NO_TRACKER)
    desk = _Desk(least=settings.k, rest=settings.k)
    everybody = desk.count(padding) + desk.count(~padding)

    def told(alike: Verdicts, having: Verdicts) -> int:
        about = alike & having
        return desk.count(about | padding) + desk.count(about | ~padding) - everybody

    return _concluded(settings, told=told)


def _concluded(
    settings: LabSettings, *, told: Callable[[Verdicts, Verdicts], int]
) -> UnprotectedResult:
    """Halve the values until one is left that all who look like a target have."""
    table, exposed, wrong = settings.table, 0, 0
    groups, codes = table.groups(), table.sensitive.codes
    who = settings.drawn()
    for target in who:
        found = _halved(groups == groups[target], codes, told=told)
        exposed += int(found == codes[target])
        wrong += int(found is not None and found != codes[target])
    return UnprotectedResult(
        exposed=exposed,
        wrong=wrong,
        patients=len(who),
        knowing_others=games_about_counts(settings),
    )


def _halved(
    alike: Verdicts, codes: Ints, *, told: Callable[[Verdicts, Verdicts], int]
) -> int | None:
    """Return the value that all of some patients have; None where they differ, or it is not told.

    Where the desk refuses a set of values it may tell of all others.
    """
    low, high = 0, int(codes.max())
    try:
        size = told(alike, np.ones(len(codes), dtype=bool))
        while low < high:
            middle = (low + high) // 2
            try:
                below = told(alike, codes <= middle)
            except _SetTooSmallError:
                below = size - told(alike, codes > middle)
            if below not in {0, size}:
                return None
            low, high = (low, middle) if below else (middle + 1, high)
    except _SetTooSmallError:
        return None
    return low


def _padding(known: Ints, *, k: int) -> Verdicts | None:
    """Return the patients below a value of a quasi-identifier, nearest to half of them all."""
    n, best, found = len(known), len(known), None
    for column in known.T:
        sizes = np.bincount(column).cumsum()
        for value in np.flatnonzero((sizes >= 2 * k) & (sizes <= n - 2 * k)):
            if abs(2 * sizes[value] - n) < best:
                best, found = abs(2 * sizes[value] - n), column <= value
    return found


def _defend(settings: LabSettings, *, signs: tuple[int, ...], holding: int) -> PrivateResult:
    """Attack the noisy counts, knowing all others; and by the sum of the textbook alone.

    Args:
        settings: Of the lab.
        signs: With which counts are added.
        holding: How many of the first counts hold the patient.
    """
    most = signs.count(1) + signs.count(-1) - (len(signs) == 4)  # T and not T: one of them
    private = defend_counts(settings, answers=holding, of=most)
    own = np.array([int(place < holding) for place in range(len(signs))], dtype=np.int64)

    def sums_to_one(noisy: Ints, _: Ints) -> Verdicts:
        return np.asarray(noisy @ np.array(signs) >= 1)

    textbook = play_counts(
        np.zeros((settings.games, len(signs)), dtype=np.int64),  # sizes of sets cancel in the sum
        own,
        noise=DiscreteLaplace.calibrate(settings.loss, l1=most),
        believes=sums_to_one,
        entropy=settings.entropy,
    )
    share = f"{100 * max(0.0, textbook.share):.1f}"
    return replace(private, remark=f"The same sum of noisy counts exposes as if {share} % were.")


DIFFERENCING = LabAttack(
    name="differencing",
    title="The difference of two large counts is one patient",
    knows="the quasi-identifiers of one patient",
    does="asks of everybody with one of half of the conditions, and of everybody but those who "
    "look like the patient; then of half of that half, and so on",
    unprotected="exact counts, refused for fewer than k patients",
    private="two such counts with noise; together they cost ε",
    source="Denning 1982; Dwork and Roth 2014",
    attack=_difference,
    defend=partial(_defend, signs=(1, -1), holding=1),
)

TRACKER = LabAttack(
    name="tracker",
    title="Counts that are neither small nor large still add up to one patient",
    knows="the quasi-identifiers of one patient, and a condition that splits the patients",
    does="pads the same questions with half of the patients, and subtracts the padding",
    unprotected="exact counts, refused for fewer than k patients and for all but fewer than k",
    private="four such counts with noise; together they cost ε",
    source="Denning, Denning and Schwartz 1979",
    attack=_track,
    defend=partial(_defend, signs=(1, 1, -1, -1), holding=3),
)
