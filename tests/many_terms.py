"""A cohort of forty terms, half numbers and half conditions, each like the one before; no patient
is behind it."""

import math
from dataclasses import replace

import numpy as np

from confide.plans.rounds.descent import next_ask, walk
from confide.plans.rounds.wide import next_wide_ask, walk_widely
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_terms import UNIT
from confide.tables.aggregates.wide_models.scale import wide_scale_of
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.schema import Column, Kind, Table
from models import AGGREGATE
from models import world as models_world

TERMS, STEPS = 40, 1000
NAMES = tuple(f"{'x' if place % 2 == 0 else 'c'}{place}" for place in range(TERMS))
ILL = IsIn(of=ColumnOf(table="people", column="ill"), values=(1,))
MANY_TERMS = replace(
    AGGREGATE,
    covariates=tuple(ColumnOf(table="people", column=name) for name in NAMES),
    outcome=Holds(of=ILL),
)
SLOPES = np.array(
    [(-1) ** (place // 3) * (0.8 if place % 2 == 0 else 0.35) for place in range(TERMS)]
)


def _column(name):
    if name.startswith("x"):
        return Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=STEPS)
    codes = (("0", 0), ("1", 1))
    return Column(
        name=name, kind=Kind.CATEGORY, source=name, upper=1, keys=("no", "yes"), codes=codes
    )


def wide_world(**beside):
    """Return the public facts."""
    columns = tuple(_column(name) for name in (*NAMES, "ill"))
    people = Table(name="people", source="people", columns=columns, one_row_per_patient=True)
    return replace(models_world(**beside), tables=(people,))


def many_terms(n, rng):
    """Return columns as an engine gives them, terms of shape (n, 1 + TERMS), and outcomes."""
    normal = rng.normal(size=(n, TERMS))
    for j in range(1, TERMS):
        normal[:, j] = normal[:, j - 1] / 2 + math.sqrt(3) / 2 * normal[:, j]
    steps = np.clip(np.rint((1 + normal / 3) * STEPS / 2), 0, STEPS).astype(np.int64)
    steps[:, 1::2] = normal[:, 1::2] > 0.6
    x = steps.astype(np.float64)
    x[:, ::2] = 2 * x[:, ::2] / STEPS - 1
    x = np.column_stack([np.ones(n), x])
    score = x[:, 1:] @ SLOPES
    ill = (rng.random(n) < 1 / (1 + np.exp(1.4 - score))).astype(np.int64)
    columns = {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}
    columns |= {f"e{j}": steps[:, j] for j in range(TERMS)} | {f"e{TERMS}": ill}
    return columns, x, ill


def _following(aggregate, noisy, *, sigma, to):
    if aggregate.wide:
        return next_wide_ask(wide_scale_of(aggregate, dataset=to), noisy, sigma=sigma)
    return next_ask(aggregate, noisy, sigma=sigma, dataset=to)


def answered(aggregate, rows, *, sigma, to, rng=None, most=None):
    """Return noisy answers, without noise where there is no generator; the first ones alone."""
    noisy = ()
    while (most is None or len(noisy) < most) and (
        ask := _following(aggregate, noisy, sigma=sigma, to=to)
    ):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return noisy


def predicting(aggregate, columns, *, rho, rng):
    """Return the coefficients that predict, of terms, as the gate would have them at a loss."""
    to = wide_world()
    sigma = math.sqrt(descent_sensitivity(aggregate, dataset=to).l2_squared / (2 * rho))
    rows = DescentRows(aggregate, columns, dataset=to)
    noisy = answered(aggregate, rows, sigma=sigma, to=to, rng=rng)
    if aggregate.wide:
        return walk_widely(wide_scale_of(aggregate, dataset=to), noisy, sigma=sigma).coefficients
    walked = walk(aggregate, noisy, sigma=sigma, dataset=to)
    return walked.whitened.matrix @ walked.theta / UNIT


def auc(scores, ill):
    """Return the share of pairs of different outcome that are ranked right."""
    places = np.empty(len(scores))
    places[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    having = int(ill.sum())
    ranks = places[ill == 1].sum() - having * (having + 1) / 2
    return float(ranks / (having * (len(ill) - having)))


def slope(scores, ill):
    """Return the calibration slope, by Newton's steps."""
    q, line = np.column_stack([np.ones(len(scores)), scores]), np.zeros(2)
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(q @ line, -30, 30)))
        line = line + np.linalg.solve((q * (p * (1 - p))[:, None]).T @ q, q.T @ (ill - p))
    return float(line[1])
