"""Least widths are found from any guess, at an equality too, and in few looks; so are draws."""

from fractions import Fraction

import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.half_width import allowed_miss, least_width
from confide.noise.threshold import KeyThreshold
from confide.privacy.adjacency import Adjacency
from seeded import SeededEntropy


@pytest.mark.parametrize("guess", [-5.0, 0.0, 1.9, 2.0, 3.0, 4.5, 100.0])
@pytest.mark.parametrize(("miss", "width"), [(0.25, 2), (0.2, 3), (1.0, 0), (2.0**-40, 40)])
def test_the_least_width_is_found_from_any_guess(guess, miss, width):
    looked = []

    def tail(w):
        assert w >= 0
        looked.append(w)
        return 0.5**w

    assert least_width(tail, miss=miss, guess=guess) == width
    assert len(looked) < 25
    if guess == width:
        assert looked == ([width, width - 1] if width else [0])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
@pytest.mark.parametrize(
    "noise",
    [
        *(DiscreteLaplace(scale=Fraction(s)) for s in ("1/9", "2", "1000", str(2**55))),
        *(DiscreteGaussian(sigma_squared=Fraction(s)) for s in ("1/9", "25", "90000", str(2**90))),
    ],
    ids=str,
)
def test_a_half_width_takes_few_looks_at_the_law_however_large_the_noise(noise, level, monkeypatch):
    looked, tail = [], type(noise).tail
    monkeypatch.setattr(type(noise), "tail", lambda of, m: looked.append(m) or tail(of, m))
    width = noise.half_width(level)
    assert looked[0] == pytest.approx(width, rel=1e-6, abs=3)
    assert len(looked) <= (12 if width < 2**40 else 40)


@pytest.mark.parametrize("keys", [1, 8])
def test_a_key_threshold_takes_few_looks_at_its_law(keys, monkeypatch):
    looked, enough = [], KeyThreshold._enough
    monkeypatch.setattr(KeyThreshold, "_enough", lambda of, m: looked.append(m) or enough(of, m))
    rule = KeyThreshold(
        epsilon=Fraction(1, 100),
        delta=Fraction(1, 10**9),
        keys_per_person=keys,
        adjacency=Adjacency.ADD_REMOVE,
    )
    looked.clear()
    assert rule.threshold() > 2000
    assert len(looked) <= 6


@pytest.mark.parametrize("sigma_squared", ["25", "90000"])
def test_gaussian_draws_take_little_more_than_half_again_as_many_proposals(
    sigma_squared, monkeypatch
):
    tried, kept = [], DiscreteGaussian._kept
    monkeypatch.setattr(
        DiscreteGaussian, "_kept", lambda of, n, entropy: tried.append(n) or kept(of, n, entropy)
    )
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma_squared))
    assert noise.sample(4000, entropy=SeededEntropy(1)).size == 4000
    assert sum(tried) <= 1.6 * 4000


@pytest.mark.parametrize(("level", "coordinates"), [(0.95, 1), (0.5, 7), (0.999, 40)])
def test_all_coordinates_cover_together_with_the_level(level, coordinates):
    miss = allowed_miss(level, coordinates=coordinates)
    assert (1 - miss) ** coordinates == pytest.approx(level, rel=1e-12)
