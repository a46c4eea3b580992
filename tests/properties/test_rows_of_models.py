"""Rows that models and jobs read: one unit more adds its own rows, moves no other, and no sum
further.

Tables are drawn with values beyond bounds, nothing, duplicates, and several rows a patient; the
unit is a patient or a row.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from confide.plans.rounds.descent import AskGradient, AskMoments, AskScores, Place
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational import kept_rows as module
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_terms import SCORE_BINS, UNIT
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.source import Source, SourceKind
from models import AGGREGATE, NAMES, world

KEY = b"order of rows in generated tables"
READS = tuple(ColumnOf(table="people", column=name) for name in (*NAMES, "ill"))
SIZE = 5
PLACES = (
    Place(whitening=tuple(map(tuple, (np.eye(SIZE) * UNIT).astype(int).tolist())), coefficients=(0,) * SIZE),
    Place(
        whitening=tuple(map(tuple, (np.eye(SIZE) * 8 * UNIT).astype(int).tolist())),
        coefficients=(2**18, -(2**17), 2**16, 2**15, -(2**15)),
    ),
)  # fmt: skip
MOST = {Entity.PATIENT: 2, Entity.EVENT: 1}
units = pytest.mark.parametrize("unit", MOST, ids=lambda unit: unit.value)


def dataset_of(unit):
    of = world()
    (people,) = of.tables
    people = replace(people, one_row_per_patient=False)
    return replace(of, tables=(people,), unit=PrivacyUnit(entity=unit, id_column="pid"))


def drawn(rng, rows):
    """Rows of few patients; many are equal, some lack values, some have no patient."""
    ages = [None, 0.0, 100.0, -1e308, 1e308, float("nan"), float("inf"), 50.0, 49.5]
    marks = [None, 0.0, 10.0, 5.0, -0.0, 2.0**53, 1e-300]
    return [
        {
            "pid": [None, "a", "A", "b", "c"][rng.integers(0, 5)],
            "age": ages[rng.integers(0, len(ages))],
            "marker": marks[rng.integers(0, len(marks))],
            "group": [None, "0", "1", "2", "x"][rng.integers(0, 5)],
            "ill": ["0", "1"][rng.integers(0, 2)],
        }
        for _ in range(rows)
    ]


TYPES = pa.schema(
    [
        ("pid", pa.string()),
        ("age", pa.float64()),
        ("marker", pa.float64()),
        ("group", pa.string()),
        ("ill", pa.string()),
    ]
)


def pairs(unit, *, number, seed):
    """Tables with and without one unit's rows."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        rows = drawn(rng, int(rng.integers(1, 14)))
        rows += [dict(rows[0]) for _ in range(int(rng.integers(0, 3)))]  # the same again
        rng.shuffle(rows)
        at = int(rng.integers(0, len(rows)))
        if unit is Entity.EVENT:
            less = [row for place, row in enumerate(rows) if place != at]
        else:
            less = [row for row in rows if row["pid"] is None or row["pid"] != rows[at]["pid"]]
        yield rows, less


def opened(rows, dataset):
    table = pa.Table.from_pylist(rows, schema=TYPES)
    return open_engine(
        Source(kind=SourceKind.FRAMES),
        base=Path(),
        dataset=dataset,
        hash_key=KEY,
        frames={"people": table},
        threads=1,
    )


def read(rows, unit):
    """Return the rows that a job reads of each unit, as a multiset of multisets."""
    dataset, most = dataset_of(unit), MOST[unit]
    asked = Records(
        relation=Relation(table="people"), reads=READS, bounds=RowBound(max_rows=most), unit=unit
    )
    with opened(rows, dataset) as engine:
        found = engine.records(asked, dataset=dataset).reveal_to_job()
    whose = {}
    for place, patient in enumerate(found["patient"].tolist()):
        values = tuple(int(found[f"e{i}"][place]) for i in range(len(READS)))
        whose.setdefault(patient, []).append(values)
    return Counter(tuple(sorted(each)) for each in whose.values())


def furthest_apart(unit, *, number=25, seed=1):
    """Return the most units, and the most rows of one, by which two neighbours differ."""
    units_moved = rows_moved = 0
    for rows, less in pairs(unit, number=number, seed=seed):
        more, fewer = read(rows, unit), read(less, unit)
        units_moved = max(units_moved, (more - fewer).total() + (fewer - more).total())
        rows_moved = max(rows_moved, *(len(each) for each in (*(more - fewer), ())))
    return units_moved, rows_moved


@units
def test_one_unit_more_adds_its_own_rows_and_changes_no_other(unit):
    assert furthest_apart(unit) == (1, MOST[unit])


def answers(rows, unit):
    dataset = dataset_of(unit)
    aggregate = replace(AGGREGATE, bounds=RowBound(max_rows=MOST[unit]))
    with opened(rows, dataset) as engine:
        (held,) = engine.aggregate((aggregate,), dataset=dataset).reveal_to_gate()
    found = []
    for place in PLACES:
        gradients = [AskGradient(at=place, round=t) for t in range(aggregate.rounds)]
        edges = tuple(range(8_000, 8_000 + 800 * (SCORE_BINS - 1), 800))
        asks = (AskMoments(), *gradients, AskScores(at=place, edges=edges))
        found.append(np.array([v for ask in asks for v in held.answer(ask)], dtype=object))
    claimed = descent_sensitivity(aggregate, dataset=dataset).l2_squared
    return found, claimed


def furthest_moved(unit, *, number=20, seed=2):
    """Return the largest squared movement of a model's answers, in parts of the claim."""
    largest = Fraction(0)
    for rows, less in pairs(unit, number=number, seed=seed):
        (more, claimed), (fewer, _) = answers(rows, unit), answers(less, unit)
        for one, other in zip(more, fewer, strict=True):
            moved = one - other
            largest = max(largest, Fraction(int((moved * moved).sum()), claimed))
    return largest


@units
def test_one_unit_more_moves_the_answers_of_a_model_no_further_than_claimed(unit):
    found = furthest_moved(unit)
    assert Fraction(1, 10) < found <= 1


def test_a_row_that_is_read_twice_is_caught(monkeypatch):
    """A mutant: rows joined with themselves by what they have in common."""
    real = module.relation_rows

    def twice(scope, relation, **how):
        rows = real(scope, relation, **how)
        return module.select(module.STAR, of=rows.union(rows.copy(), distinct=False))

    monkeypatch.setattr(module, "relation_rows", twice)
    units_moved, _ = furthest_apart(Entity.EVENT, number=10)
    assert units_moved > 1


def test_rows_that_are_counted_once_where_they_are_equal_are_not_taken_for_all():
    """Equal rows are rows: the unit is the row, not what it says."""
    row = {"pid": "a", "age": 50.0, "marker": 5.0, "group": "1", "ill": "1"}
    assert read([row] * 3, Entity.EVENT).total() == 3
    assert [len(each) for each in read([row] * 3, Entity.PATIENT)] == [2]
