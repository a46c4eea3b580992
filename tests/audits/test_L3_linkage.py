"""The fingerprint of a linkage: without noise a block of scores tells who is there; with it, not.

Somebody knows every record but one, and asks whether that one is in the second table [textbook
attack on linkage scores].  Exact scores by id tell it always.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.black_box import Scenario, audit_scenario
from confide.attacks.lab.coin_game import share_of
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP
from confide.privacy.odds import membership_advantage
from linked_worlds import STEPS, asked, told
from seeded import SeededEntropy

IDS = tuple(f"a{i}" for i in range(6))
GROUPS = np.zeros(6, dtype=np.int64)
WORLD = np.diag([STEPS] * 6) + 800 * np.eye(6, k=1, dtype=np.int64)
"""Each is somebody's sure link, and the next one's possible one: a chain."""


def exact(name, *, target):
    """What is told with the last person of the second table there, or away."""
    others = list(range(6 if target else 5))
    spec = asked(ids=IDS, most=1)
    return spec, told(spec, WORLD, ones=list(range(6)), others=others, groups=GROUPS)[name]


def scenario(name, *, epsilon, noise=None):
    spec, there = exact(name, target=True)
    _, away = exact(name, target=False)
    (ask,) = (each for each in spec.asks if each.name == name)
    alone = replace(spec, asks=(ask,), epsilon=Fraction(epsilon))
    drawn = noise or alone.noise(ask, adjacency=Adjacency.ADD_REMOVE)

    def run(hidden, samples, entropy):
        many = np.tile(np.array(hidden, dtype=np.int64), samples)
        noisy = drawn.randomize(many, entropy=entropy)
        return noisy.reshape(samples, len(hidden)).astype(float)

    return Scenario(
        name=name,
        claim=PureDP(epsilon=Fraction(epsilon)),
        first=tuple(there.ravel().tolist()),
        second=tuple(away.ravel().tolist()),
        run=run,
    )


def guessed(name, *, epsilon, games=4000):
    """Share exposed by the likelier of the two worlds; None of ε for exact numbers."""
    played = scenario(name, epsilon=epsilon or 1)
    first, second = np.array(played.first), np.array(played.second)
    entropy = SystemEntropy()
    coins = np.array([entropy.below(2) for _ in range(games)])
    seen = np.where(coins[:, None] == 1, first, second).astype(float)
    if epsilon:
        there, away = (played.run(x, games, entropy) for x in (played.first, played.second))
        seen = np.where(coins[:, None] == 1, there, away)
    nearer = np.abs(seen - first).sum(axis=1) < np.abs(seen - second).sum(axis=1)
    return share_of((nearer == (coins == 1)).astype(float))


def test_exact_scores_by_id_tell_who_is_in_the_second_table():
    for name in ("best scores", "overlap"):
        assert guessed(name, epsilon=None, games=400).share == 1


@pytest.mark.parametrize("name", ["best scores", "overlap", "score histogram"])
def test_with_noise_the_fingerprint_exposes_no_more_than_its_bound(name):
    assert guessed(name, epsilon=1).respects(membership_advantage(PureDP(epsilon=Fraction(1))))


@pytest.mark.audit
@pytest.mark.L3
@pytest.mark.parametrize("name", ["best scores", "overlap", "linked by site", "score histogram"])
def test_a_black_box_finds_no_more_than_a_linkage_claims(name):
    assert audit_scenario(
        scenario(name, epsilon=1), samples=20_000, entropy=SeededEntropy(4)
    ).passed


def test_a_black_box_finds_a_fifth_of_the_noise():
    little = scenario("overlap", epsilon=1, noise=DiscreteLaplace(scale=Fraction(2, 5)))
    check = audit_scenario(little, samples=8000, entropy=SeededEntropy(4))
    assert not check.passed
