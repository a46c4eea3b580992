"""A cohort with an outcome of four classes; no patient is behind it."""

import math
from dataclasses import replace

import numpy as np

from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted_classes
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import Family
from confide.tables.expression import ColumnOf
from confide.tables.schema import Column, Dataset, Kind
from models import AGGREGATE, NAMES, cohort
from models import world as models_world

STAGES = ("none", "mild", "severe", "late")
STAGE_TRUTH = np.array(
    [
        [0, 0, 0, 0, 0],
        [-0.3, 1.2, 1.0, -0.6, 0.8],
        [-1.2, 0.5, -0.8, 0.7, 0.3],
        [-0.8, -1.0, 0.6, 0.3, -0.5],
    ]
)
"""Coefficients of each stage, in units of the terms."""
RARE_TRUTH = np.vstack([STAGE_TRUTH[:3], [-4.0, 1.6, -1.2, 0.6, 0.4]])
"""Those by which 3 % are of the last stage."""


def world(*, adjacency=Adjacency.ADD_REMOVE) -> Dataset:
    to = models_world(adjacency=adjacency)
    (people,) = to.tables
    stage = Column(
        name="stage",
        kind=Kind.CATEGORY,
        source="stage",
        lower=0,
        upper=3,
        keys=STAGES,
        codes=tuple((str(i), i) for i in range(4)),
    )
    return replace(to, tables=(replace(people, columns=(*people.columns, stage)),))


CLASSES = replace(
    AGGREGATE,
    family=Family.MULTINOMIAL,
    outcome=ColumnOf(table="people", column="stage"),
    classes=4,
)


def staged(n, rng, *, terms=None, truth=STAGE_TRUTH):
    """Return a cohort whose stages follow the truth."""
    people = cohort(n, rng)
    shares = np.exp((people["terms"] if terms is None else terms) @ truth.T)
    shares /= shares.sum(axis=1, keepdims=True)
    people["stage"] = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return people


def columns_of(people, *, patient=None, rank=None, fold=999):
    """Return the columns that an engine gives; one row a patient unless it is said."""
    n = len(people["stage"])
    found = {
        "p": np.arange(n) if patient is None else patient,
        "rk": np.ones(n, int) if rank is None else rank,
        "fold": np.full(n, fold),
    }
    return found | {f"e{i}": people[name] for i, name in enumerate((*NAMES, "stage"))}


def answered(
    columns, *, aggregate: DescentAggregate = CLASSES, to: Dataset, sigma: float, rng=None
) -> tuple[int, ...]:
    """Return all answers, with continuous noise: the law of the estimate is what is tested."""
    rows, noisy = DescentRows(aggregate, columns, dataset=to), ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=to):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return noisy


def fit(columns, *, aggregate=CLASSES, rho=None, rng=None, reference=0):
    """Return the fit of a world of add and remove."""
    to = world()
    moved = scale_of(aggregate, dataset=to).l2_squared
    sigma = 1e-3 if rho is None else math.sqrt(moved / (2 * rho))
    noisy = answered(columns, aggregate=aggregate, to=to, sigma=sigma, rng=rng)
    assert len(noisy) == scale_of(aggregate, dataset=to).length
    return fitted_classes(aggregate, noisy, reference=reference, sigma=sigma, dataset=to)
