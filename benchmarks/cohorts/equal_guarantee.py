"""Generated patients for the accuracy table, and the exact answers that errors are told from.

Nothing here is private and nothing is read: the same patients come out of each run.  Only the
standard library is used to make them, so that a peer's environment may import this file.
"""

import json
import math
import os
import random
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache

PATIENTS, FOLLOWED = 2_000, 500
BINS = 20
PRESSURE = (60, 260)
COST = (0, 100_000)
BMI = (12, 60)
AGE = (20, 90)
FEE = (0, 1_000)
BANDS = ("20-39", "40-59", "60-74", "75-90")
SMOKING = ("never", "former", "current")
YES_NO = ("no", "yes")
SEXES = ("female", "male")
MONTHS = tuple(f"{year}-{month:02}" for year in (2023, 2024) for month in range(1, 13))
VISITS = 3
"""Most visits of a patient; each in another month."""
HORIZON, TIMES = 1_440, 24
"""Days of follow-up, and equal bins of it."""

World = dict[str, dict[str, list]]
Answers = dict[str, list[float]]
SHARE = 5
"""Lines of the Table 1, each with an equal share of a peer's budget: labels of three columns, the
mean pressure and the quartiles of the body mass index, by sex."""


@cache
def world() -> World:
    """Return the tables by name, each as its columns."""
    chance = random.Random(15)
    return {
        "people": _people(chance),
        "visits": _visits(chance),
        "trial": _trial(chance),
        "followed": _trial(chance, lost=1e12),
    }


def _people(chance: random.Random) -> dict[str, list]:
    people: dict[str, list] = {
        name: []
        for name in ("person_id", "sex", "age", "band", "smoking", "diabetes", "bin", "pressure",
                     "bmi", "cost")
    }  # fmt: skip
    for person in range(PATIENTS):
        sex = chance.choice(SEXES)
        age = min(AGE[1], max(AGE[0], round(chance.gauss(58, 16))))
        bmi = _within(round(chance.gauss(27, 4.5)), BMI)
        pressure = 84 + 0.5 * age + 0.7 * bmi + (4 if sex == "male" else 0) + chance.gauss(0, 14)
        odds = math.exp(-6.2 + 0.035 * age + 0.09 * bmi + (0.3 if sex == "male" else 0))
        row = {
            "person_id": person,
            "sex": sex,
            "age": age,
            "band": BANDS[(age >= 40) + (age >= 60) + (age >= 75)],
            "smoking": chance.choices(SMOKING, (5, 3, 2))[0],
            "diabetes": YES_NO[chance.random() < odds / (1 + odds)],
            "bin": min(BINS - 1, int(chance.expovariate(0.3))),
            "pressure": _within(round(pressure), PRESSURE),
            "bmi": bmi,
            "cost": _within(round(chance.lognormvariate(math.log(1_500), 1.3)), COST),
        }
        for name, value in row.items():
            people[name].append(value)
    return people


def _visits(chance: random.Random) -> dict[str, list]:
    visits: dict[str, list] = {"person_id": [], "day": [], "fee": []}
    for person in range(PATIENTS):
        for at in sorted(chance.sample(range(len(MONTHS)), VISITS)):
            visits["person_id"].append(person)
            visits["day"].append(f"{MONTHS[at]}-{chance.randint(1, 28):02}")
            fee = chance.lognormvariate(5.3 + 0.3 * math.sin(at / 4), 0.6)
            visits["fee"].append(_within(round(fee), FEE))
    return visits


def _trial(chance: random.Random, *, lost: float = 3_000) -> dict[str, list]:
    """Return days and status: half dead by two and a half years; a quarter lost before, or none."""
    days, status = [], []
    for _ in range(FOLLOWED):
        dies, leaves = chance.expovariate(1 / 1_300), chance.expovariate(1 / lost)
        end = min(dies, leaves, HORIZON)
        days.append(math.floor(end))
        status.append("dead" if dies <= min(leaves, HORIZON) and end < HORIZON else "alive")
    return {"person_id": list(range(FOLLOWED)), "days": days, "status": status}


def _within(value: int, bounds: tuple[int, int]) -> int:
    return min(bounds[1], max(bounds[0], value))


def exact(tables: World) -> dict[str, Answers]:
    """Return the exact answers: task → quantity → numbers in the order that all answer in."""
    people, visits = tables["people"], tables["visits"]
    return {
        "count": {"count": [sum(age >= 65 for age in people["age"])]},
        "histogram": {"cells": [people["bin"].count(b) for b in range(BINS)]},
        "mean": {"mean": [_mean(people["pressure"])]},
        "survival": {"curve": curve(*exits(tables["trial"]))},
        "survival-late": {"curve": curve(*exits(tables["followed"]))},
        "quartiles": {"quartiles": quartiles(people["cost"])},
        "points": {"quartiles": quartiles(people["cost"])},
        "table-1": _table(people),
        "series": {
            "means": [
                _mean([f for f, day in zip(visits["fee"], visits["day"], strict=True)
                       if day.startswith(month)])
                for month in MONTHS
            ]
        },
    }  # fmt: skip


