"""The contract of every source of entropy: the system's, and the seeded one of the tests."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.entropy import Entropy, SystemEntropy, uniform_below
from goodness_of_fit import p_value_of_counts
from seeded import SeededEntropy

sources = pytest.mark.parametrize(
    "source", [SystemEntropy, lambda: SeededEntropy(7)], ids=["system", "seeded"]
)
Source = Callable[[], Entropy]


@sources
def test_octets_and_words_have_the_asked_number_and_type(source: Source) -> None:
    entropy = source()
    assert (entropy.octets(5).shape, entropy.octets(5).dtype) == ((5,), np.uint8)
    assert (entropy.words(3).shape, entropy.words(3).dtype) == ((3,), np.uint64)
    assert entropy.octets(0).size == entropy.words(0).size == 0


@sources
def test_octets_are_uniform(source: Source) -> None:
    entropy = source()
    p = max(
        p_value_of_counts(
            np.bincount(entropy.octets(100_000), minlength=256).tolist(), [1 / 256] * 256
        )
        for _ in range(2)
    )
    assert p > 1e-4


@sources
def test_consecutive_requests_share_nothing(source: Source) -> None:
    entropy = source()
    words = np.concatenate([entropy.words(500) for _ in range(20)])
    assert np.unique(words).size == words.size


@sources
@pytest.mark.parametrize("bound", [1, 2, 3, 255, 256, 257, 10**30])
def test_below_stays_below(source: Source, bound: int) -> None:
    entropy = source()
    drawn = [entropy.below(bound) for _ in range(200)]
    assert all(0 <= x < bound for x in drawn)
    assert bound > 3 or set(drawn) == set(range(bound))


@sources
def test_below_is_uniform_where_a_remainder_would_not_be(source: Source) -> None:
    entropy = source()
    drawn = np.array([entropy.below(192) for _ in range(20_000)])  # 256 % 192 would favour 0..63
    assert 0.31 < float((drawn < 64).mean()) < 0.36


@sources
def test_an_empty_range_is_refused(source: Source) -> None:
    with pytest.raises(InvalidParameterError, match=r"Expected bound ≥ 1, got bound=0\."):
        source().below(0)
    with pytest.raises(InvalidParameterError, match=r"Expected bound ≤ 2\*\*63"):
        uniform_below(2**63 + 1, count=1, entropy=source())


@sources
def test_uniform_below_is_uniform(source: Source) -> None:
    entropy = source()
    counts = [
        np.bincount(uniform_below(7, count=20_000, entropy=entropy), minlength=7) for _ in range(2)
    ]
    assert max(p_value_of_counts(c.tolist(), [1 / 7] * 7) for c in counts) > 1e-4


class WordsInTurn:
    """Entropy that hands out given words: what rejection does with them is then seen."""

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int, /) -> np.ndarray:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)


def test_words_in_the_unfair_remainder_are_drawn_again() -> None:
    bound = 3 * 2**61  # 2**64 holds two and two thirds of it
    unfair = 2 * bound
    drawn = uniform_below(bound, count=2, entropy=WordsInTurn(unfair, 5, unfair, 6))  # type: ignore[arg-type]
    assert drawn.tolist() == [6, 5]


FORK = """
import os, sys
sys.path.insert(0, {src!r})
from fractions import Fraction
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
noise, entropy = DiscreteLaplace(scale=Fraction(1000)), SystemEntropy()
noise.sample(8, entropy=entropy)  # whatever state there is exists before the fork
vectors = []
for _ in range(100):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, noise.sample(8, entropy=entropy).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    vectors.append(os.read(reader, 64))
    os.close(reader), os.close(writer)
print(len(set(vectors)), {{len(v) for v in vectors}})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
def test_one_hundred_forked_workers_draw_one_hundred_different_noises() -> None:
    src = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", FORK.format(src=src)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "100 {64}"
