"""Reports of every kind and of every example, of answers that are made up: what pages say.

Answers are large, small, nothing at all, or anything: so that a page has numbers, flags, and cells
that are withheld.
"""

import re
import runpy
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import cohorts
from confide.files.study import read_study
from confide.plans.plan import Measurement, Noisy, Plan
from confide.plans.rounds.in_turn import answer_length
from confide.report.release import Release
from confide.tables.aggregates.shapes import Keyed, Ranked
from pages import ROOT

REFUSED = {
    r"Patients in \w+ with known": "Patients in residents with known sex, follow up and died",
    r"[Ll]owest: .*[Hh]ighest: ": "Lowest: women, 3; highest: men, 8",
    r"In brackets: ": "In brackets: 95 % intervals",
    r"for the noise alone": "Lines: 95 % intervals for the noise alone",
    r"without the event at the horizon": "82 % are without the event at the horizon",
    r"is clipped to|, clipped to ": "age is clipped to [0, 60]",
    r"has \w+ public values|has \{\w+\} public values": "sex has 2 public values",
    r"[Tt]aken by itself": "Taken by itself: ε = 0.143",
    r"at a rate more than .* above the rate": (
        "finds members at a rate more than 0.749 above the rate at which it accuses outsiders"
    ),
    r"risks that are right": "dashed: risks that are right",
    r"not told apart": "not told apart",
    r"in steps of 1 (years|days|minutes|months)": "age, in steps of 1 years",
    r"\d\.\d+ patients over all": "a lead of 31.41 patients over all others",
    r"[Ww]ho is randomised again": "Who is randomised again gives as much away again",
}


def stumbled_over(text):
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return [pattern for pattern in REFUSED if re.search(pattern, plain)]


EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/study.yaml"))
ANSWERS = ("large", "small", "nothing", "anything")
_SIZES = {
    "large": (2_000, 900),
    "small": (12, 30),
    "nothing": (0, 0),
    "anything": (60, 400),
    "enormous": (90_000, 60_000),
}


def place_tracts(folder: Path) -> None:
    """Make a tiny map of spData's form and let the example's own script read it."""
    (folder / "data").mkdir()
    rows = [("36007000100", 3540.0, 3.08), ("36011990100", 820.0, 0.2), ("36067000100", 95.0, 1.7)]
    with sqlite3.connect(folder / "data" / "NY8_bna_utm18.gpkg") as file:
        file.execute("CREATE TABLE sf_bna2_utm18 (AREAKEY TEXT, POP8 REAL, TRACTCAS REAL)")
        file.executemany("INSERT INTO sf_bna2_utm18 VALUES (?, ?, ?)", rows)
    file.close()
    runpy.run_path(str(folder / "place.py"))


def planned(name: str, *, into: Path) -> Path:
    """Copy an example without its data, and return its study."""
    folder = into / name
    left_out = shutil.ignore_patterns("data", "out", ".confide")
    shutil.copytree(EXAMPLES / name, folder, ignore=left_out)
    if name == "ny8":
        place_tracts(folder)
    return folder / "study.yaml"


def example(name: str, *, answers: str, into: Path) -> Release:
    """Return the release of an example with made-up answers, called as its files say."""
    study = read_study(planned(name, into=into))
    return told(study.plan(), answers=answers).called(study.labels)


def told(plan: Plan, *, answers: str) -> Release:
    """Return a release of a plan with made-up answers."""
    chance = Random(f"{answers} {plan.study.id}")
    made = {
        f"{each.statistic}/{each.name}": _made_up(each, plan=plan, answers=answers, chance=chance)
        for each in plan.measurements
    }
    return cohorts.release_of(plan, answers=made)


def _made_up(measurement: Measurement, *, plan: Plan, answers: str, chance: Random) -> Noisy:
    middle, spread = _SIZES[answers]
    if isinstance(measurement.aggregate, Keyed):
        return {str(key): 70 + key * middle for key in range(5 if middle else 0)}
    length = answer_length(measurement, dataset=plan.dataset)
    if isinstance(measurement.aggregate, Ranked):
        return tuple(
            sorted(chance.sample(range(measurement.aggregate.coordinates(plan.dataset)), length))
        )
    each = max(1, measurement.sensitivity.linf // 2)
    return tuple(each * (middle + round(spread * (2 * chance.random() - 1))) for _ in range(length))


def every_plan() -> Plan:
    """Return the plan of the hospital with a statistic of every kind."""
    statistics = (*cohorts.every_statistic(), cohorts.wards_statistic())
    return cohorts.plan_of(statistics, dataset=cohorts.hospital(), nano=200_000_000)


def blocks_of(html: str) -> Iterator[str]:
    """Yield the text of each paragraph, item and row of a page, without its pictures."""
    page = re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", html, flags=re.DOTALL)
    for _, inner in re.findall(r"<(p|li|tr|h[1-4]|dd)\b[^>]*>(.*?)</\1>", page, flags=re.DOTALL):
        yield re.sub(r"<[^>]*>", " ", inner).replace("\u2060", "")
