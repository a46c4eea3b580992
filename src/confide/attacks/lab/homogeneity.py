"""Homogeneity and background knowledge: a class that hides who, and tells what.

If all patients of a class have the same condition, whoever is in the class has it: nobody has to be
told apart [MKGV07].  Where a class holds l conditions, an attacker who can rule out l − 1 of them
is as far; so l-diversity holds against l − 2 facts.

*Privacy:* exact, for the steward alone.

References:
    [MKGV07] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam. l-diversity: privacy beyond
        k-anonymity. TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302
"""

from functools import partial

from confide.attacks.lab.anonymity import distinct_by_class
from confide.attacks.lab.attack import (
    LabAttack,
    LabSettings,
    UnprotectedResult,
    defend_counts,
    games_about_counts,
)
from confide.attacks.lab.mondrian import mondrian

_DIVERSE = 2


def _attack(settings: LabSettings, *, ruled_out: int) -> UnprotectedResult:
    """Conclude where a class holds one value more than can be ruled out."""
    table = settings.table
    diversity = min(_DIVERSE, len(table.sensitive.labels)) if ruled_out else 1
    codes = table.sensitive.codes
    classes = mondrian(table.known(), codes, k=settings.k, l=diversity)
    values = distinct_by_class(classes, codes)
    exposed = int((values[classes] <= 1 + ruled_out).sum())
    return UnprotectedResult(
        exposed=exposed,
        wrong=0,
        patients=table.patients,
        knowing_others=games_about_counts(settings),
    )


HOMOGENEITY = LabAttack(
    name="homogeneity",
    title="In a k-anonymous table whole classes share one condition",
    knows="the quasi-identifiers of one patient, and that the patient is in the table",
    does="looks at the class of the patient; where it holds one value, it is the patient's",
    unprotected="a k-anonymous table",
    private="a noisy count of patients with these quasi-identifiers and a given value",
    source="Machanavajjhala et al. 2007",
    attack=partial(_attack, ruled_out=0),
    defend=lambda settings: defend_counts(settings, answers=1),
)

BACKGROUND = LabAttack(
    name="background",
    title="Who can rule out one condition breaks a 2-diverse class of two",
    knows="the quasi-identifiers of one patient, and one value that the patient does not have",
    does="strikes that value from the class of the patient; where one is left, it is the patient's",
    unprotected="a k-anonymous table, every class of which holds two values or more",
    private="the same noisy count, told to somebody who knows every other patient",
    source="Machanavajjhala et al. 2007",
    attack=partial(_attack, ruled_out=1),
    defend=lambda settings: defend_counts(settings, answers=1),
)
