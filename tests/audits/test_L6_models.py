"""L6: what whole models give away, and that the attacks find it where there is something to
find."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.trained.membership import TOO_FAR, MembershipClaim, attack
from confide.attacks.audit.trained.models import small_model
from confide.attacks.audit.trained.one_run import chance_of_guesses, coins, guessed_epsilon, one_run
from confide.attacks.audit.trained.victims import (
    CORNERS,
    EPSILON,
    generated,
    in_rounds,
    leak_checks,
    leaks,
    one_run_check,
    one_run_in_rounds,
    without_privacy,
)
from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import SystemEntropy
from seeded import SeededEntropy

QUIET = DiscreteGaussian(sigma_squared=Fraction(1))


def test_guesses_that_are_all_right_bound_epsilon_in_closed_form() -> None:
    """With δ = 0, r right guesses of r have chance (e^ε/(1 + e^ε))^r."""
    bound = guessed_epsilon(50, guesses=50, canaries=400, delta=0.0, miss=0.05)
    share = 0.05 ** (1 / 50)
    assert bound == pytest.approx(math.log(share / (1 - share)), abs=1e-9)


def test_the_chance_of_guesses_is_that_of_the_theorem() -> None:
    """scipy.stats.binom.sf and .pmf in the formula of thm. 5.2 of Steinke, Nasr, Jagielski
    (2023)."""
    binom = pytest.importorskip("scipy.stats").binom
    for correct, guesses, epsilon, delta in ((90, 100, 1.0, 1e-5), (30, 60, 0.1, 1e-3)):
        right = 1 / (1 + math.exp(-epsilon))
        steepest = max(
            (binom.sf(correct - i - 1, guesses, right) - binom.sf(correct - 1, guesses, right)) / i
            for i in range(1, correct + 1)
        )
        said = binom.sf(correct - 1, guesses, right) + 2 * 1000 * delta * steepest
        found = chance_of_guesses(
            correct, epsilon=epsilon, guesses=guesses, canaries=1000, delta=delta
        )
        assert found == pytest.approx(min(1.0, said), rel=1e-9)


def test_randomised_response_of_its_coins_is_not_refuted_and_its_bound_comes_close() -> None:
    """Each canary's coin is told with chance e^ε/(1 + e^ε): the law that the theorem is tight
    for."""
    epsilon, found = 1.0, []
    for seed in range(40):
        rng = np.random.default_rng(seed)

        def train(included, rng=rng):
            told = rng.random(len(included)) < 1 / (1 + math.exp(-epsilon))
            return np.where(told, included, ~included).astype(float)

        one = one_run(
            train,
            score=lambda told: told,
            canaries=600,
            guesses=600,
            delta=0.0,
            miss=0.01,
            entropy=SeededEntropy(seed),
        )
        found.append(one.epsilon)
    assert sum(bound > epsilon for bound in found) <= 3
    assert np.median(found) > 0.6


@pytest.mark.parametrize("wrong", [{"guesses": 300}, {"guesses": 0}, {"delta": 1.0}, {"miss": 0.0}])
def test_numbers_that_are_no_experiment_are_refused(wrong) -> None:
    numbers = {"guesses": 10, "canaries": 200, "delta": 1e-6, "miss": 1e-4} | wrong
    with pytest.raises(InvalidParameterError, match="guesses"):
        guessed_epsilon(0, **numbers)


def test_one_training_in_rounds_with_canaries_does_not_refute_its_claim() -> None:
    assert one_run_check(entropy=SeededEntropy(1)).passed


def test_one_training_without_noise_is_refuted_by_its_canaries() -> None:
    check = one_run_check(noise=QUIET, entropy=SeededEntropy(1))
    assert not check.passed
    assert "100 of 100" in check.measured


def test_one_training_with_a_twentieth_of_its_noise_is_refuted_by_its_canaries() -> None:
    from confide.attacks.audit.trained.victims import DELTA
    from confide.privacy.accounting.concentrated import rho_for

    claimed = small_model(numbers=CORNERS).noise(rho_for(EPSILON, delta=DELTA))
    weak = DiscreteGaussian(sigma_squared=claimed.sigma_squared / 400)
    assert one_run_in_rounds(noise=weak, entropy=SeededEntropy(1)).epsilon > EPSILON


def test_coins_are_fair_and_as_many_as_asked_for() -> None:
    tossed = coins(100_003, entropy=SeededEntropy(1))
    assert tossed.shape == (100_003,)
    assert abs(tossed.mean() - 0.5) < 0.01


def test_the_attack_finds_members_of_a_model_without_privacy_and_not_of_one_in_rounds() -> None:
    found = leaks(models=24, entropy=SeededEntropy(2))
    plain, private = leak_checks(found)
    assert plain.passed
    assert private.passed
    assert found.plain.excess > TOO_FAR, (
        "the bound that a private model keeps is broken by a plain one"
    )
    assert found.plain.advantage > 0.5
    assert found.private.advantage < 0.2
    assert found.private.found_at() <= MembershipClaim(epsilon=1.0, delta=1e-6).most_found(0.01)
    for curve in (plain.curve.points, private.curve.points):
        assert curve == tuple(sorted(curve))
        assert curve[-1] == (1.0, 1.0)


def test_a_model_in_rounds_without_its_noise_breaks_its_promise_to_members() -> None:
    check = leak_checks(leaks(models=48, noise=QUIET, entropy=SeededEntropy(3)))[1]
    assert not check.passed


def test_an_attack_on_models_that_know_nobody_finds_nobody() -> None:
    rng = np.random.default_rng(1)
    found = attack(
        lambda included: rng.normal(size=len(included)),
        pool=200,
        shadows=16,
        targets=64,
        claim=MembershipClaim(epsilon=0.1, delta=0.0),
        entropy=SeededEntropy(1),
    )
    assert found.advantage < 0.05
    assert found.excess < TOO_FAR
    assert found.found_at() < 0.03


def test_an_attack_with_too_few_models_is_refused() -> None:
    pool = generated(20, numbers=3, entropy=SeededEntropy(1))
    with pytest.raises(InvalidParameterError, match="at least 8"):
        attack(
            without_privacy(pool),
            pool=20,
            shadows=8,
            targets=4,
            claim=None,
            entropy=SeededEntropy(1),
        )


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_no_attack_finds_more_than_the_bound_of_two_hypotheses(epsilon) -> None:
    """Randomised response reaches e^ε·FPR at FPR 1/(1 + e^ε)."""
    alarms = 1 / (1 + math.exp(epsilon))
    most = MembershipClaim(epsilon=epsilon, delta=0.0).most_found(alarms)
    assert most == pytest.approx(1 - alarms)
    assert MembershipClaim(epsilon=epsilon, delta=0.0).most_found(1.0) == 1.0


@pytest.mark.audit
def test_models_in_rounds_pass_ninety_nine_of_a_hundred_membership_attacks() -> None:
    passed = 0
    for seed in range(100):
        entropy = SeededEntropy(seed)
        pool = generated(40, numbers=6, entropy=entropy)
        found = attack(
            in_rounds(pool, entropy=entropy),
            pool=40,
            shadows=8,
            targets=12,
            claim=MembershipClaim(epsilon=1.0, delta=1e-6),
            entropy=entropy,
        )
        passed += found.excess <= TOO_FAR
    assert passed >= 99


@pytest.mark.audit
def test_models_in_rounds_pass_a_hundred_one_run_audits() -> None:
    assert sum(one_run_check(entropy=SystemEntropy()).passed for _ in range(100)) >= 99
