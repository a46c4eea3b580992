"""Accounting of votes against published theorems, published numbers and dp_accounting."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.jobs.learning.pate.votes import (
    Aggregation,
    Consensus,
    NoisyVotes,
    calibrated,
    moved_by,
)
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.job import job_loss
from confide.privacy.accounting.concentrated import epsilon_at, rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from models import world

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.tree import DecisionTreeClassifier

from pate_world import job_of

pytestmark = pytest.mark.L4
PATIENT = moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
MNIST, SVHN = (100, Fraction("1e-5")), (1000, Fraction("1e-6"))  # queries and δ of [PAEGT17]


def loss(votes, *, measure=Measure.ZCDP):
    job = job_of(votes, teacher=DecisionTreeClassifier())
    return job_loss(job.events(world()), measure=measure)


def gaussian(sigma, *, queries, consensus=None, answers=None):
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma) ** 2)
    answers = queries if answers is None else answers
    return NoisyVotes(noise=noise, queries=queries, answers=answers, consensus=consensus)


def confident(*, check, sigma, queries, answers):
    noise = DiscreteGaussian(sigma_squared=Fraction(check) ** 2)
    consensus = Consensus(threshold=200, noise=noise)
    return gaussian(sigma, queries=queries, answers=answers, consensus=consensus)


def test_a_laplace_query_of_scale_one_over_gamma_costs_two_gamma():
    """[PAEGT17], sec. 3.2: γ = 0.05."""
    votes = NoisyVotes(noise=DiscreteLaplace(scale=Fraction(20)), queries=1, answers=1)
    assert loss(votes, measure=Measure.PURE) == PureDP(epsilon=Fraction(1, 10))
    hundred = replace(votes, queries=100, answers=100)
    assert loss(hundred, measure=Measure.PURE) == PureDP(epsilon=Fraction(10))


@pytest.mark.parametrize(("study", "published"), [(MNIST, 5.80), (SVHN, 26.62)])
def test_laplace_queries_cost_less_than_by_the_composition_of_the_first_paper(study, published):
    """4Tγ² + 2γ√(2T ln 1/δ), by which teachers' votes were billed without looking at them."""
    queries, delta = study
    theorem = 4 * queries * 0.05**2 + 0.1 * math.sqrt(2 * queries * math.log(1 / delta))
    assert theorem == pytest.approx(published, abs=0.01)
    laplace = DiscreteLaplace(scale=Fraction(20))
    ours = epsilon_at(
        loss(NoisyVotes(noise=laplace, queries=queries, answers=queries)), delta=delta
    )
    assert 0.5 * theorem < ours < theorem


def test_a_gaussian_query_has_the_renyi_curve_of_the_second_paper():
    """[PSMRTE18], prop. 8: α/σ² for the arg max; a check is half of that at its own σ."""
    assert loss(gaussian(40, queries=1)).rho == Fraction(1, 1600)
    both = loss(confident(check=150, sigma=40, queries=1, answers=1)).rho
    assert both == Fraction(1, 1600) + Fraction(1, 2 * 150**2)


def test_the_bill_is_below_the_papers_reading_of_the_same_curve():
    rho = loss(confident(check=150, sigma=40, queries=640, answers=286))
    read = min(
        float(rho.rho) * a - math.log(1e-5) / (a - 1) for a in (1 + k / 50 for k in range(1, 9999))
    )
    assert 0.85 * read < epsilon_at(rho, delta=Fraction("1e-5")) < read


def test_a_hundred_queries_at_ten_root_two_cost_what_a_hundred_gaussian_steps_at_ten_do():
    """accounting.json, dpsgd_poisson: q = 1, σ = 10, 100 steps, δ = 1e-5: Rényi 4.7285."""
    noise = DiscreteGaussian(sigma_squared=Fraction(200))
    rho = loss(NoisyVotes(noise=noise, queries=100, answers=100))
    assert epsilon_at(rho, delta=Fraction("1e-5")) == pytest.approx(4.7285, abs=2e-3)


@pytest.mark.parametrize("queries", [1, 50, 1000])
def test_an_epsilon_of_one_needs_the_published_noise_on_the_whole(queries):
    """accounting.json, rdp: σ/Δ = 4.530877117 for (1, 1e-6)."""
    rho = ZeroConcentratedDP(rho=rho_for(Fraction(1), delta=Fraction("1e-6")))
    votes = calibrated(rho, aggregation=Aggregation.GAUSSIAN, moved=PATIENT, queries=queries)
    whole = math.sqrt(votes.noise.sigma_squared / (2 * queries))
    assert whole == pytest.approx(4.530877117, rel=1e-5)


def test_dp_accounting_agrees_on_checks_and_votes():
    dp_accounting = pytest.importorskip("dp_accounting", reason="pip install '.[accounting]'")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    delta = Fraction("1e-5")
    by_renyi, by_loss_distribution = RdpAccountant(), PLDAccountant()
    for multiplier, count in ((150.0, 640), (40 / math.sqrt(2), 286)):  # σ/Δ₂
        for accountant in (by_renyi, by_loss_distribution):
            accountant.compose(dp_accounting.GaussianDpEvent(multiplier), count)
    rho = loss(confident(check=150, sigma=40, queries=640, answers=286))
    ours = epsilon_at(rho, delta=delta)
    assert ours == pytest.approx(by_renyi.get_epsilon(1e-5), rel=2e-3)
    assert 0.9 * ours < by_loss_distribution.get_epsilon(1e-5) < ours


def test_laplace_queries_are_billed_by_concentration_where_that_is_less():
    """accounting.json, composition_laplace: k = 100, ε = 0.1, δ = 1e-6: advanced 6.308."""
    votes = NoisyVotes(noise=DiscreteLaplace(scale=Fraction(20)), queries=100, answers=100)
    ours = epsilon_at(loss(votes), delta=Fraction("1e-6"))
    assert ours < 6.308431
