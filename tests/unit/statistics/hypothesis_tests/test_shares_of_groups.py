"""Shares within the groups of a χ² test: Wilson's with the noise off, honest with it on."""

from fractions import Fraction

import numpy as np
import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.estimates import Covers
from confide.plans.estimation.intervals import noise_component
from confide.statistics import ChiSquaredTest
from noisy_answers import dataset, estimate
from seeded import SeededEntropy

SPEC = ChiSquaredTest(id="c", table="participants", by=("sex", "age_band"))
KEYS = tuple((row, column) for row in ("male", "female") for column in ("a", "b", "c"))
QUIET = DiscreteGaussian(sigma_squared=Fraction(1, 10**6))
LOUD = DiscreteGaussian(sigma_squared=Fraction(400))


def shares(counts, noise):
    table = np.array(counts, dtype=float).reshape(2, 3)
    found = SPEC._shares(table, keys=KEYS, noise=noise_component(noise))
    return {(each.key, each.covers): each for each in found}


def test_without_noise_a_share_has_wilsons_interval():
    found = shares((300, 500, 200, 10, 20, 30), QUIET)
    both = found[("male", "a"), Covers.SAMPLING_AND_NOISE]
    assert both.value == pytest.approx(0.3)
    assert (both.lower, both.upper) == pytest.approx((0.2724, 0.3291), abs=2e-4)
    noise = found[("male", "a"), Covers.NOISE]
    assert noise.upper - noise.lower < 1e-4


@pytest.mark.parametrize("covers", Covers)
def test_intervals_of_shares_hold_the_truth_as_often_as_they_say(covers):
    chance, runs = np.random.default_rng(5), 300
    truth = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    drawn = LOUD.sample(6 * runs, entropy=SeededEntropy(3))
    held = []
    for run in range(runs):
        exact = np.array([chance.multinomial(n, p) for n, p in zip((900, 700), truth, strict=True)])
        noise = np.array(drawn[6 * run : 6 * run + 6]).reshape(2, 3)
        of = exact / exact.sum(axis=1, keepdims=True) if covers is Covers.NOISE else truth
        found = shares(exact + noise, LOUD)
        for key, target in zip(KEYS, of.ravel(), strict=True):
            each = found[key, covers]
            held.append(each.lower <= target <= each.upper)
    assert 0.935 <= np.mean(held) <= 0.975


def test_a_share_of_few_rows_is_flagged_and_one_of_none_has_no_value():
    found = shares((4, -3, 2, 300, 400, 500), LOUD)
    few = found[("male", "a"), Covers.NOISE]
    assert few.flags == ("denominator too small",)
    assert found[("female", "a"), Covers.NOISE].flags == ()
    assert shares((-4, 1, 2, 300, 400, 500), LOUD)[("male", "a"), Covers.NOISE].value is None


def test_a_house_rule_sees_the_row_of_a_share_and_its_rest():
    behind = list(SPEC.counts_behind({"count": (7, 300, 0, 40, 50, 60)}, dataset=dataset()))
    keys = [key for _, key, _ in behind]
    assert [count for _, _, count in behind][:4] == [307, 300, 307, 7]
    assert len(set(keys)) == 6


def test_each_share_is_published_with_both_intervals():
    found = estimate(
        SPEC, {"count": (90, 80, 70, 60, 50, 90)}, to=dataset(), noise={"count": QUIET}
    )
    told = [each for each in found if each.quantity == "share"]
    assert len(told) == 12
    assert sum(each.value for each in told) == pytest.approx(4)
