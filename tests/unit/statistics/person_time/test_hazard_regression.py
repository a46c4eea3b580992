"""Hazard regression in rounds: weighted likelihood with the noise off, covered with it on."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cohorts import release_of
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.simulation import Simulation
from confide.privacy.amount import NANO
from confide.release.noisy import NoisyAggregates, read_payload
from confide.report.charts.chart import evaluations
from confide.rows.relational.descent import DescentRows
from confide.statistics import HazardRegression, read_plan
from confide.statistics.person_time.concordance import held_out_concordance
from confide.tables.aggregates.descent_terms import SCORE_BINS
from models import ILL, NAMES
from person_time import (
    EDGES,
    HAZARD_TRUTH,
    HAZARDS,
    RATES,
    columns_of,
    coverage,
    fit,
    followed,
    in_rounds,
    weights_of,
    world,
)

SPEC = HazardRegression(
    id="deaths",
    table="people",
    time="followed",
    of=ILL,
    covariates=NAMES,
    edges=tuple(Fraction(edge) for edge in EDGES),
)
TRUTH = np.concatenate([np.log(RATES * EDGES[-1] / 365), HAZARD_TRUTH])
"""Log hazards per whole follow-up of each interval, then log hazard ratios."""


def likelihood(people, weights):
    """Return weighted maximum likelihood of patients by interval, stopped at a hazard of 1."""
    edges, x = np.array(EDGES), people["terms"][:, 1:]
    beta = TRUTH.copy()
    whole = np.clip(people["followed"][:, None] - edges[:-1], 0, np.diff(edges)) / edges[-1]
    last = np.searchsorted(edges[1:], people["followed"], side="left")
    event = (np.arange(3) == last[:, None]) & (people["ill"] == 1)[:, None]
    for _ in range(30):
        raw = whole * np.exp((x @ beta[3:])[:, None] + beta[:3])
        reached = np.cumsum(raw, axis=1)
        lived = np.diff(np.minimum(reached, 1), axis=1, prepend=0)
        residual = (event & (reached[:, -1:] <= 1)) - lived
        rows = [np.hstack([np.eye(3)[[k] * len(x)], x]) * weights[:, None] ** 0.5 for k in range(3)]
        slope = sum(z.T @ (z * lived[:, [k]]) for k, z in enumerate(rows))
        score = sum(z.T @ (residual[:, k] * weights**0.5) for k, z in enumerate(rows))
        beta += np.linalg.solve(slope, score)
    return beta


def test_with_the_noise_off_it_is_likelihood_weighted_by_the_covariates():
    people = followed(60_000, np.random.default_rng(3))
    found = fit(people, aggregate=HAZARDS)
    beta = likelihood(people, weights_of(people["terms"]))
    assert found.coefficients == pytest.approx(beta, abs=0.03)
    assert found.coefficients[3:] == pytest.approx(HAZARD_TRUTH, abs=0.12)


def test_intervals_of_hazard_ratios_cover_sampling_and_noise():
    held, shown = coverage(followed, TRUTH, aggregate=HAZARDS, n=10_000, rho=0.05, runs=60, seed=2)
    assert (shown > 0.9).all()
    assert held.mean() == pytest.approx(0.95, abs=0.04)


@pytest.mark.audit
@pytest.mark.parametrize(("n", "rho"), [(2_000, 0.0305), (50_000, 0.0305)])
def test_hazard_ratios_are_held_in_92_percent_of_large_cohorts_or_more(n, rho):
    """Others, and why in more than 98: tests/audits/test_model_coverage.py."""
    runs = 2_000 if n <= 10_000 else 500
    held, _ = coverage(followed, TRUTH, aggregate=HAZARDS, n=n, rho=rho, runs=runs, seed=n)
    assert (held > 0.92).all(), held
    assert held.mean() < 0.998, held


def concordance_of(score, time, event):
    first = event[:, None] & ((time[:, None] < time) | ((time[:, None] == time) & ~event))
    ahead = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    return (first * ahead).sum() / first.sum()


def test_the_c_statistic_is_harrells_on_held_out_patients():
    spec = replace(SPEC, hold_out=Fraction(1, 2))
    to = world()
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=NANO)
    (measurement,) = plan.measurements
    people = followed(8_000, np.random.default_rng(1))
    columns = columns_of(people, aggregate=HAZARDS)
    columns["fold"] = np.arange(8_000) % 1000
    rows = DescentRows(measurement.aggregate, columns, dataset=to)
    sigma = math.sqrt(measurement.mechanism.variance())
    noisy = in_rounds(rows, aggregate=measurement.aggregate, sigma=sigma, to=to)
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    assert read_plan(plan.to_json()) == plan
    by = {(e.quantity, e.key[0]): e for e in found.estimates()}
    ratio, slope = by["hazard ratio", "age"], by["coefficient", "age"]
    assert ratio.value == pytest.approx(math.exp(slope.value))
    assert slope.value == pytest.approx(HAZARD_TRUTH[0] / 50, abs=0.005)
    centre = "age 50, marker 5, group none"
    first = by["intercept", f"0 to 365: {centre}"]
    assert first.value + math.log(365) == pytest.approx(math.log(RATES[0]), abs=0.3)
    held = columns["fold"] < 500
    score = (people["terms"][:, 1:] @ HAZARD_TRUTH)[held]
    time = np.minimum(people["followed"][held], EDGES[-1])
    event = ((people["ill"] == 1) & (people["followed"] <= EDGES[-1]))[held]
    c = by["concordance", "held out"]
    assert c.value == pytest.approx(concordance_of(score, time, event), abs=0.02)
    assert c.lower < c.value < c.upper
    observed, predicted = (by[f"{name} risk", "held out"] for name in ("observed", "predicted"))
    assert observed.lower < observed.value < observed.upper
    assert observed.value == pytest.approx(predicted.value, abs=0.03)
    figure = evaluations(
        release_of(plan, answers={"deaths/model": noisy}), spec, words=load_words("en")
    )["calibration"]
    assert "Observed against predicted risk by the last edge" in figure.alt
    assert figure.chart.to_dict()["title"]["text"] == figure.title


def test_the_interval_of_the_c_statistic_covers():
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.ones(7 * SCORE_BINS) * 5)

    def judged(counts, number, noise):
        return held_out_concordance(
            counts, intervals=3, noise=noise, simulation=Simulation(payload_digest=f"{number:064x}")
        )

    truth = judged(shares * 1e7, 0, 0.0).value
    held = 0
    for number in range(100):
        counts = rng.multinomial(5_000, shares) + rng.normal(0, 4, len(shares))
        found = judged(counts, number, 4.0)
        held += abs(found.value - truth) < found.width(0.95)
    assert 0.88 < held / 100 <= 0.995
    assert not judged(rng.multinomial(200, shares), 1, 4.0).usable


def test_the_forecast_is_the_error_that_noise_brings():
    people = followed(10_000, np.random.default_rng(6))
    share = Fraction(int(people["ill"].sum()), 10_000)
    spec = replace(SPEC, expect=Fraction(10_000), expect_share=share)
    to = world()
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=NANO // 5)
    said = spec.forecast(plan.mechanisms("deaths"), dataset=to, level=Fraction(95, 100))
    sizes = [
        fit(people, aggregate=HAZARDS, rho=0.2, rng=np.random.default_rng(seed)).noise[3]
        for seed in range(5)
    ]
    one_sd = people["terms"][:, 1].std()
    assert said.half_width == pytest.approx(1.96 * one_sd * math.sqrt(np.median(sizes)), rel=0.6)


def test_edges_off_the_grid_of_the_time_are_refused():
    with pytest.raises(ContractError, match=r"followed: 0\.5 is not on the grid"):
        replace(SPEC, edges=(Fraction(0), Fraction(1, 2))).questions(world())
