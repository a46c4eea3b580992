"""Uses of mechanisms and their losses: exact sums, one δ beside them, and what has no loss."""

import json
from fractions import Fraction

import pytest

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.events import (
    JobEvent,
    PrivacyEvent,
    job_events_json,
    recompute,
    study_events_json,
    total_loss,
)
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.sampled_gaussian import SampledSteps, sampled_epsilon, sampled_rho
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import Amount
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure

DELTA = Fraction(1, 10**6)
LAPLACE = PrivacyEvent(mechanism=DiscreteLaplace(scale=Fraction(4)), l1=6, l2_squared=12, count=3)
GAUSSIAN = PrivacyEvent(
    mechanism=DiscreteGaussian(sigma_squared=Fraction(100)), l1=6, l2_squared=12, count=5
)
KEYS = PrivacyEvent(
    mechanism=KeyThreshold(
        epsilon=Fraction(1, 2),
        delta=Fraction(1, 10**7),
        keys_per_person=2,
        adjacency=Adjacency.SUBSTITUTE,
    ),
    l1=4,
    l2_squared=4,
    count=2,
)
SET = PrivacyEvent(
    mechanism=SetSelection(epsilon=Fraction(1), reach=4, size=2, candidates=9),
    l1=6,
    l2_squared=12,
    reach=3,
    set_reach=6,
    count=2,
)
PEELING = PrivacyEvent(
    mechanism=Peeling(epsilon=Fraction(1), reach=4, size=2, candidates=9),
    l1=6,
    l2_squared=12,
    reach=3,
    set_reach=6,
    count=2,
)
SAMPLED = PrivacyEvent(
    mechanism=GAUSSIAN.mechanism, l1=6, l2_squared=12, count=50, rate=Fraction(1, 20)
)


@pytest.mark.parametrize(
    ("event", "epsilon", "rho"),
    [
        (LAPLACE, "9/2", "27/8"),  # 3 · 6/4; 3 · (6/4)²/2
        (KEYS, "1", "1/4"),  # scale 8: 2 · 4/8; 2 · (1/2)²/2
        (SET, "3", "9/16"),  # 2 · 6/4; 2 · (6/4)²/8
        (PEELING, "3", "9/32"),  # 4 rounds of 3/4; 4 · (3/4)²/8
        (GAUSSIAN, None, "3/10"),  # 5 · 12/200
    ],
    ids=["laplace", "keys", "set", "peeling", "gaussian"],
)
def test_each_mechanism_costs_what_its_theorem_says(event, epsilon, rho):
    assert event.nats(Measure.ZCDP) == event.rho() == Fraction(rho)
    assert event.delta == (Fraction(2, 10**7) if event is KEYS else 0)
    if epsilon is None:
        with pytest.raises(UnsupportedError, match="no pure loss"):
            event.nats(Measure.PURE)
    else:
        assert event.nats(Measure.PURE) == event.epsilon() == Fraction(epsilon)


@pytest.mark.parametrize("event", [SET, PEELING])
def test_a_choice_without_a_reach_has_no_loss(event):
    bare = PrivacyEvent(mechanism=event.mechanism, l1=6, l2_squared=12)
    for loss in (bare.epsilon, bare.rho):
        with pytest.raises(UnsupportedError, match="reach is not known"):
            loss()


def test_losses_add_up_in_the_measure_of_the_ledger():
    assert total_loss([LAPLACE, PEELING], measure=Measure.PURE) == PureDP(epsilon=Fraction(15, 2))
    assert total_loss([LAPLACE, KEYS], measure=Measure.PURE) == ApproxDP(
        epsilon=Fraction(11, 2), delta=Fraction(2, 10**7)
    )
    assert total_loss([GAUSSIAN, KEYS], measure=Measure.ZCDP) == ZeroConcentratedDP(
        rho=Fraction(11, 20), delta=Fraction(2, 10**7)
    )
    assert total_loss([LAPLACE], measure=Measure.PURE, delta=DELTA) == PureDP(
        epsilon=Fraction(9, 2)
    )


