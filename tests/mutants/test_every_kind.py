"""Each kind of statistic has a mutant of its own that the suite kills: an engine that keeps more.

The engine is told a wider bound than the statistic claims, one row or cell more, or for a table
with one row a patient any number, and the sensitivity search must find a patient who moves the
vector further than claimed.
"""

from dataclasses import replace

import pytest

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.searched import statistics_of_patients
from confide.attacks.audit.sensitivity_search import exact_vectors, search
from confide.privacy.unit import Entity
from confide.statistics import STATISTICS, Survival
from confide.tables.aggregates.factorized import FactorizedAggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.bound_contributions import CellBound, RowBound
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

ELSEWHERE = {
    "degree-histogram": "test_network_mutants.py: an unstable order, naive truncation",
    "logistic-regression": "test_model_mutants.py: noise, clip, weights, the actual number",
    "multinomial-regression": "test_model_mutants.py: classes bounded as two",
    "poisson-regression": "the same rounds; tests/unit/rows/models/test_person_time.py searches them",
    "hazard-regression": "the same rounds; tests/unit/rows/models/test_person_time.py searches them",
    "survival": "test_survival_mutants.py: several exits, disjoint time points, observed bins",
}


def wider(bounds):
    match bounds:
        case RowBound(max_rows=m):
            return replace(bounds, max_rows=m + 1)
        case CellBound(max_cells=k, max_rows_per_cell=r):
            return replace(bounds, max_cells=k + 1, max_rows_per_cell=r + 1)


def keeping_more(aggregate):
    match aggregate:
        case PooledAggregate(of=of):
            return replace(aggregate, of=replace(of, bounds=wider(of.bounds)))
        case FactorizedAggregate(inner=inner):
            return replace(aggregate, inner=replace(inner, bounds=wider(inner.bounds)))
        case KeyedAggregate(bounds=CellBound(max_cells=k) as bounds):
            return replace(aggregate, bounds=replace(bounds, max_cells=k + 1))
        case _:
            return replace(aggregate, bounds=wider(aggregate.bounds))


def evaluate(frames, dataset, aggregates):
    return exact_vectors(frames, dataset, tuple(map(keeping_more, aggregates)))


def of_events():
    """One statistic of each kind over a table with several rows a patient."""
    kinds = {}
    for statistic in statistics_of_patients():
        if statistic.table == "events" and not isinstance(statistic, Survival):
            kinds.setdefault(type(statistic), statistic)
    return list(kinds.values())


def test_every_kind_of_statistic_has_a_mutant() -> None:
    mutated = {type(statistic) for statistic in of_events()}
    assert mutated | {STATISTICS[kind] for kind in ELSEWHERE} == set(STATISTICS.values())


def test_an_engine_that_keeps_one_row_more_is_caught_in_every_kind() -> None:
    drawn = neighbours(100, entity=Entity.PATIENT, entropy=SeededEntropy(5))
    found = search(of_events(), drawn=drawn, entity=Entity.PATIENT, evaluate=evaluate)
    caught = {one.statistic for one in found if not one.holds}
    assert caught == {statistic.id for statistic in of_events()}
