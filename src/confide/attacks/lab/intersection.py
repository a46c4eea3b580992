"""Intersection: two k-anonymous tables that hold the same patient, linked [GKS08].

Two hospitals that saw overlapping patients each publish a k-anonymous table, both of them 2-diverse
where the values allow it.  A patient of both has a condition that is in the class of either table;
where only one is, it is the patient's.  k-anonymous tables do not compose; losses of differential
privacy add.

*Privacy:* exact, for the steward alone.

References:
    [GKS08] Ganta, Kasiviswanathan, Smith. Composition attacks and auxiliary information in data
        privacy. KDD 2008. https://doi.org/10.1145/1401890.1401926
"""

import numpy as np

from confide.arrays import Ints
from confide.attacks.lab.attack import (
    LabAttack,
    LabSettings,
    UnprotectedResult,
    defend_counts,
    games_about_counts,
)
from confide.attacks.lab.mondrian import mondrian

_DIVERSE = 2
_MEASURED = "Each table alone exposes {first} and {second} of them."


def _attack(settings: LabSettings) -> UnprotectedResult:
    table = settings.table
    parts = (settings.entropy.octets(table.patients) & 3).astype(int)
    both = np.flatnonzero(
        parts > 1
    ).tolist()  # half of all; a quarter is in one table alone, and a quarter
    homes = [np.flatnonzero(parts != place) for place in (0, 1)]
    sets = [_values_of(settings, home, first=place) for place, home in enumerate(homes)]
    own, exposed, wrong = table.sensitive.codes, 0, 0
    for patient in both:
        left = sets[0][patient] & sets[1][patient]
        if len(left) == 1:
            exposed += int(own[patient]) in left
            wrong += int(own[patient]) not in left
    alone = [sum(len(each[patient]) == 1 for patient in both) for each in sets]
    return UnprotectedResult(
        exposed=exposed,
        wrong=wrong,
        patients=len(both),
        knowing_others=games_about_counts(settings, answers=2),
        remark=_MEASURED.format(first=alone[0], second=alone[1]),
    )


def _values_of(settings: LabSettings, rows: Ints, *, first: int) -> dict[int, set[int]]:
    """Return the values that the class of each patient of a table holds, by patient."""
    table = settings.table
    codes = table.sensitive.codes[rows]
    diversity = min(_DIVERSE, len(np.unique(codes)))
    classes = mondrian(table.known()[rows], codes, k=settings.k, l=diversity, first=first)
    held: dict[int, set[int]] = {}
    for home, value in zip(classes.tolist(), codes.tolist(), strict=True):
        held.setdefault(home, set()).add(value)
    return {row: held[home] for row, home in zip(rows.tolist(), classes.tolist(), strict=True)}


INTERSECTION = LabAttack(
    name="intersection",
    title="Two k-anonymous tables together tell what neither tells alone",
    knows="the quasi-identifiers of one patient, and that the patient is in both tables",
    does="keeps the values that the patient's class holds in both; where one is left, it is told",
    unprotected="two k-anonymous, 2-diverse tables of overlapping patients",
    private="a noisy count from each; together they cost ε",
    source="Ganta, Kasiviswanathan and Smith 2008",
    attack=_attack,
    defend=lambda settings: defend_counts(settings, answers=2),
)