def test_gaussian_noise_in_a_pure_ledger_is_read_at_the_delta_that_is_charged():
    found = total_loss([GAUSSIAN, KEYS], measure=Measure.PURE, delta=DELTA)
    rho = ZeroConcentratedDP(rho=Fraction(11, 20))
    assert found == ApproxDP(
        epsilon=Fraction(epsilon_at(rho, delta=DELTA)), delta=DELTA + Fraction(2, 10**7)
    )
    with pytest.raises(UnsupportedError, match="no pure loss"):
        total_loss([GAUSSIAN], measure=Measure.PURE)


def test_samples_are_accounted_for_where_a_delta_is_charged_and_else_as_if_all_were_in():
    steps = [SampledSteps(rate=Fraction(1, 20), multiplier_squared=Fraction(100, 12), count=50)]
    whole = GAUSSIAN.rho()
    pure = total_loss([SAMPLED, GAUSSIAN], measure=Measure.PURE, delta=DELTA)
    assert pure == ApproxDP(epsilon=sampled_epsilon(steps, delta=DELTA, rho=whole), delta=DELTA)
    zcdp = total_loss([SAMPLED, GAUSSIAN], measure=Measure.ZCDP, delta=DELTA)
    least = min(sampled_rho(steps, delta=DELTA), sampled_epsilon(steps, delta=DELTA) ** 2 / 2)
    assert zcdp == ZeroConcentratedDP(rho=whole + least, delta=DELTA)
    assert total_loss([SAMPLED], measure=Measure.ZCDP) == ZeroConcentratedDP(rho=SAMPLED.rho())


def test_other_noise_on_samples_is_not_accounted_for():
    sampled = PrivacyEvent(mechanism=LAPLACE.mechanism, l1=1, l2_squared=1, rate=Fraction(1, 2))
    with pytest.raises(UnsupportedError, match="Only Gaussian noise"):
        total_loss([sampled, GAUSSIAN], measure=Measure.ZCDP, delta=DELTA)


def job(**given):
    usual = {
        "name": "votes", "noise": GAUSSIAN.mechanism, "l1": 2, "l2_squared": 2, "count": 200,
        "because": "A patient votes once.",
    }  # fmt: skip
    return JobEvent(**usual | given)


@pytest.mark.parametrize("field", ["l1", "l2_squared", "count"])
@pytest.mark.parametrize("value", [0, -1, True, 1.0])
def test_bounds_and_counts_of_a_job_are_whole_numbers_from_1(field, value):
    with pytest.raises(InvalidParameterError, match=f"Expected {field} ≥ 1"):
        job(**{field: value})


def test_a_job_uses_noise_at_most_a_billion_times():
    assert job(count=10**9).event.count == 10**9
    with pytest.raises(InvalidParameterError, match="Expected count ≤ 1e9"):
        job(count=10**9 + 1)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), Fraction(11, 10), 0.5, 1])
def test_the_rate_of_a_job_is_an_exact_probability(rate):
    with pytest.raises(InvalidParameterError, match="Expected an exact rate"):
        job(rate=rate)


def test_only_gaussian_noise_of_a_job_is_sampled():
    assert job(rate=Fraction(1, 2)).event.rate == Fraction(1, 2)
    assert job(noise=LAPLACE.mechanism).event.mechanism == LAPLACE.mechanism
    with pytest.raises(UnsupportedError, match="Only Gaussian noise"):
        job(noise=LAPLACE.mechanism, rate=Fraction(1, 2))


def test_stored_events_charge_again_what_they_charged():
    once = [PrivacyEvent(mechanism=LAPLACE.mechanism, l1=6, l2_squared=12)]
    text = study_events_json(once, measure=Measure.PURE)
    assert recompute(text, measure=Measure.PURE) == Amount(nano=1_500_000_000)
    assert recompute(study_events_json([], measure=Measure.ZCDP), measure=Measure.ZCDP) == Amount(
        nano=0
    )
    jobs = job_events_json([job()], measure=Measure.ZCDP, delta=Fraction(0))
    assert recompute(jobs, measure=Measure.ZCDP) == Amount(nano=2 * 10**9)  # 200 · 2/(2 · 100)
    no_jobs = json.dumps(json.loads(jobs) | {"job": []})
    with pytest.raises(ContractError, match="cannot be read"):
        recompute(no_jobs, measure=Measure.ZCDP)
