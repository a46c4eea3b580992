"""Counts of groups of cells: how far one unit moves them, over every vector that it may have."""

import itertools
from dataclasses import replace

import pytest

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.aggregates.value import Ones, Plain
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from noisy_answers import dataset

pytestmark = pytest.mark.L1
BANDS = ColumnOf(table="visits", column="ward")
SEX = ColumnOf(table="participants", column="sex")
ONE_ROW, COUNT = RowBound(max_rows=1), Ones()
CELLS = 6  # three wards by two sexes
KINDS = (
    RowBound(max_rows=1),
    RowBound(max_rows=3),
    CellBound(max_cells=1),
    CellBound(max_cells=2, max_rows_per_cell=2),
    CellBound(max_cells=3),
    OneEvent(),
)


def pooled(groups, weights=(), *, bounds=ONE_ROW, value=COUNT):
    counted = Aggregate(
        relation=Relation(table="visits"), axes=(BANDS, SEX), value=value, bounds=bounds
    )
    return PooledAggregate(of=counted, groups=groups, weights=weights)


def world(bounds, *, adjacency=Adjacency.ADD_REMOVE):
    entity = Entity.EVENT if isinstance(bounds, OneEvent) else Entity.PATIENT
    return dataset(entity=entity, adjacency=adjacency)


def rows(bounds):
    """Yield the rows by cell that one unit may keep."""
    match bounds:
        case CellBound(max_cells=k, max_rows_per_cell=r):
            each, some, every = r, k, k * r
        case RowBound(max_rows=m):
            each, some, every = m, m, m
        case _:
            each, some, every = 1, 1, 1
    for found in itertools.product(range(each + 1), repeat=CELLS):
        if sum(found) <= every and sum(n > 0 for n in found) <= some:
            yield found


def norms(changes):
    changes = list(changes)
    return (
        max(sum(map(abs, change)) for change in changes),
        max(sum(part * part for part in change) for change in changes),
        max(max(map(abs, change)) for change in changes),
    )


@pytest.mark.parametrize("bounds", KINDS, ids=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    ("groups", "weights"),
    [
        (tuple(range(CELLS)), ()),
        ((5, 4, 3, 2, 1, 0), (1, 7, 2, 5, 3, 1)),
        ((0, 0, 0, 1, 1, 1), ()),
        ((0, 0, 0, 1, 2, 1), (5, 3, 1)),
        ((0, 1, 0, 1, 0, 1), (2, 9)),
        ((0,) * CELLS, (4,)),
    ],
)
def test_no_unit_moves_groups_further_than_claimed_and_one_does(bounds, adjacency, groups, weights):
    aggregate, to = pooled(groups, weights, bounds=bounds), world(bounds, adjacency=adjacency)
    vectors = {aggregate.combined([found], dataset=to) for found in rows(bounds)}
    others = vectors if adjacency is Adjacency.SUBSTITUTE else {(0,) * aggregate.size}
    changes = ([a - b for a, b in zip(v, w, strict=True)] for v in vectors for w in others)
    claimed = aggregate.sensitivity(to, counted="rows")
    found, most = norms(changes), (claimed.l1, claimed.l2_squared, claimed.linf)
    cells = bounds.max_cells if isinstance(bounds, CellBound) else 1
    whole = all(groups.count(group) >= cells for group in groups)  # may hold all that is kept
    if whole or len(set(groups)) == CELLS:
        assert found == most
    else:
        assert all(one <= other for one, other in zip(found, most, strict=True))


@pytest.mark.parametrize("weights", [(), (2, 9, 3)])
def test_the_least_that_a_patient_who_is_there_moves_it_by_is_the_least_weight(weights):
    aggregate, to = pooled((0, 0, 1, 1, 2, 2), weights), world(RowBound(max_rows=1))
    vectors = {aggregate.combined([found], dataset=to) for found in rows(aggregate.bounds)}
    moved = [vector for vector in vectors if any(vector)]
    least = min(sum(vector) for vector in moved)
    assert aggregate.least_moved(to) == (least, max(sum(map(bool, vector)) for vector in moved))
    assert aggregate.worth(to) == (None if weights else 1)
    assert aggregate.has_square(to) is True
    assert aggregate.of.has_square(to) is True
    assert aggregate.of.worth(to) == 1


def test_groups_are_numbered_and_weighed_each():
    for groups in ((), (0, 2, 2, 0, 0, 2), (1,) * CELLS):
        with pytest.raises(InvalidParameterError, match="groups numbered from 0"):
            pooled(groups)
    for weights in ((1,), (1, 1, 1), (0, 5), (5, 0), (5, -1)):
        with pytest.raises(InvalidParameterError, match="a whole weight ≥ 1 for each group"):
            pooled((0, 1) * 3, weights)
    assert pooled((0, 1) * 3, (1, 2)).weights == (1, 2)


def test_what_is_no_count_of_its_own_cells_is_not_pooled():
    to = dataset()
    with pytest.raises(ContractError, match="Only counts are pooled"):
        pooled(tuple(range(CELLS)), value=Plain(of=ColumnOf(table="visits", column="days"))).check(
            to
        )
    with pytest.raises(InvalidParameterError, match="a group for each cell"):
        pooled((0, 1)).check(to)
    with pytest.raises(InvalidParameterError, match="could overflow"):
        pooled((0,) * CELLS, (2**95,)).check(to)
    plain = pooled(tuple(range(CELLS)))
    missing = Aggregate(
        relation=Relation(table="visits"),
        axes=(replace(BANDS, column="floor"),),
        value=Ones(),
        bounds=plain.bounds,
    )
    with pytest.raises(ContractError, match="floor"):
        replace(plain, of=missing).check(to)
    plain.check(to)


def test_bounds_of_patients_do_not_suit_events_nor_the_other_way_round():
    for bounds, entity in ((OneEvent(), Entity.PATIENT), (RowBound(max_rows=1), Entity.EVENT)):
        with pytest.raises(ContractError, match=f"suit the privacy unit {entity.value!r}"):
            pooled((0,) * CELLS, bounds=bounds).sensitivity(dataset(entity=entity), counted="rows")
