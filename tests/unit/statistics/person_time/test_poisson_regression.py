"""Poisson regression in rounds: weighted likelihood with the noise off, covered with it on."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.amount import NANO
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.relational.descent import DescentRows
from confide.statistics import PoissonRegression, read_plan
from models import NAMES
from person_time import (
    COUNT_TRUTH,
    COUNTS,
    MOST,
    columns_of,
    counted,
    coverage,
    fit,
    in_rounds,
    weights_of,
    world,
)

SPEC = PoissonRegression(
    id="rates", table="people", events="visits", covariates=NAMES, time="observed"
)
TRUTH = COUNT_TRUTH + np.array([math.log(730 / 365 / MOST), 0, 0, 0, 0])
"""In units of the bound of events and of person-time."""


def likelihood(terms, events, spent, weights):
    """Return coefficients of weighted maximum likelihood, per unit of ``spent``."""
    beta = np.zeros(terms.shape[1])
    for _ in range(50):
        mean = spent * np.exp(terms @ beta)
        slope = terms * (weights * mean)[:, None]
        beta += np.linalg.solve(slope.T @ terms, terms.T @ (weights * (events - mean)))
    return beta


def test_with_the_noise_off_it_is_likelihood_weighted_by_the_covariates():
    people = counted(60_000, np.random.default_rng(3))
    found = fit(people, aggregate=COUNTS)
    x = people["terms"]
    beta = likelihood(x, people["visits"] / MOST, people["observed"] / 730, weights_of(x))
    assert found.coefficients == pytest.approx(beta, abs=0.02)


def test_a_variance_above_poissons_widens_intervals():
    rng = np.random.default_rng(5)
    people = counted(30_000, rng)
    mean = np.exp(people["terms"] @ COUNT_TRUTH) * people["observed"] / 365
    uneven = rng.gamma(0.5, 2, len(mean)) * mean
    spread = people | {"visits": np.minimum(rng.poisson(uneven), MOST)}
    plain, wide = (fit(each, aggregate=COUNTS).sampling[1:] for each in (people, spread))
    assert (wide > 1.2 * plain).all()


def test_intervals_of_rate_ratios_cover_sampling_and_noise():
    held, shown = coverage(counted, TRUTH, aggregate=COUNTS, n=10_000, rho=0.05, runs=60, seed=1)
    assert (shown > 0.9).all()
    assert held.mean() == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("most", [6, 30, 120])
def test_what_predicts_is_drawn_to_0_by_its_error_whatever_bound_was_declared(most):
    people = counted(5_000, np.random.default_rng(8), most=most)
    found = fit(people, aggregate=COUNTS, most=most)
    error, slopes = found.sampling[1:].sum(), found.coefficients[1:] ** 2
    kept = found.predicting[1:] / found.coefficients[1:]
    assert error / slopes.sum() < 0.03
    assert ((kept > 0.9) & (kept < 1)).all(), kept


def test_intervals_of_rate_ratios_cover_where_few_come_near_the_bound():
    rng, truth = np.random.default_rng(9), COUNT_TRUTH[1:]
    held, wide = np.zeros(len(truth)), []
    for _ in range(40):
        found = fit(counted(5_000, rng, most=30), aggregate=COUNTS, rho=5, rng=rng, most=30)
        error = 1.96 * np.sqrt(found.sampling + found.noise)[1:]
        held += np.abs(found.coefficients[1:] - truth) < error
        wide.append(error)
    assert held.mean() / 40 > 0.92
    assert np.median(wide) < 0.5


@pytest.mark.audit
def test_coverage_of_rate_ratios_in_large_cohorts_is_92_percent_or_more_and_98_on_average():
    """Smaller ones: tests/audits/test_model_coverage.py; a rare group's is up to 99."""
    held, _ = coverage(counted, TRUTH, aggregate=COUNTS, n=50_000, rho=0.0305, runs=500, seed=3)
    assert (held > 0.92).all(), held
    assert held.mean() < 0.98, held


def test_a_release_publishes_rate_ratios_per_unit_of_the_covariate():
    to = world()
    plan = make_plan([Ask(statistic=SPEC)], study=Study(id="s"), dataset=to, nano=NANO)
    (measurement,) = plan.measurements
    people = counted(5_000, np.random.default_rng(1))
    rows = DescentRows(measurement.aggregate, columns_of(people, aggregate=COUNTS), dataset=to)
    sigma = math.sqrt(measurement.mechanism.variance())
    noisy = in_rounds(rows, aggregate=measurement.aggregate, sigma=sigma, to=to)
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    assert read_plan(plan.to_json()) == plan
    by = {(e.quantity, e.key[0]): e for e in found.estimates()}
    ratio, slope = by["rate ratio", "age"], by["coefficient", "age"]
    assert ratio.value == pytest.approx(math.exp(slope.value))
    assert ratio.lower <= ratio.value <= ratio.upper
    assert slope.value == pytest.approx(COUNT_TRUTH[1] / 50, abs=0.006)
    yearly = by["intercept", "age 50, marker 5, group none"].value + math.log(365)
    assert yearly == pytest.approx(COUNT_TRUTH[0], abs=0.3)


def test_without_person_time_events_are_per_row():
    spec = replace(SPEC, time=None)
    assert spec.aggregate(world()).exposure is None
    people = counted(20_000, np.random.default_rng(2)) | {"observed": np.full(20_000, 1)}
    people["visits"] = np.minimum(
        np.random.default_rng(3).poisson(np.exp(people["terms"] @ COUNT_TRUTH)), MOST
    )
    found = fit(people, aggregate=spec.aggregate(world()))
    assert found.coefficients[1:] == pytest.approx(COUNT_TRUTH[1:], abs=0.12)


def test_the_forecast_is_the_error_that_noise_brings():
    people = counted(10_000, np.random.default_rng(6))
    share = Fraction(int(people["visits"].sum()), 10_000 * MOST)
    spec = replace(SPEC, expect=Fraction(10_000), expect_share=share)
    to = world()
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=NANO // 5)
    said = spec.forecast(plan.mechanisms("rates"), dataset=to, level=Fraction(95, 100))
    sizes = [
        fit(people, aggregate=COUNTS, rho=0.2, rng=np.random.default_rng(seed)).noise[1]
        for seed in range(5)
    ]
    one_sd = people["terms"][:, 1].std()
    assert said.half_width == pytest.approx(1.96 * one_sd * math.sqrt(np.median(sizes)), rel=0.6)


def test_a_forecast_needs_a_planning_number_of_rows():
    with pytest.raises(ContractError, match="depends on the number of rows"):
        SPEC.forecast({}, dataset=world(), level=Fraction(95, 100))
