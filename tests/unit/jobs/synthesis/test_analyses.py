"""Analyses of one table against numbers by hand; of tables of a synthesis, against the truth."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.jobs.synthesis.analyses import AnalysisOf, SurvivalIn
from confide.jobs.synthesis.combine import combined
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.tables import synthetic
from confide.jobs.synthesis.values import values_of_levels
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from seeded import SeededEntropy
from synthesis_world import dataset, job, levels, measured, people, records

TIMES = np.array([6.0, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35])
RELAPSED = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
"""Weeks of remission with 6-MP (Freireich et al., Blood 21, 1963), as in every textbook."""


def remission(**given):
    table = {
        "weeks": TIMES,
        "end": np.array(["relapse" if r else "censored" for r in RELAPSED], dtype=object),
        "arm": np.array(["6-MP"] * 21, dtype=object),
    }
    asked = {"time": "weeks", "event": "end", "value": "relapse", "at": (5, 6, 10, 23)}
    return SurvivalIn(**asked | given).of(table)


def test_survival_is_that_of_the_textbook_with_greenwoods_error():
    found = list(remission().values())
    assert found[0] == (1.0, 0.0)
    shares = [share for share, _ in found[1:]]
    assert shares == pytest.approx([0.857, 0.753, 0.448], abs=5e-4)
    errors = [math.sqrt(variance) for _, variance in found[1:]]
    assert errors == pytest.approx([0.0764, 0.0963, 0.1346], abs=5e-5)


def test_rows_without_a_time_or_an_end_are_left_out():
    table = {
        "weeks": np.append(TIMES, [np.nan, 1.0]),
        "end": np.array([*("relapse" if r else "c" for r in RELAPSED), "relapse", None], object),
    }
    asked = SurvivalIn(time="weeks", event="end", value="relapse", at=(23,))
    assert list(asked.of(table).values()) == [list(remission().values())[-1]]


def test_nobody_left_alive_and_nobody_at_all():
    table = {"weeks": np.array([1.0, 2, 2]), "end": np.array(["r"] * 3, dtype=object)}
    asked = SurvivalIn(time="weeks", event="end", value="r", at=(1, 2, 3))
    assert [share for share, _ in asked.of(table).values()] == pytest.approx([2 / 3, 0, 0])
    with pytest.raises(ContractError, match="hardly a row"):
        remission(where={"arm": "placebo"})


def test_intervals_of_survival_cover_what_the_whole_cohort_shows():
    """Of sixteen cohorts, at two edges of bins: at least 26 of 32 intervals of 95 % cover."""
    spec = job(rho=Fraction(1, 20), together=(("age", "died"),), names=("age", "sex", "died"))
    asked = SurvivalIn(time="age", event="died", value="yes", at=(45, 60))

    def lived(values):
        return {
            "age": values["age"].astype(float),
            "died": np.array(["no", "yes"], dtype=object)[values["died"]],
        }

    truth = [share for share, _ in asked.of(lived(people(400_000, start=1))).values()]
    covered = 0
    for start in range(16):
        of = people(start=100 + start)
        rows = records(spec, levels(of)[:, [0, 1, 2, 5]])
        content = measured(spec, dataset(), rows, entropy=SeededEntropy(start))[MEASURED]
        found = read_measured(content, spec=spec, adjacency=Adjacency.ADD_REMOVE)
        made = synthetic(found, digest=f"{start:02x}")
        coins = Simulation(payload_digest="cd").generator(f"values {start}")
        tables = [
            values_of_levels(
                made.refitted(m),
                columns=spec.columns,
                reads=spec.reads.reads,
                dataset=dataset(),
                generator=coins,
            )
            for m in range(1, 11)
        ]
        cliques = [[spec.columns[v] for v in each] for each in found.cliques]
        for told, is_true in zip(combined(tables, asked, cliques=cliques), truth, strict=True):
            covered += told.lower <= is_true <= told.upper
    assert covered >= 26


def test_an_analysis_of_your_own_sees_the_columns_that_it_names_alone():
    seen = []
    asked = AnalysisOf(columns=("weeks",), analyse=lambda table: seen.append(set(table)) or {})
    asked.of({"weeks": TIMES, "end": RELAPSED})
    assert seen == [{"weeks"}]
