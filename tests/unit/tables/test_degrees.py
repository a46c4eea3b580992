"""Sensitivity of degree histograms: searched over all small graphs, and attained."""

import itertools

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError
from confide.plans.contribution import question
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.degrees import DegreeBounds, How
from confide.tables.aggregates.shapes import check_aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from networks import asked, graphs, histogram, network, stable

pytestmark = pytest.mark.L1
ADD, SUBSTITUTE = Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE


def claimed(at_most, *, entity=Entity.PATIENT, adjacency=ADD, persons=True):
    how = How.PROJECTED if entity is Entity.PATIENT else How.CAPPED
    question = asked(at_most, how=how, persons=persons)
    s = question.sensitivity(network(entity, adjacency=adjacency), counted="persons")
    return s.l1, s.l2_squared, s.linf


def norms(changes):
    """Largest L1, L2² and L∞ of many vectors; shape (n, bins)."""
    changes = np.abs(np.array(changes))
    return changes.sum(1).max(), (changes**2).sum(1).max(), changes.max()


def node_changes(size, *, at_most, place):
    """Add-remove of every vertex of every graph of a size."""
    everyone = set(range(size))
    for graph in graphs(size):
        whole = histogram(graph, everyone, at_most=at_most, place=place)
        for gone in range(size):
            left = [pair for pair in graph if gone not in pair]
            yield whole - histogram(left, everyone - {gone}, at_most=at_most, place=place)


@pytest.mark.parametrize("at_most", [1, 2, 3])
def test_no_person_moves_a_projected_histogram_further_than_the_lemma_says_and_one_does(at_most):
    found = [node_changes(n, at_most=at_most, place=stable(n)) for n in (2, 3, 4)]
    found.append(node_changes(5, at_most=at_most, place=stable(7)))
    changes = list(itertools.chain.from_iterable(found))
    assert norms(changes) == claimed(at_most) == (
        2 * at_most + 1, at_most**2 + (at_most + 1) ** 2, at_most + 1
    )  # fmt: skip
    assert norms([c[1:] for c in changes]) == claimed(at_most, persons=False)


def test_no_person_of_a_larger_network_moves_it_further_under_any_order():
    rng = np.random.default_rng(5)
    for trial in range(400):
        size, at_most = int(rng.integers(6, 16)), int(rng.integers(1, 6))
        density = rng.random()
        pairs = [p for p in itertools.combinations(range(size), 2) if rng.random() < density]
        place, gone = stable(trial), int(rng.integers(size))
        whole = histogram(pairs, set(range(size)), at_most=at_most, place=place)
        left = [pair for pair in pairs if gone not in pair]
        change = whole - histogram(left, set(range(size)) - {gone}, at_most=at_most, place=place)
        l1, l2_squared, linf = norms([change])
        most = claimed(at_most)
        assert l1 <= most[0]
        assert l2_squared <= most[1]
        assert linf <= most[2]


@pytest.mark.parametrize("at_most", [1, 2, 3])
def test_no_replaced_person_moves_a_projected_histogram_further_than_the_lemma_says(at_most):
    rng, changes = np.random.default_rng(3), []
    for trial in range(700):
        size = int(rng.integers(3, 12))
        pairs = [
            p for p in itertools.combinations(range(1, size), 2) if rng.random() < rng.random()
        ]
        place, both = stable(trial % 50), []
        for _ in range(2):
            own = [(0, other) for other in range(1, size) if rng.random() < rng.random()]
            both.append(histogram(pairs + own, set(range(size)), at_most=at_most, place=place))
        changes.append(both[0] - both[1])
    most = claimed(at_most, adjacency=SUBSTITUTE)
    assert most == (4 * at_most, 8 * at_most**2, 2 * at_most)
    for found, claim in zip(norms(changes), most, strict=True):
        assert found <= claim


@pytest.mark.parametrize("at_most", [1, 2, 4])
def test_the_bound_of_a_replaced_person_is_attained(at_most):
    """One person lifts D others to degree D; the other one crowds D edges out of full ones."""
    d, number = at_most, itertools.count(1)
    if d == 1:  # in a network of two, alone or together
        alone, together = ((histogram(e, {0, 1}, at_most=1)) for e in ([], [(0, 1)]))
        changes = [together - alone]
    else:
        lifted, full, crowded = ([next(number) for _ in range(d)] for _ in range(3))
        pairs = list(itertools.combinations(lifted, 2))  # each has D − 1
        crowd = list(zip(full, crowded, strict=True))
        for vertex in full + crowded:  # each has D with its partner
            pairs += [(vertex, next(number)) for _ in range(d - 1)]
        everyone = set(range(next(number)))
        first, last = {(0, v) for v in lifted + full}, set(crowd)

        def place(pair):
            return (pair in last) - (pair in first), pair

        one, other = (
            histogram([*pairs, *crowd, *((0, v) for v in own)], everyone, at_most=d, place=place)
            for own in (lifted, full)
        )
        changes = [one - other]
    assert norms(changes) == claimed(at_most, adjacency=SUBSTITUTE)