def _table(people: dict[str, list]) -> Answers:
    counts, shares, means, sds, cuts = [], [], [], [], []
    for sex in SEXES:
        own = [i for i, each in enumerate(people["sex"]) if each == sex]
        for name, labels in (("band", BANDS), ("smoking", SMOKING), ("diabetes", YES_NO)):
            for label in labels:
                counts.append(sum(people[name][i] == label for i in own))
                shares.append(100 * counts[-1] / len(own))
        pressures = [people["pressure"][i] for i in own]
        means.append(_mean(pressures))
        sds.append(statistics.stdev(pressures))
        cuts += quartiles([people["bmi"][i] for i in own])
    return {"labels": counts, "shares": shares, "means": means, "sds": sds, "quartiles": cuts}


def sd_of(total: float, squares: float, count: float) -> float:
    """Return the SD from noisy sums of centred values; 0 where they would have none."""
    n = max(2.0, count)
    return math.sqrt(max(0.0, squares - total * total / n) / (n - 1))


def quartiles(values: Sequence[float]) -> list[float]:
    """Return the quartiles: the least value with at least that share of rows at or below it."""
    ordered = sorted(values)
    return [ordered[max(0, math.ceil(q * len(ordered)) - 1)] for q in (0.25, 0.5, 0.75)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def exits(trial: dict[str, list]) -> tuple[list[float], list[float]]:
    """Return who died and who was lost in each bin; those followed to the horizon in the last."""
    dead, lost = [0.0] * TIMES, [0.0] * (TIMES + 1)
    for days, status in zip(trial["days"], trial["status"], strict=True):
        at = min(TIMES, days * TIMES // HORIZON)
        (dead if status == "dead" else lost)[at] += 1
    return dead, lost


def curve(dead: Sequence[float], lost: Sequence[float]) -> list[float]:
    """Return survival at the end of each bin, of counts that may be noisy.

    Those lost within a bin count as at risk for half of it, less what a day's grid knows: a bin of
    w days takes (w − 1)/2w of them away.  A curve never rises and lies within [0, 1].
    """
    width = HORIZON / TIMES
    share, found = 1.0, []
    for at in range(TIMES):
        risk = sum(dead[at:]) + sum(lost[at:]) - lost[at] * (width - 1) / (2 * width)
        share *= min(1.0, max(0.0, 1 - dead[at] / risk)) if risk > 0 else 0.0
        found.append(share)
    return found


def cell(days: int, status: str) -> int:
    """Return the place of an exit among the 2 · TIMES + 1 cells: bin by bin, lost before dead."""
    at = min(TIMES, days * TIMES // HORIZON)
    return 2 * at + (status == "dead" and at < TIMES)


def curve_of_cells(cells: Sequence[float]) -> list[float]:
    """Return the curve of noisy counts of the cells that ``cell`` numbers."""
    return curve(cells[1::2], cells[0::2])


def shares_of(counts: Sequence[float]) -> list[float]:
    """Return percentages of noisy counts of labels, in the order of the Table 1."""
    found: list[float] = []
    sizes = (len(BANDS), len(SMOKING), len(YES_NO)) * len(SEXES)
    start = 0
    for size in sizes:
        part = counts[start : start + size]
        found += [100 * n / max(1.0, sum(part)) for n in part]
        start += size
    return found


def in_order(by_column: Sequence[Sequence[float]]) -> list[float]:
    """Return noisy counts of (sex, label), one list for each column, in the order of the Table 1."""
    found: list[float] = []
    for at in range(len(SEXES)):
        for counts in by_column:
            size = len(counts) // len(SEXES)
            found += counts[at * size : (at + 1) * size]
    return found


def of_sex(counts: Sequence[float]) -> list[float]:
    """Return the mean, over the three columns, of the noisy number of each sex."""
    half, columns = len(counts) // len(SEXES), 3
    return [sum(counts[at * half : (at + 1) * half]) / columns for at in range(len(SEXES))]


def sex_and_label(people: dict[str, list]) -> list[list[int]]:
    """Return for each labelled column the place of each row's (sex, label)."""
    return [
        [
            SEXES.index(sex) * len(labels) + labels.index(label)
            for sex, label in zip(people["sex"], people[name], strict=True)
        ]
        for name, labels in (("band", BANDS), ("smoking", SMOKING), ("diabetes", YES_NO))
    ]


def answer(ways: dict[str, Callable[[], dict[str, Sequence[float]]]]) -> None:
    """Run each of a peer's ways as often as the command says and print all answers as JSON.

    A way is named "task way"; one that fails says why, since a peer's failure is a result.
    """
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    warnings.simplefilter("ignore")
    found: dict[str, list | str] = {}
    for name, ask in ways.items():
        try:
            found[name] = [
                {quantity: [float(x) for x in numbers] for quantity, numbers in ask().items()}
                for _ in range(int(sys.argv[1]))
            ]
        except Exception as error:  # noqa: BLE001
            found[name] = f"{type(error).__name__}: {str(error)[:200]}"
    json.dump(found, out)
    out.flush()
