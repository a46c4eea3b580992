"""A made-up table for the attack lab: where somebody lives says much of what they have."""

import csv
import random
from fractions import Fraction

from confide.attacks.lab.attack import LabSettings
from confide.attacks.lab.own_table import OwnTable, coded
from seeded import SeededEntropy

CONDITIONS = ("asthma", "diabetes", "HIV", "depression")
HEAD = ("age", "sex", "zip", "condition")


def rows(patients=400, *, sown=17):
    """Age, sex, zip code and condition of each patient, as texts."""
    chance = random.Random(sown)
    found = []
    for _ in range(patients):
        age, sex, area = chance.randint(18, 95), chance.choice("FM"), 30300 + chance.randint(0, 39)
        usual, other = CONDITIONS[(area - 30300) // 10], chance.choice((*CONDITIONS, "flu"))
        found.append((str(age), sex, str(area), usual if chance.random() < 0.8 else other))
    return found


def write_rows(path, lines=None):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *(rows() if lines is None else lines)])
    return path


def own_table(lines):
    *known, condition = zip(*lines, strict=True)
    return OwnTable(
        quasi={name: coded(column) for name, column in zip(HEAD, known, strict=False)},
        sensitive=coded(condition),
        sensitive_name=HEAD[-1],
    )


def lab(lines=None, *, epsilon="1", games=2000, k=5, targets=200, sown=1):
    return LabSettings(
        table=own_table(rows() if lines is None else lines),
        k=k,
        epsilon=Fraction(epsilon),
        games=games,
        targets=targets,
        entropy=SeededEntropy(sown),
    )