def edge_changes(size, *, at_most, replaced):
    everyone = set(range(size))
    pairs = list(itertools.combinations(range(size), 2))
    whole = {g: histogram(g, everyone, at_most=at_most, how=How.CAPPED) for g in graphs(size)}
    for graph, own in whole.items():
        for one in pairs:
            if one in graph:
                continue
            if not replaced:
                yield whole[graph | {one}] - own
                continue
            for other in pairs:
                if other not in graph and other != one:
                    yield whole[graph | {one}] - whole[graph | {other}]


@pytest.mark.parametrize("at_most", [1, 2, 3, 5])
@pytest.mark.parametrize("persons", [True, False])
def test_one_contact_moves_a_capped_histogram_exactly_as_far_as_claimed(at_most, persons):
    changes = list(edge_changes(5, at_most=at_most, replaced=False))
    shown = changes if persons else [c[1:] for c in changes]
    assert norms(shown) == claimed(at_most, entity=Entity.EDGE, persons=persons)
    if persons:
        assert norms(shown) == (4, 8, 2)  # both ends leave one bin for the same other: not 4


@pytest.mark.parametrize(
    ("at_most", "persons"), [(1, True), (2, True), (1, False), (2, False), (3, True), (9, False)]
)
def test_one_replaced_contact_moves_a_capped_histogram_exactly_as_far_as_claimed(at_most, persons):
    changes = list(edge_changes(4, at_most=at_most, replaced=True))
    # ends of degree 0 and 1, and of degree 1 and 2: four vertices enter one bin, two leave each side
    for base in ([(2, 4), (3, 5)], [(0, 4), (1, 5), (2, 6), (2, 7), (3, 8), (3, 9)]):
        one, other = (
            histogram([*base, pair], set(range(10)), at_most=at_most, how=How.CAPPED)
            for pair in ((0, 1), (2, 3))
        )
        changes.append(one - other)
    shown = changes if persons else [c[1:] for c in changes]
    most = claimed(at_most, entity=Entity.EDGE, adjacency=SUBSTITUTE, persons=persons)
    assert norms(shown) == most
    if at_most > 2:
        assert most == (8, 24, 4)


def test_moved_bins_beyond_degree_four_bring_no_larger_norm():
    for persons in (True, False):
        for adjacency in Adjacency:
            assert claimed(4, entity=Entity.EDGE, adjacency=adjacency, persons=persons) == claimed(
                5000, entity=Entity.EDGE, adjacency=adjacency, persons=persons
            )


def test_every_other_statistic_of_contacts_is_refused():
    counted = Aggregate(
        relation=Relation(table="contacts"), axes=(), value=Ones(), bounds=CellBound(max_cells=1)
    )
    with pytest.raises(ContractError, match="contact of two persons"):
        check_aggregate(counted, dataset=network())
    people = Aggregate(
        relation=Relation(table="people"), axes=(), value=Ones(), bounds=CellBound(max_cells=1)
    )
    check_aggregate(people, dataset=network())
    with pytest.raises(ContractError, match="persons and their rows are not protected"):
        check_aggregate(people, dataset=network(Entity.EDGE))


def test_degrees_that_the_lemma_does_not_cover_are_refused():
    place = IsIn(of=ColumnOf(table="people", column="x"), values=(0,))
    for aggregate, of, message in (
        (asked(3, how=How.CAPPED), network(), "does not suit the privacy unit"),
        (asked(3), network(Entity.EDGE), "does not suit the privacy unit"),
        (asked(3), network(Entity.EVENT), "cannot be counted as pairs"),
        (asked(3, relation=Relation(table="people")), network(), "holds no contacts"),
        (asked(3, relation=Relation(table="contacts", where=place)), network(), "own columns"),
    ):
        with pytest.raises(ContractError, match=message):
            question("degrees", aggregate, dataset=of)
    with pytest.raises(InvalidParameterError, match="degree bound"):
        DegreeBounds(at_most=0, how=How.CAPPED)
