"""Coins are exact: shown by enumerating the random bytes, not by sampling."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import (
    bernoulli,
    bernoulli_each,
    digit,
    exponential,
    is_below,
    one_in_one_plus_exp,
    share,
)
from confide.noise.exponential_bits import exp_minus
from seeded import SeededEntropy


class Scripted:
    """Entropy that hands out given bytes and then fails."""

    def __init__(self, *octets: np.ndarray) -> None:
        self._octets = list(octets)

    def octets(self, count: int, /) -> np.ndarray:
        octets = self._octets.pop(0)
        assert octets.size == count
        return octets

    def words(self, count: int, /) -> np.ndarray:
        raise AssertionError(count)

    def below(self, bound: int, /) -> int:
        return int.from_bytes(self.octets(-(-(bound - 1).bit_length() // 8)).tobytes(), "big")


ALL = np.arange(256, dtype=np.uint8)


def octet(value: int) -> np.ndarray:
    return np.array([value], dtype=np.uint8)


@pytest.mark.parametrize(
    ("p", "value"),
    [
        (exponential(Fraction(1, 3)), np.exp(-1 / 3)),
        (exponential(Fraction(9)), np.exp(-9.0)),
        (one_in_one_plus_exp(Fraction(2, 7)), 1 / (1 + np.exp(2 / 7))),
        (share(Fraction(1, 3)), 1 / 3),
        (share(Fraction(3, 4)), 3 / 4),
    ],
)
def test_of_all_two_byte_numbers_exactly_those_below_p_are_heads(p, value: float) -> None:
    heads = 0
    for second in range(256):
        # Only the tie of the first byte asks for a second, and only its tie for a third.
        entropy = Scripted(ALL, octet(second), octet(255), octet(255), octet(255))
        heads += int(bernoulli(p, count=256, entropy=entropy).sum())
    leading = digit(p, place=0)
    counted = leading * 256 + (heads - 256 * leading)
    assert counted == int(value * 2**16)


@given(p=st.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_digits_are_those_of_p(p: Fraction) -> None:
    expansion = sum(Fraction(digit(share(p), place=k), 256 ** (k + 1)) for k in range(5))
    assert 0 <= p - expansion < Fraction(1, 256**5)


@pytest.mark.parametrize(("p", "expected"), [(0, False), (1, True)])
def test_certain_coins_are_certain(p: int, expected: bool) -> None:
    entropy = Scripted(ALL, octet(1))  # a zero ties with p = 0 and asks once more
    assert (bernoulli(share(Fraction(p)), count=256, entropy=entropy) == expected).all()


def test_shares_outside_zero_and_one_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Expected a probability"):
        share(Fraction(5, 4))


@pytest.mark.parametrize("error", [-(2.0**-26), 0.0, 2.0**-26])
def test_a_wrong_estimate_inside_the_margin_changes_no_outcome(error: float) -> None:
    near = np.arange(-400, 400, dtype=np.int64)
    draws = (near + 2**31).astype(np.uint32)
    estimates = np.full(near.size, 0.5 + error)
    heads = bernoulli_each(
        estimates, exact=lambda _: share(Fraction(1, 2)), entropy=Scripted(draws.view(np.uint8))
    )
    assert (heads == (near < 0)).all()


def test_only_draws_inside_the_margin_ask_for_the_exact_probability() -> None:
    asked = []

    def exact(j: int):
        asked.append(j)
        return share(Fraction(1, 2))

    distances = np.array([-300, -257, -255, 0, 255, 257, 300])  # in 2⁻³²; the margin is 256
    draws = (distances + 2**31).astype(np.uint32)
    bernoulli_each(np.full(7, 0.5), exact=exact, entropy=Scripted(draws.view(np.uint8)))
    assert asked == [2, 3, 4]


@settings(max_examples=50)
@given(p=st.fractions(min_value=0, max_value=1, max_denominator=999), seed=st.integers(0, 99))
def test_refining_the_same_number_agrees_with_comparing_more_of_it(p: Fraction, seed: int) -> None:
    lead = int(p * 2**8) if p < 1 else 255  # the hardest first byte
    more = SeededEntropy(seed).octets(40)
    entropy = Scripted(*(more[i : i + 4] for i in range(0, 40, 4)))
    u = Fraction(int.from_bytes(bytes([lead]) + more.tobytes(), "big"), 2**328)
    assert is_below(share(p), drawn=lead, bits=8, entropy=entropy) == (u < p)


def test_numpy_exp_is_a_million_times_better_than_the_filter_assumes() -> None:
    rng = np.random.default_rng(20260101)
    xs = np.concatenate([rng.uniform(0, 2, 500), rng.uniform(0, 45, 500), [0.0, 1e-300, 700.0]])
    for x, estimate in zip(xs.tolist(), np.exp(-xs).tolist(), strict=True):
        lower, upper = exp_minus(Fraction(x), bits=80)
        assert (lower - 2**28) / 2**80 <= estimate <= (upper + 2**28) / 2**80  # 2⁻⁵²
