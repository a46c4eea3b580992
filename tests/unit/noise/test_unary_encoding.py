"""Unary encodings: exact laws, published variances, the choice of the least variance."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.local_mechanism import (
    Method,
    least_variance,
    mechanism_by,
    method_of,
    total_variance,
    total_variances,
)
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.privacy.loss import PureDP
from seeded import SeededEntropy

both = pytest.mark.parametrize("unary", Unary)


def encoding(unary: Unary, epsilon: str = "1", categories: int = 4) -> UnaryEncoding:
    loss = PureDP(epsilon=Fraction(epsilon))
    return UnaryEncoding(target=loss, categories=categories, unary=unary)


def law(survey: UnaryEncoding, answer: int) -> dict[tuple[int, ...], Fraction]:
    """Every report with its probability, from the coins that are tossed, known to 300 bits."""
    lie, keep = (Fraction(sum(coin(300)), 2 << 300) for coin in survey._coins())
    reports = itertools.product((0, 1), repeat=survey.categories)
    return {
        bits: math.prod(
            p if bit else 1 - p
            for bit, p in ((b, keep if v == answer else lie) for v, b in enumerate(bits))
        )
        for bits in reports
    }


@both
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_over_all_reports_epsilon_is_attained_and_never_passed(unary: Unary, epsilon: str) -> None:
    survey = encoding(unary, epsilon)
    laws = [law(survey, answer) for answer in range(survey.categories)]
    assert all(sum(each.values()) == 1 for each in laws)
    worst = max(p[o] / q[o] for p, q in itertools.permutations(laws, 2) for o in p)
    odds = Fraction(math.exp(Fraction(epsilon)))
    assert abs(worst / odds - 1) < Fraction(1, 10**14)
    assert survey.loss() == PureDP(epsilon=Fraction(epsilon))
    assert survey.odds() == pytest.approx(float(odds))


@both
def test_bits_are_affirmed_with_the_stated_chances(unary: Unary) -> None:
    survey, n = encoding(unary), 40_000
    said = survey.encode(np.full(n, 2), entropy=SeededEntropy(3))
    assert said.shape == (n, 4)
    chances = [survey.lie_probability()] * 4
    chances[2] = survey.keep_probability()
    assert said.mean(axis=0).tolist() == pytest.approx(chances, abs=0.012)
    pairs = np.corrcoef(said.T)[np.triu_indices(4, 1)]
    assert np.abs(pairs).max() < 0.025  # independent coins


@both
def test_estimates_of_unary_answers_are_unbiased(unary: Unary) -> None:
    survey, n, runs = encoding(unary), 300, 400
    truth = np.repeat(np.arange(4), [150, 90, 60, 0])
    said = survey.encode(np.tile(truth, runs), entropy=SeededEntropy(5)).reshape(runs, n, 4)
    found = np.array([[s.estimate for s in survey.estimate(r)] for r in said[:20]])
    keep, lie = survey.keep_probability(), survey.lie_probability()
    quick = (said.mean(axis=1) - lie) / (keep - lie)
    assert np.allclose(found, quick[:20])
    expected = np.array([0.5, 0.3, 0.2, 0.0])
    assert np.abs(quick.mean(axis=0) - expected).max() < 4 * quick.std(axis=0).max() / runs**0.5
    total = n * quick.var(axis=0, ddof=1).sum()
    assert total == pytest.approx(total_variance(survey), rel=0.15)


@pytest.mark.parametrize(
    ("epsilon", "symmetric", "optimised", "binary"),
    [("1/2", 15.917, 15.671, 3.918), ("1", 3.918, 3.683, 0.921), ("2", 0.921, 0.724, 0.181)],
)
def test_variances_of_rare_answers_are_the_published_ones(
    epsilon: str, symmetric: float, optimised: float, binary: float
) -> None:
    """WBLJ17, sec. 4: e^(ε/2)/(e^(ε/2) − 1)², 4e^ε/(e^ε − 1)², (k − 2 + e^ε)/(e^ε − 1)²."""
    two = RandomizedResponse(truth=PureDP(epsilon=Fraction(epsilon)), categories=2)
    every = (encoding(Unary.SYMMETRIC, epsilon), encoding(Unary.OPTIMISED, epsilon), two)
    for survey, published in zip(every, (symmetric, optimised, binary), strict=True):
        keep, lie = survey.keep_probability(), survey.lie_probability()
        assert lie * (1 - lie) / (keep - lie) ** 2 == pytest.approx(published, abs=6e-4)


def test_the_variance_of_the_coin_flip_survey_is_warner_s() -> None:
    """War65: π(1 − π)/n + p(1 − p)/(n(2p − 1)²); n = 1,000, p = 3/4, 400 say yes."""
    survey = RandomizedResponse(truth=Fraction(3, 4), categories=2)
    yes = survey.estimate(np.repeat([0, 1], [600, 400]))[1]
    assert yes.estimate == pytest.approx(0.3)
    warner = 0.3 * 0.7 / 1000 + (3 / 16) / (1000 * 0.25)
    assert yes.standard_error**2 == pytest.approx(warner)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "2", "4"])
def test_the_chosen_mechanism_has_the_least_total_variance(epsilon: str) -> None:
    loss, odds = PureDP(epsilon=Fraction(epsilon)), math.exp(Fraction(epsilon))
    for categories in (*range(2, 40), 70, 170, 200):
        chosen = least_variance(loss, categories=categories)
        every = total_variances(loss, categories=categories)
        assert total_variance(chosen) == min(every.values())
        few = categories**2 < categories * (2 * odds + 3) + odds**2 - 1
        assert method_of(chosen) is (Method.K_ARY if few else Method.OPTIMISED_UNARY)


def test_a_method_can_be_named() -> None:
    loss = PureDP(epsilon=Fraction(1))
    for method in Method:
        assert method_of(mechanism_by(method, loss=loss, categories=3)) is method


def test_an_unknown_way_to_encode_tosses_no_coin() -> None:
    survey = encoding("other")  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        survey.encode(np.array([1]), entropy=SeededEntropy(1))
    with pytest.raises(AssertionError):
        survey.keep_probability()


def test_unary_answers_outside_the_categories_are_refused_without_being_quoted() -> None:
    survey = encoding(Unary.OPTIMISED)
    with pytest.raises(InvalidParameterError, match=r"categories in \[0, 4\)\.") as refused:
        survey.encode(np.array([77]), entropy=SeededEntropy(1))
    assert "77" not in str(refused.value)
    with pytest.raises(InvalidParameterError, match="shape"):
        survey.estimate(np.zeros((3, 5), dtype=bool))
    with pytest.raises(InvalidParameterError, match="categories ≥ 2"):
        encoding(Unary.SYMMETRIC, categories=1)
