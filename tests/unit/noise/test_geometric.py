"""Geometric vectors: refusals, edges and the block loop; the law is in tests/distribution."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import share
from confide.noise.geometric import _add_high, blocks, geometric
from seeded import SeededEntropy


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (Fraction(0), "Expected scale > 0, got scale=0"),
        (Fraction(-1), "Expected scale > 0, got scale=-1"),
        (0.5, "Expected scale as an exact Fraction or int, got a float"),
        (True, "got a bool"),
        (Fraction(1, 2**21), r"Expected scale ≥ 1/2\*\*20"),
        (Fraction(2**55 + 1), r"Expected scale ≤ 2\*\*55, got about 2\*\*55"),
    ],
)
def test_scales_that_are_not_exact_or_out_of_range_are_refused(scale, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        geometric(1, scale=scale, entropy=SeededEntropy(1))


def test_blocks_cover_the_range_once() -> None:
    assert [i for s in blocks(200_000) for i in range(s.start, s.stop)] == list(range(200_000))


def test_no_draws_are_an_empty_vector() -> None:
    assert geometric(0, scale=Fraction(3), entropy=SeededEntropy(1)).shape == (0,)


def test_the_least_scale_gives_no_noise_and_the_largest_gives_much() -> None:
    assert not geometric(1000, scale=Fraction(1, 2**20), entropy=SeededEntropy(1)).any()
    large = geometric(2000, scale=Fraction(2**55), entropy=SeededEntropy(1))
    assert (large >= 0).all()
    assert 0.9 < float(large.mean()) / 2**55 < 1.1
    assert np.unique(large & 1023).size > 800  # the low-order bits are as random as the high


@pytest.mark.parametrize(("scale", "low_bits"), [("1", 3), ("3", 4)])
def test_draws_beyond_the_low_bits_continue_without_a_gap(scale: str, low_bits: int) -> None:
    draws, step = 300_000, 1 << low_bits
    drawn = geometric(draws, scale=Fraction(scale), entropy=SeededEntropy(2)) >> low_bits
    beyond = math.exp(-step / int(scale))  # of each step, given the last
    expected = draws * beyond * (1 - beyond)
    assert abs(int((drawn == 1).sum()) - expected) < 4 * math.sqrt(expected)
    assert abs(int((drawn == 2).sum()) - expected * beyond) < 4 * math.sqrt(expected * beyond) + 1


def test_what_would_pass_int64_is_held_at_its_end() -> None:
    drawn = np.full(64, 2**62, dtype=np.int64)
    _add_high(drawn, more=share(Fraction(15, 16)), step=2**62, entropy=SeededEntropy(3))
    assert set(drawn.tolist()) == {2**62, 2**63 - 1}
