"""A cohort with person-time: counts with an offset, and follow-up with an event."""

import math
from dataclasses import replace

import numpy as np

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.rounds.model_fit import DROWNED, fitted
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import Family
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


def world(*, adjacency=Adjacency.ADD_REMOVE, most=MOST) -> Dataset:
    to = models_world(adjacency=adjacency)
    (people,) = to.tables
    days = {"kind": Kind.NUMBER, "unit": "d"}
    more = (
        Column(name="visits", source="visits", kind=Kind.NUMBER, lower=0, upper=most, unit="1"),
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


def counted(n, rng, *, most=MOST):
    """Return a cohort with events and person-time, the number of events a Poisson's."""
    people = cohort(n, rng)
    people["observed"] = rng.integers(30, 731, n)
    mean = np.exp(people["terms"] @ COUNT_TRUTH) * people["observed"] / 365
    return people | {"visits": np.minimum(rng.poisson(mean), most)}


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
    """Return the columns that an engine gives for a cohort with one row a patient."""
    n = len(people["age"])
    names = (*NAMES, "ill", "followed") if aggregate.edges else (*NAMES, "visits", "observed")
    return {
        "p": np.arange(n),
        "rk": np.ones(n),
        "fold": np.full(n, fold),
        **{f"e{i}": people[name] for i, name in enumerate(names)},
    }


def in_rounds(rows, *, aggregate, sigma, to, rng=None):
    """Return noisy answers, with continuous noise: the law of the estimate is what is tested."""
    noisy = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=to):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return noisy


def asked_in_turn(aggregate, columns, *, to, rho=None, rng=None, asks=None):
    """Return noisy answers of any fit, and σ; without noise where there is no loss.

    Questions go into ``asks``, if it is a list.
    """
    moved = descent_sensitivity(aggregate, dataset=to).l2_squared
    sigma = 1e6 if rho is None else math.sqrt(moved / (2 * rho))  # of some 2⁴⁰
    noise = DiscreteGaussian(sigma_squared=round(sigma**2))
    rows, noisy = DescentRows(aggregate, columns, dataset=to), ()
    while ask := ask_in_turn(aggregate, noisy, mechanism=noise, dataset=to):
        if asks is not None:
            asks.append(ask)
        exact = rows.answer(ask)
        drawn = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
    return noisy, sigma


def fit(people, *, aggregate, rho=None, rng=None, most=MOST):
    """Return the fit of a cohort, with the noise of so much zCDP or with none."""
    to = world(most=most)
    rows = DescentRows(aggregate, columns_of(people, aggregate=aggregate), dataset=to)
    moved = scale_of(aggregate, dataset=to).l2_squared
    sigma = 1e-3 if rho is None else math.sqrt(moved / (2 * rho))
    answers = in_rounds(rows, aggregate=aggregate, sigma=sigma, to=to, rng=rng)
    return fitted(aggregate, answers, sigma=sigma, dataset=to)


def coverage(make, truth, *, aggregate, n, rho, runs, seed):
    """Return per coefficient how often its interval holds the truth, and how often there is one."""
    rng = np.random.default_rng(seed)
    held, shown = np.zeros(len(truth)), np.zeros(len(truth))
    for _ in range(runs):
        found = fit(make(n, rng), aggregate=aggregate, rho=rho, rng=rng)
        error = 1.96 * np.sqrt(np.maximum(found.sampling, 0) + found.noise)
        given = (found.drowned <= DROWNED) & found.usable
        held += given & (np.abs(found.coefficients - truth) < error)
        shown += given
    return held / np.maximum(shown, 1), shown / runs


def weights_of(terms):
    """Return the weight of each row by exact moments: min(1, C/norm)."""
    slopes = terms[:, 1:] - terms[:, 1:].mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(slopes.T, bias=True))
    norms = np.sqrt(1 + ((slopes @ (vectors / np.sqrt(values))) ** 2).sum(axis=1))
    return np.minimum(1, math.sqrt(terms.shape[1]) / norms)
