"""Uniform integers: every value, none outside, no favour; the source is asked and never seeded."""

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.entropy import SystemEntropy, require_bound, uniform_below


class Words:
    """Entropy that hands out given words and then fails."""

    def __init__(self, *batches):
        self._batches = list(batches)

    def words(self, count, /):
        batch = np.array(self._batches.pop(0), dtype=np.uint64)
        assert batch.size == count
        return batch


@pytest.mark.parametrize("bound", [1, 2, 3, 8, 200, 257])
def test_every_integer_below_a_bound_is_drawn_and_no_other(bound):
    drawn = {SystemEntropy().below(bound) for _ in range(40 * bound)}
    assert drawn <= set(range(bound))
    assert len(drawn) > 0.99 * bound or drawn == set(range(bound))


@pytest.mark.parametrize("bits", [9, 64, 65, 1000])
def test_integers_below_a_large_bound_fill_its_range(bits):
    drawn = [SystemEntropy().below(1 << bits) / (1 << bits) for _ in range(400)]
    assert 0 <= min(drawn) < 0.1
    assert 0.9 < max(drawn) < 1
    assert len(set(drawn)) > 250  # 512 values of nine bits


def test_octets_and_words_are_as_many_as_are_asked_for():
    assert SystemEntropy().octets(1000).shape == (1000,)
    assert np.unique(SystemEntropy().octets(20_000)).size == 256
    words = SystemEntropy().words(1000)
    assert (words.dtype, words.shape) == (np.uint64, (1000,))
    assert words.min() < 2**58
    assert words.max() > 2**63


def test_words_beyond_the_last_full_turn_are_drawn_again():
    """2⁶⁴ = 3·k + 1: the last word would make 0 likelier than 1 and 2."""
    last = 2**64 - 1
    entropy = Words([5, last, last - 1, last], [last, 4], [7])
    assert uniform_below(3, count=4, entropy=entropy).tolist() == [2, 1, 2, 1]


def test_a_bound_that_divides_all_words_draws_none_again():
    entropy = Words([2**64 - 1, 2**63, 2**63 - 1])
    assert uniform_below(2**63, count=3, entropy=entropy).tolist() == [2**63 - 1, 0, 2**63 - 1]


def test_bounds_outside_1_to_2_to_the_63_are_refused():
    with pytest.raises(InvalidParameterError, match=r"Expected bound ≤ 2\*\*63"):
        uniform_below(2**63 + 1, count=1, entropy=SystemEntropy())
    for draw in (
        lambda: uniform_below(0, count=1, entropy=SystemEntropy()),
        lambda: SystemEntropy().below(0),
        lambda: require_bound(-1),
    ):
        with pytest.raises(InvalidParameterError, match="Expected bound ≥ 1"):
            draw()
