"""Deliberately broken projections of contact networks, against the lemma that the true one keeps."""

import itertools

import numpy as np
import pytest

from networks import asked, histogram, network, stable

pytestmark = pytest.mark.mutant


def claimed(at_most):
    return asked(at_most).sensitivity(network(), counted="persons").l1


def test_an_unstable_order_breaks_the_lemma():
    """Mutant: edges in an order that depends on how many there are, as row numbers do."""
    rng = np.random.default_rng(1)
    worst = 0
    for _ in range(400):
        pairs = [p for p in itertools.combinations(range(12), 2) if rng.random() < 0.5]
        left = [p for p in pairs if 0 not in p]
        one = histogram(pairs, set(range(12)), at_most=2, place=stable(len(pairs)))
        other = histogram(left, set(range(1, 12)), at_most=2, place=stable(len(left)))
        worst = max(worst, np.abs(one - other).sum())
    assert worst > claimed(2)


def test_dropping_persons_with_too_many_contacts_breaks_the_lemma():
    """Mutant: naive truncation drops every edge of a person beyond the bound."""

    def truncated(edges, vertices, at_most):
        degree = {v: sum(v in e for e in edges) for v in vertices}
        kept = [e for e in edges if max(degree[e[0]], degree[e[1]]) <= at_most]
        return histogram(kept, vertices, at_most=at_most)

    star = [(0, leaf) for leaf in range(1, 5)]
    change = truncated(star, set(range(5)), 3) - truncated(star[:-1], set(range(4)), 3)
    assert np.abs(change).sum() > claimed(3)
