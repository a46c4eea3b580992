"""Linkage: a table without names, and a register with names and the same quasi-identifiers.

Whoever is alone with age, sex and zip code is found in the table by anybody who knows these of a
patient [Swe02].

*Privacy:* exact, for the steward alone.

References:
    [Swe02] Sweeney. k-anonymity: a model for protecting privacy. International Journal of
        Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002.
        https://doi.org/10.1142/S0218488502001648
"""

import numpy as np

from confide.attacks.lab.attack import (
    LabAttack,
    LabSettings,
    UnprotectedResult,
    defend_counts,
    games_about_counts,
)


def _attack(settings: LabSettings) -> UnprotectedResult:
    groups = settings.table.groups()
    alone = np.bincount(groups)[groups] == 1
    return UnprotectedResult(
        exposed=int(alone.sum()),
        wrong=0,
        patients=settings.table.patients,
        knowing_others=games_about_counts(settings),
    )


LINKAGE = LabAttack(
    name="linkage",
    title="Without names, patients are found by what others know of them",
    knows="the quasi-identifiers of one patient, and that the patient is in the table",
    does="looks for the row that has them; where there is one, it is the patient's",
    unprotected="the table without names",
    private="a noisy count of patients with these quasi-identifiers and a given value",
    source="Sweeney 2002",
    attack=_attack,
    defend=lambda settings: defend_counts(settings, answers=1),
)
