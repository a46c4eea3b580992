"""Logistic regression in rounds: weighted likelihood with the noise off, covered with it on."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import DROWNED, fitted
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.relational.descent import DescentRows
from confide.statistics import LogisticRegression, read_plan
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import SCORE_BINS
from models import AGGREGATE, ILL, NAMES, TRUTH, cohort, world

SPEC = LogisticRegression(id="odds", table="people", of=ILL, covariates=NAMES)
RUNS = 2000
AUDIT = pytest.mark.audit
ZCDP = world()


def rows_of(people, *, aggregate=AGGREGATE, fold=999):
    n = len(people["ill"])
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.full(n, fold)}
    columns |= {f"e{i}": people[name] for i, name in enumerate((*NAMES, "ill"))}
    return DescentRows(aggregate, columns, dataset=ZCDP)


def in_rounds(rows, *, sigma, rng=None, aggregate=AGGREGATE):
    """Return noisy answers, with continuous noise: the law of the estimate is what is tested."""
    noisy = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=ZCDP):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return noisy


def sigma_at(rho):
    return math.sqrt(scale_of(AGGREGATE, dataset=ZCDP).l2_squared / (2 * rho))


def likelihood(terms, outcome, weights=1.0):
    """Return coefficients and standard errors of (weighted) maximum likelihood."""
    beta = np.zeros(terms.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-terms @ beta))
        slope = terms * (weights * p * (1 - p))[:, None]
        beta += np.linalg.solve(slope.T @ terms, terms.T @ (weights * (outcome - p)))
    inverse = np.linalg.inv((terms * (p * (1 - p))[:, None]).T @ terms)
    return beta, np.sqrt(np.diag(inverse))


def test_with_the_noise_off_it_is_likelihood_weighted_by_the_covariates():
    people = cohort(40_000, np.random.default_rng(3))
    found = fitted(AGGREGATE, in_rounds(rows_of(people), sigma=1e-3), sigma=1e-3, dataset=ZCDP)
    x, size = people["terms"], len(TRUTH)
    slopes = x[:, 1:] - x[:, 1:].mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(slopes.T, bias=True))
    norms = np.sqrt(1 + ((slopes @ (vectors / np.sqrt(values))) ** 2).sum(axis=1))
    beta, _ = likelihood(x, people["ill"], np.minimum(1, math.sqrt(size) / norms))
    assert found.coefficients == pytest.approx(beta, abs=0.01)
    plain, errors = likelihood(x, people["ill"])
    assert (np.abs(found.coefficients - plain) < errors).all()
    assert (np.sqrt(found.sampling) > 0.98 * errors).all()
    assert (np.sqrt(found.sampling) < 1.5 * errors).all()
    assert found.rows == pytest.approx(40_000, rel=0.1)  # rows of a large norm count in part


def coverage(n, *, rho, runs, seed):
    """Return per coefficient how often its interval holds the truth, and how often there is one."""
    rng, sigma = np.random.default_rng(seed), sigma_at(rho)
    held, shown = np.zeros(len(TRUTH)), np.zeros(len(TRUTH))
    for _ in range(runs):
        answers = in_rounds(rows_of(cohort(n, rng)), sigma=sigma, rng=rng)
        found = fitted(AGGREGATE, answers, sigma=sigma, dataset=ZCDP)
        error = 1.96 * np.sqrt(found.sampling + found.noise)
        given = (found.drowned <= DROWNED) & found.usable
        held += given & (np.abs(found.coefficients - TRUTH) < error)
        shown += given
    return held / np.maximum(shown, 1), shown / runs


def test_intervals_of_coefficients_cover_sampling_and_noise():
    held, shown = coverage(10_000, rho=0.0305, runs=100, seed=11)
    assert (shown > 0.9).all()
    assert (held > 0.86).all()
    assert held.mean() == pytest.approx(0.95, abs=0.03)


@AUDIT
@pytest.mark.parametrize(("n", "rho"), [(500, 0.5), (2_000, 0.0305), (50_000, 0.0305)])
def test_coverage_of_coefficients_is_within_92_and_98_percent(n, rho):
    """Others: tests/audits/test_model_coverage.py."""
    held, shown = coverage(n, rho=rho, runs=RUNS if n <= 10_000 else RUNS // 4, seed=n)
    often = held[shown > 0.5]
    assert ((often > 0.92) & (often < 0.98)).all(), held


def test_more_noise_gives_wider_intervals_and_predictions_closer_to_even_odds():
    people = cohort(5_000, np.random.default_rng(4))
    sizes = []
    for rho in (1.0, 0.01):
        rng = np.random.default_rng(8)
        sigma = sigma_at(rho)
        fits = [
            fitted(
                AGGREGATE,
                in_rounds(rows_of(people), sigma=sigma, rng=rng),
                sigma=sigma,
                dataset=ZCDP,
            )
            for _ in range(20)
        ]
        sizes.append(
            (
                np.mean([f.noise for f in fits]),
                np.mean(
                    [
                        np.abs(f.predicting[1:]).sum() / np.abs(f.coefficients[1:]).sum()
                        for f in fits
                    ]
                ),
            )
        )
    assert sizes[1][0] > 20 * sizes[0][0]
    assert sizes[1][1] < sizes[0][1] < 1.0


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_release_publishes_odds_ratios_that_are_powers_of_the_coefficients(adjacency):
    to = world(adjacency=adjacency)
    spec = replace(SPEC, hold_out=Fraction(1, 5))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=NANO)
    (measurement,) = plan.measurements
    people = cohort(3_000, np.random.default_rng(1))
    n = len(people["ill"])
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.arange(n) % 1000}
    columns |= {f"e{i}": people[name] for i, name in enumerate((*NAMES, "ill"))}
    rows = DescentRows(measurement.aggregate, columns, dataset=to)
    noise = measurement.mechanism
    assert isinstance(noise, DiscreteGaussian)
    sigma = math.sqrt(noise.variance())
    noisy = ()
    while ask := next_ask(measurement.aggregate, noisy, sigma=sigma, dataset=to):
        noisy += rows.answer(ask)
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    assert read_plan(plan.to_json()) == plan
    by = {(e.quantity, e.key[0]): e for e in found.estimates()}
    for (quantity, key), one in by.items():
        if quantity == "odds ratio":
            slope = by["coefficient", key]
            assert one.value == pytest.approx(math.exp(slope.value))
            assert one.lower <= one.value <= one.upper
    assert by["coefficient", "marker"].unit == "1/(mg/L)"
    assert by["coefficient", "age"].value == pytest.approx(TRUTH[1] / 50, abs=0.02)
    assert by["coefficient", "group: some vs none"].value == pytest.approx(TRUTH[3], abs=0.6)
    assert by["intercept", "age 50, marker 5, group none"].value == pytest.approx(-1, abs=0.6)


def test_gaussian_noise_is_refused_under_pure():
    with pytest.raises(ContractError, match="pure"):
        SPEC.questions(world(measure=Measure.PURE))


def test_the_forecast_is_the_error_that_noise_brings():
    people = cohort(10_000, np.random.default_rng(6))
    share = Fraction(int(people["ill"].sum()), 10_000)
    spec = replace(SPEC, expect=Fraction(10_000), expect_share=share)
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=ZCDP, nano=NANO // 30)
    said = spec.forecast(plan.mechanisms("odds"), dataset=ZCDP, level=Fraction(95, 100))
    sigma = math.sqrt(plan.measurements[0].mechanism.variance())
    rng = np.random.default_rng(7)
    found = fitted(
        AGGREGATE, in_rounds(rows_of(people), sigma=sigma, rng=rng), sigma=sigma, dataset=ZCDP
    )
    one_sd = people["terms"][:, 1].std()
    assert said.half_width == pytest.approx(1.96 * one_sd * math.sqrt(found.noise[1]), rel=0.5)


@pytest.mark.parametrize("names", [NAMES[:1], NAMES[:2], NAMES])
def test_scores_do_not_change_the_path_whatever_the_number_of_terms(names):
    aggregate = replace(AGGREGATE, covariates=AGGREGATE.covariates[: len(names)], held_out=200)
    people = cohort(3_000, np.random.default_rng(2))
    columns = {"p": np.arange(3_000), "rk": np.ones(3_000), "fold": np.arange(3_000) % 1000}
    columns |= {f"e{i}": people[name] for i, name in enumerate((*names, "ill"))}
    rows = DescentRows(aggregate, columns, dataset=ZCDP)
    answers = in_rounds(rows, sigma=1e-3, aggregate=aggregate)
    scale = scale_of(aggregate, dataset=ZCDP)
    assert len(answers) == scale.length
    whole = fitted(aggregate, answers, sigma=1e-3, dataset=ZCDP)
    without = fitted(aggregate, answers[: -2 * SCORE_BINS], sigma=1e-3, dataset=ZCDP)
    assert (whole.predicting == without.predicting).all()
