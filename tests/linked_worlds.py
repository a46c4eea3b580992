"""Every small linkage: scored pairs of a few persons, and how far one person moves what is told."""

import hashlib
from fractions import Fraction

import numpy as np

from confide.jobs.linkage.asks import STEPS, BestScores, LinkedBy, LinkScores, Overlap, PublicRoster
from confide.jobs.linkage.assignment import ScoredPairs
from confide.jobs.linkage.spec import Linkage, told_of_pairs
from confide.privacy.adjacency import Adjacency

LEVELS = (700, 800, 900, 1000)
EDGES = (700, 850, 950)


def asked(*, links=1, most=2, ids=()):
    roster = PublicRoster(
        rows=len(ids), sha256=hashlib.sha256("\n".join(ids).encode()).hexdigest(), ids=tuple(ids)
    )
    return Linkage(
        first="a",
        second="b",
        fields=("name",),
        model="{}",
        because="made up",
        threshold=700,
        links=links,
        asks=(
            Overlap(),
            LinkedBy(column="site"),
            LinkScores(edges=EDGES),
            BestScores(roster=roster, most=most),
        ),
        epsilon=Fraction(4),
    )


def drawn(random, *, first, second, dense):
    """A score of each pair, 0 where there is none; shape (first, second)."""
    scores = random.choice(LEVELS, size=(first, second))
    return np.where(random.random((first, second)) < dense, scores, 0)


def told(spec, scores, *, ones, others, groups):
    """What is told of the persons that are there, by their numbers."""
    part = scores[np.ix_(ones, others)]
    first, second = np.nonzero(part)
    pairs = ScoredPairs(first=first, second=second, score=part[first, second].astype(np.int64))
    ids = ([f"a{i}" for i in ones], [f"b{i}" for i in others])
    return told_of_pairs(spec, pairs, ids=ids, groups={"site": (groups[ones].astype(np.int64), 2)})


def moves(*, worlds, seed, links=1, most=2, first=4, second=4, dense=0.6):
    """The largest L1 and squared L2 by name, when a record of a, of b, or of both is taken away."""
    random = np.random.default_rng(seed)
    spec = asked(links=links, most=most, ids=[f"a{i}" for i in range(first)])
    found = {(each.name, side): (0, 0) for each in spec.asks for side in ("a", "b", "both")}
    for _ in range(worlds):
        scores = drawn(random, first=first, second=second, dense=dense)
        groups = random.integers(0, 2, size=first)
        ones, others = list(range(first)), list(range(second))
        whole = told(spec, scores, ones=ones, others=others, groups=groups)
        for side in ("a", "b", "both"):
            less = told(
                spec,
                scores,
                ones=ones[:-1] if side != "b" else ones,
                others=others[:-1] if side != "a" else others,
                groups=groups,
            )
            for name, value in whole.items():
                apart = np.abs(value - less[name])
                far = int(apart.sum()), int((apart**2).sum())
                found[name, side] = tuple(map(max, zip(found[name, side], far, strict=True)))
    return spec, found


def no_further_than_claimed(*, worlds=400, seed=5, **world):
    spec, found = moves(worlds=worlds, seed=seed, **world)
    for ask in spec.asks:
        claimed = spec.moved(ask, adjacency=Adjacency.ADD_REMOVE)
        assert found[ask.name, "both"][0] <= claimed[0], ask.name
        assert found[ask.name, "both"][1] <= claimed[1], ask.name


__all__ = ["STEPS", "asked", "moves", "no_further_than_claimed", "told"]
