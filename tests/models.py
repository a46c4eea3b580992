"""A cohort for models: two numbers, a category of three and a condition; no patient is behind
it."""

from fractions import Fraction

import numpy as np

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import Family
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

NAMES = ("age", "marker", "group")
TRUTH = np.array([-1.0, 1.2, 1.0, -0.6, 0.8])
"""Coefficients of intercept, age, marker and the second and third group, in units of the terms."""


def world(*, adjacency=Adjacency.ADD_REMOVE, measure=Measure.ZCDP) -> Dataset:
    people = Table(
        name="people",
        source="people",
        one_row_per_patient=True,
        columns=(
            Column(name="age", kind=Kind.NUMBER, source="age", lower=0, upper=100, unit="a"),
            Column(
                name="marker",
                kind=Kind.NUMBER,
                source="marker",
                lower=0,
                upper=1000,
                scale=Fraction(1, 100),
                unit="mg/L",
            ),
            Column(
                name="group",
                kind=Kind.CATEGORY,
                source="group",
                lower=0,
                upper=2,
                keys=("none", "some", "rare"),
                codes=(("0", 0), ("1", 1), ("2", 2)),
            ),
            Column(
                name="ill",
                kind=Kind.CATEGORY,
                source="ill",
                lower=0,
                upper=1,
                keys=("no", "yes"),
                codes=(("0", 0), ("1", 1)),
            ),
        ),
    )
    return Dataset(
        id="models",
        lineage="models",
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction("1e-6") if measure is Measure.ZCDP else Fraction(0),
        selection_delta=Fraction("5e-7") if measure is Measure.ZCDP else Fraction(0),
        tables=(people,),
        population_at_most=10**7,
    )


ILL = IsIn(of=ColumnOf(table="people", column="ill"), values=(1,))
AGGREGATE = DescentAggregate(
    relation=Relation(table="people"),
    covariates=tuple(ColumnOf(table="people", column=name) for name in NAMES),
    outcome=Holds(of=ILL),
    family=Family.LOGISTIC,
    bounds=RowBound(max_rows=1),
    rounds=5,
    held_out=0,
)


def cohort(n, rng):
    """Return one row a patient, as canonical integers: skewed, rare, and ill by the truth."""
    age = rng.integers(0, 101, n)
    marker = np.clip(np.rint(rng.lognormal(0, 0.5, n) * 150), 0, 1000).astype(np.int64)
    group = rng.choice(3, n, p=[0.65, 0.3, 0.05])
    x = np.column_stack([np.ones(n), (age - 50) / 50, (marker - 500) / 500, group == 1, group == 2])
    ill = (rng.random(n) < 1 / (1 + np.exp(-x @ TRUTH))).astype(np.int64)
    return {"age": age, "marker": marker, "group": group, "ill": ill, "terms": x}


def columns(patients, rng, *, rows=1, corners=False):
    """Return the columns that an engine gives for some patients with ``rows`` rows each."""
    n = patients * rows
    found = cohort(n, rng)
    if corners:
        found["age"] = rng.choice([0, 50, 100], n)
        found["marker"] = rng.choice([0, 500, 1000], n)
        found["ill"] = rng.integers(0, 2, n)
    return {
        "p": np.repeat(np.arange(patients), rows),
        "rk": np.tile(np.arange(1, rows + 1), patients),
        "fold": np.repeat(rng.integers(0, 1000, patients), rows),
        **{f"e{i}": found[name] for i, name in enumerate((*NAMES, "ill"))},
    }
