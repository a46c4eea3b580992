"""A cohort with person-time: counts with an offset, and follow-up with an event."""

from dataclasses import replace

import numpy as np

from confide.privacy.adjacency import Adjacency
from confide.tables.descent import DescentAggregate, Family
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.schema import Column, Dataset, Kind
from models import AGGREGATE, NAMES, cohort
from models import world as models_world

COUNT_TRUTH = np.array([-0.5, 0.6, 0.8, -0.4, 0.5])
"""Log rate a year of intercept, age, marker and groups."""
HAZARD_TRUTH = np.array([0.9, 0.8, -0.5, 0.6])
"""Log hazard ratios of age, marker and groups, in units of the terms."""
RATES = np.array([0.25, 0.15, 0.1])
"""Events a year in the first, second and later intervals, all covariates at their centres."""
EDGES = (0, 365, 1095, 1825)
MOST = 6
"""Events of a patient that count."""


def world(*, adjacency=Adjacency.ADD_REMOVE) -> Dataset:
    to = models_world(adjacency=adjacency)
    (people,) = to.tables
    days = {"kind": Kind.NUMBER, "unit": "d"}
    more = (
        Column(name="visits", source="visits", kind=Kind.NUMBER, lower=0, upper=MOST, unit="1"),
        Column(name="observed", source="observed", lower=30, upper=730, **days),
        Column(name="followed", source="followed", lower=0, upper=2000, **days),
    )
    return replace(to, tables=(replace(people, columns=(*people.columns, *more)),))


def column(name):
    return ColumnOf(table="people", column=name)


COUNTS = replace(
    AGGREGATE, family=Family.POISSON, outcome=column("visits"), exposure=column("observed")
)
HAZARDS = DescentAggregate(
    relation=AGGREGATE.relation,
    covariates=AGGREGATE.covariates,
    outcome=Holds(of=IsIn(of=column("ill"), values=(1,))),
    family=Family.HAZARD,
    bounds=AGGREGATE.bounds,
    rounds=5,
    held_out=0,
    exposure=column("followed"),
    edges=EDGES,
)


def counted(n, rng):
    """Return a cohort with events and person-time, the number of events a Poisson's."""
    people = cohort(n, rng)
    people["observed"] = rng.integers(30, 731, n)
    mean = np.exp(people["terms"] @ COUNT_TRUTH) * people["observed"] / 365
    return people | {"visits": np.minimum(rng.poisson(mean), MOST)}


def followed(n, rng):
    """Return a cohort with follow-up: hazards constant between edges, censored at random."""
    people = cohort(n, rng)
    ratio = np.exp(people["terms"][:, 1:] @ HAZARD_TRUTH)
    reach = rng.exponential(1, n) / ratio  # baseline hazard that each one lives to
    years = np.array(EDGES) / 365
    heights = np.concatenate([[0], np.cumsum(RATES * np.diff(years))])
    k = np.minimum(np.searchsorted(heights, reach, side="right") - 1, len(RATES) - 1)
    days = 365 * (years[k] + (reach - heights[k]) / RATES[k])
    censored = rng.uniform(100, 2500, n)
    observed = np.floor(np.minimum(days, censored)).astype(np.int64)
    ill = ((days <= censored) & (observed <= 2000)).astype(np.int64)
    return people | {"followed": np.minimum(observed, 2000), "ill": ill}


def columns_of(people, *, aggregate, fold=999):
    """Return the columns that an engine gives for a cohort."""
    n = len(people["ill"])
    read = (*NAMES, aggregate.outcome.column, "observed") if aggregate is COUNTS else None
    names = read or (*NAMES, "ill", "followed")
    return {
        "p": np.arange(n),
        "rk": np.ones(n),
        "fold": np.full(n, fold),
        **{f"e{i}": people[name] for i, name in enumerate(names)},
    }
