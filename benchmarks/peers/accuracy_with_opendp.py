"""OpenDP, by its framework: one row a patient (three in the series), ε = 1, or ε = 1 at δ = 1e-6.

Each task by Laplace noise, and once more by Gaussian noise for the ρ that its own conversion gives.
Sums are of values centred by hand, which no page of it does but which is the better way.
"""

import math

import numpy as np
import opendp.prelude as dp

from cohorts import equal_guarantee as eq

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
TABLES = eq.world()
PEOPLE, VISITS, TRIAL = TABLES["people"], TABLES["visits"], TABLES["trial"]
DELTA = 1e-6
SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
VECTOR = dp.vector_domain(dp.atom_domain(T=int))


def sigma():
    """Return the scale of the Gaussian noise of a sensitivity of 1 at (ε, δ) = (1, 1e-6)."""

    def made(scale):
        noisy = SPACE >> dp.t.then_count() >> dp.m.then_gaussian(scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy), DELTA)

    return dp.binary_search_param(made, d_in=1, d_out=(1.0, DELTA), bounds=(0.1, 100.0))


SIGMA = sigma()
RHO = 1 / (2 * SIGMA**2)


class Pure:
    """Shares of ε, and Laplace noise."""

    measure = dp.max_divergence()
    budget = 1.0

    def noisy(self, vector, *, share, one, norms=(1, 1)):
        """Add noise for a patient who moves ``norms`` (L1, squared L2) times ``one``."""
        noise = dp.m.make_laplace(VECTOR, dp.l1_distance(T=int), norms[0] * one / share)
        return noise([round(x) for x in vector])


class Concentrated:
    """Shares of ρ, and Gaussian noise."""

    measure = dp.zero_concentrated_divergence()
    budget = RHO

    def noisy(self, vector, *, share, one, norms=(1, 1)):
        scale = one * math.sqrt(norms[1] / (2 * RHO * share))
        noise = dp.m.make_gaussian(VECTOR, dp.l2_distance(T=float), scale)
        return noise([round(x) for x in vector])


def counted(places, size):
    return np.bincount(places, minlength=size).tolist()


def sums(values, places, size, bounds):
    centre = sum(bounds) // 2
    return np.bincount(places, np.array(values) - centre, minlength=size).tolist()


def means(total, count, bounds):
    return [sum(bounds) // 2 + t / max(1.0, n) for t, n in zip(total, count, strict=True)]


def quantile(way, candidates, alpha, share):
    def made(scale):
        return SPACE >> dp.m.then_private_quantile(way.measure, candidates, alpha, scale)

    return dp.binary_search_chain(
        made, d_in=1, d_out=share * way.budget, bounds=(1e-3, 1e6), T=float
    )


def theil_sen(way):
    def made(scale):
        return dp.sklearn.linear_model.LinearRegression(
            way.measure, [tuple(map(float, eq.AGE))], tuple(map(float, eq.PRESSURE)), scale
        ).measurement

    return dp.binary_search_chain(made, d_in=1, d_out=way.budget, bounds=(1e-3, 1e6), T=float)


def ways(way, name):
    old = sum(age >= 65 for age in PEOPLE["age"])
    bins = counted(PEOPLE["bin"], eq.BINS)
    cells = counted(
        [eq.cell(d, s) for d, s in zip(TRIAL["days"], TRIAL["status"], strict=True)],
        2 * eq.TIMES + 1,
    )
    months = [eq.MONTHS.index(day[:7]) for day in VISITS["day"]]
    even = list(range(0, eq.COST[1] + 1, 10))
    grids = {"10,001 even candidates": even} | {
        f"{size:,} logarithmic candidates": sorted(
            {round(math.exp(x)) for x in np.linspace(0, math.log(eq.COST[1]), size)}
        )
        for size in (400, 4_000)
    }
    exact = eq.sex_and_label(PEOPLE)
    sexes = [eq.SEXES.index(sex) for sex in PEOPLE["sex"]]
    bmi = [[b for b, s in zip(PEOPLE["bmi"], sexes, strict=True) if s == at] for at in range(2)]
    points = np.array([PEOPLE["age"], PEOPLE["pressure"]], dtype=float).T
    cuts = {
        grid: [quantile(way, grid_of, q, 1 / 3) for q in (0.25, 0.5, 0.75)]
        for grid, grid_of in grids.items()
    }
    wide = [quantile(way, list(range(*eq.BMI)), q, 1 / (3 * eq.SHARE)) for q in (0.25, 0.5, 0.75)]
    line = theil_sen(way)
    pressures = sums(PEOPLE["pressure"], sexes, 2, eq.PRESSURE)
    half = (eq.PRESSURE[1] - eq.PRESSURE[0]) // 2
    squared = [(p - sum(eq.PRESSURE) // 2) ** 2 for p in PEOPLE["pressure"]]
    squares = np.bincount(sexes, squared, minlength=2).tolist()
    visited, fees = counted(months, 24), sums(VISITS["fee"], months, 24, eq.FEE)

    def mean():
        total = way.noisy([sum(pressures)], share=1 / 2, one=100)
        return {"mean": means(total, way.noisy([eq.PATIENTS], share=1 / 2, one=1), eq.PRESSURE)}

    def table():
        by_column = [
            way.noisy(counted(places, max(places) + 1), share=1 / eq.SHARE, one=1)
            for places in exact
        ]
        labels = eq.in_order(by_column)
        of_sex = eq.of_sex(labels)
        total = way.noisy(pressures, share=1 / (2 * eq.SHARE), one=half)
        square = way.noisy(squares, share=1 / (2 * eq.SHARE), one=half * half)
        return {
            "labels": labels,
            "shares": eq.shares_of(labels),
            "means": means(total, of_sex, eq.PRESSURE),
            "sds": [eq.sd_of(*each) for each in zip(total, square, of_sex, strict=True)],
            "quartiles": [each(values) for values in bmi for each in wide],
        }

    def series():
        norms = (eq.VISITS, eq.VISITS)
        total = way.noisy(fees, share=1 / 2, one=500, norms=norms)
        return {"means": means(total, way.noisy(visited, share=1 / 2, one=1, norms=norms), eq.FEE)}

    def fitted():
        slope, intercept = line(points)
        return {"coefficients": [intercept, slope]}

    return {
        f"count {name}": lambda: {"count": way.noisy([old], share=1, one=1)},
        f"histogram {name}": lambda: {"cells": way.noisy(bins, share=1, one=1)},
        f"mean {name}": mean,
        f"survival {name}": lambda: {"curve": eq.curve_of_cells(way.noisy(cells, share=1, one=1))},
        **{
            f"points {name}, {grid}": lambda each=each: {
                "quartiles": [q(PEOPLE["cost"]) for q in each]
            }
            for grid, each in cuts.items()
        },
        f"table-1 {name}": table,
        f"series {name}": series,
        f"line {name}": fitted,
    }


eq.answer(ways(Pure(), "Laplace") | ways(Concentrated(), "Gaussian"))
