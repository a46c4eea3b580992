"""Standardised differences are right where they are printed, however seldom the noise lets them be.

Other patients and other noise in each run; what is asked is how often an interval holds the truth
*of the runs that print one*.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.statistics import TableOne
from confide.statistics.table_one.lines import Characteristic
from noisy_answers import dataset, draws, mechanisms, moments

LOWER, UPPER, SD = 80, 200, 12


def released(column, worlds, *, measure, spend, name):
    """Yield the difference that a Table 1 of one variable publishes in each world."""
    spec = TableOne(
        id="t", table="participants", by=("sex",), variables=(Characteristic(column=column),)
    )
    to = dataset(measure=measure)
    noise = mechanisms(spec, to=to, spend=spend)
    for place, noisy in enumerate(
        draws([{name: world} for world in worlds], noise=noise, runs=len(worlds), seed=11)
    ):
        found = spec.estimate(
            noisy,
            mechanisms=noise,
            dataset=to,
            simulation=Simulation(payload_digest=f"{place}"),
        )
        yield next(each for each in found if each.quantity == "smd")


def held(estimates, true) -> tuple[int, int]:
    """Return how many are printed without a flag, and how many of those hold the truth."""
    printed = [each for each in estimates if not each.flags]
    return len(printed), sum(each.lower <= true <= each.upper for each in printed)


def assert_held(printed, hits):
    assert hits >= 0.93 * printed - 3 * math.sqrt(0.05 * 0.95 * printed), (printed, hits)


@pytest.mark.parametrize(
    ("measure", "spend", "patients"),
    [
        (Measure.PURE, Fraction(8, 100), 4000),
        (Measure.PURE, Fraction(6, 10), 600),
        (Measure.ZCDP, Fraction(1, 1000), 4000),
        (Measure.ZCDP, Fraction(5, 100), 600),
    ],
)
@pytest.mark.parametrize("true", [0.3, 1.5])
def test_a_difference_of_means_that_the_noise_seldom_lets_be_printed_holds_the_truth(
    measure, spend, patients, true
):
    rng = np.random.default_rng(int(10 * true) + patients)
    worlds = []
    for _ in range(300):
        world = []
        for shift in (0.0, true * SD):
            values = np.clip(np.round(rng.normal(115 + shift, SD, patients // 2)), LOWER, UPPER)
            world += [*moments(values.astype(int), lower=LOWER, upper=UPPER, degree=2), 0]
        worlds.append(tuple(world))
    found = list(
        released("pressure", worlds, measure=measure, spend=spend, name="pressure/moments")
    )
    printed, hits = held(found, true)
    assert 15 <= printed <= 285, printed
    assert_held(printed, hits)


def distance(p, q) -> float:
    spread = (np.diag(p) - np.outer(p, p) + np.diag(q) - np.outer(q, q))[:-1, :-1] / 2
    gap = (np.array(q) - p)[:-1]
    return math.sqrt(gap @ np.linalg.solve(spread, gap))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        pytest.param((1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3), id="alike"),
        pytest.param((0.1, 0.2, 0.7), (0.6, 0.3, 0.1), id="far apart"),
    ],
)
def test_a_distance_of_labels_that_is_printed_holds_the_truth_and_none_is_a_point(p, q):
    rng = np.random.default_rng(3)
    worlds = [
        tuple(x for law in (p, q) for x in (*rng.multinomial(300, law).tolist(), 0))
        for _ in range(150)
    ]
    found = list(
        released(
            "age_band",
            worlds,
            measure=Measure.PURE,
            spend=Fraction(2, 10),
            name="age_band/counts",
        )
    )
    printed, hits = held(found, distance(p, q))
    assert printed >= 25
    assert_held(printed, hits)
    hidden = [each for each in found if each.flags]
    assert all(each.upper is None or each.upper - each.lower > 0.05 for each in hidden)
    assert all(each.upper is None or each.lower <= distance(p, q) <= each.upper for each in hidden)
