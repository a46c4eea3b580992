"""Randomised response: exact odds, unbiased estimates, honest intervals, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.exponential_bits import exp_minus
from confide.noise.randomized_response import RandomizedResponse
from confide.privacy.loss import PureDP
from seeded import SeededEntropy

COIN_FLIP = RandomizedResponse(truth=Fraction(3, 4), categories=2)


@settings(max_examples=50)
@given(
    keep=st.fractions(min_value=Fraction(501, 1000), max_value=Fraction(999, 1000)),
    categories=st.integers(2, 30),
)
def test_the_loss_of_rational_odds_is_their_logarithm_rounded_up(
    keep: Fraction, categories: int
) -> None:
    epsilon = RandomizedResponse(truth=keep, categories=categories).loss().epsilon
    odds = keep * (categories - 1) / (1 - keep)
    assert exp_minus(epsilon, bits=200)[1] * odds <= 2**200  # at least the logarithm, proved
    assert (epsilon * 10**15).denominator == 1
    assert exp_minus(epsilon - Fraction(1, 10**15), bits=200)[0] * odds > 2**200  # and the least


def test_odds_of_hardly_more_than_one_have_a_loss_of_one_step() -> None:
    keep = Fraction(1, 2) + Fraction(1, 10**17)
    loss = RandomizedResponse(truth=keep, categories=2).loss()
    assert loss == PureDP(epsilon=Fraction(1, 10**15))


@pytest.mark.parametrize(("truth", "bits"), [(Fraction(1, 3), 8), (PureDP(epsilon=Fraction(5)), 3)])
def test_the_chance_of_the_truth_is_bracketed_by_whole_numbers(
    truth: Fraction | PureDP, bits: int
) -> None:
    survey = RandomizedResponse(truth=truth, categories=200)
    lower, upper = survey._keep(bits)
    assert lower <= survey.keep_probability() * 2**bits <= upper <= lower + 1


@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "10"])
def test_the_odds_of_an_answer_are_e_to_the_epsilon(epsilon: str, categories: int) -> None:
    target = PureDP(epsilon=Fraction(epsilon))
    survey = RandomizedResponse(truth=target, categories=categories)
    keep = survey.keep_probability()
    assert survey.loss() == target
    assert survey.odds() == pytest.approx(math.exp(float(target.epsilon)))
    assert keep / (1 - keep) * (categories - 1) == pytest.approx(survey.odds(), rel=1e-10)
    lower, upper = survey._keep(200)
    assert upper - lower <= 2
    assert lower / 2**200 == pytest.approx(keep, rel=1e-14)


@pytest.mark.parametrize(
    "survey", [COIN_FLIP, RandomizedResponse(truth=PureDP(epsilon=Fraction(1)), categories=5)]
)
def test_answers_are_kept_and_changed_with_the_stated_chances(survey: RandomizedResponse) -> None:
    k, n = survey.categories, 40_000
    said = np.bincount(survey.encode(np.full(n, 1), entropy=SeededEntropy(2)), minlength=k) / n
    keep = survey.keep_probability()
    lies = [keep if v == 1 else (1 - keep) / (k - 1) for v in range(k)]
    assert said.tolist() == pytest.approx(lies, abs=0.012)


def test_estimates_are_unbiased_and_intervals_cover() -> None:
    survey, truth = RandomizedResponse(truth=PureDP(epsilon=Fraction(1)), categories=3), 0.2
    entropy, rng = SeededEntropy(11), np.random.default_rng(12)
    estimates, errors, covered = [], [], 0
    for _ in range(250):
        answers = (rng.random(500) < truth).astype(np.int64) * 2
        share = survey.estimate(survey.encode(answers, entropy=entropy), level=0.9)[2]
        estimates.append(share.estimate)
        errors.append(share.standard_error)
        covered += share.lower <= truth <= share.upper
    spread = float(np.std(estimates))
    assert float(np.mean(estimates)) == pytest.approx(truth, abs=4 * spread / 250**0.5)
    assert float(np.mean(errors)) == pytest.approx(spread, rel=0.12)
    assert 0.85 <= covered / 250 <= 0.96


def test_shares_of_all_categories_add_up_to_one() -> None:
    survey = RandomizedResponse(truth=Fraction(1, 2), categories=4)
    shares = survey.estimate(np.array([0, 1, 1, 3, 2, 1]))
    assert math.fsum(s.estimate for s in shares) == pytest.approx(1)
    assert [s.category for s in shares] == [0, 1, 2, 3]
    assert all(0 <= s.lower <= s.upper <= 1 for s in shares)


@pytest.mark.parametrize(
    ("truth", "categories"), [(Fraction(1, 2), 2), (Fraction(1), 2), (Fraction(1, 5), 4)]
)
def test_surveys_that_say_nothing_or_hide_nothing_are_refused(
    truth: Fraction, categories: int
) -> None:
    with pytest.raises(InvalidParameterError, match="< truth < 1"):
        RandomizedResponse(truth=truth, categories=categories)


def test_float_chances_and_single_categories_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="got float"):
        RandomizedResponse(truth=0.75, categories=2)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="categories ≥ 2"):
        RandomizedResponse(truth=Fraction(3, 4), categories=1)


def test_answers_outside_the_categories_are_refused_without_being_quoted() -> None:
    with pytest.raises(InvalidParameterError, match=r"int64 categories in \[0, 2\)\.") as refused:
        COIN_FLIP.encode(np.array([0, 77]), entropy=SeededEntropy(1))
    assert "77" not in str(refused.value)
    for wrong in ([0, 2], [-1, 1]):
        with pytest.raises(InvalidParameterError, match="int64 categories"):
            COIN_FLIP.encode(np.array(wrong), entropy=SeededEntropy(1))
        with pytest.raises(InvalidParameterError, match="int64 categories"):
            COIN_FLIP.estimate(np.array(wrong))
    with pytest.raises(InvalidParameterError, match="int64 categories"):
        COIN_FLIP.encode(np.array([0.0, 1.0]), entropy=SeededEntropy(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="at least one response"):
        COIN_FLIP.estimate(np.array([], dtype=np.int64))
