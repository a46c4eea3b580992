"""diffprivlib: pure ε = 1.  It bounds nobody's rows, so ε = ⅓ where a patient has three.

Its means take the number of rows as public, which is a weaker promise than the others make.
"""

import math
import warnings

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression
from diffprivlib.tools import count_nonzero, histogram
from diffprivlib.tools import mean as private_mean
from diffprivlib.tools import quantile as private_quantile

from cohorts import equal_guarantee as eq

warnings.simplefilter("ignore")
TABLES = eq.world()
PEOPLE = {name: np.array(values) for name, values in TABLES["people"].items()}
VISITS, TRIAL = TABLES["visits"], TABLES["trial"]
EXACT = eq.sex_and_label(TABLES["people"])
CELLS = [eq.cell(d, s) for d, s in zip(TRIAL["days"], TRIAL["status"], strict=True)]
MONTHS = np.array([eq.MONTHS.index(day[:7]) for day in VISITS["day"]])
FEES = np.array(VISITS["fee"])
TERMS = np.column_stack([PEOPLE["age"], PEOPLE["bmi"], PEOPLE["sex"] == "male"]).astype(float)
BOUNDS = np.array([[*eq.AGE], [*eq.BMI], [0, 1]], dtype=float).T
CENTRE, HALF = BOUNDS.mean(axis=0), (BOUNDS[1] - BOUNDS[0]) / 2
QUARTERS = (0.25, 0.5, 0.75)


def counts(places, size, epsilon=1.0):
    found, _ = histogram(places, epsilon=epsilon, bins=size, range=(-0.5, size - 0.5))
    return found.tolist()


def quartiles(values, epsilon, bounds):
    return [private_quantile(values, q, epsilon=epsilon / 3, bounds=bounds) for q in QUARTERS]


def table():
    share = 1 / eq.SHARE
    labels = eq.in_order([counts(places, max(places) + 1, share) for places in EXACT])
    own = [PEOPLE["sex"] == sex for sex in eq.SEXES]
    return {
        "labels": labels,
        "shares": eq.shares_of(labels),
        "means": [
            private_mean(PEOPLE["pressure"][rows], epsilon=share, bounds=eq.PRESSURE)
            for rows in own
        ],
        "quartiles": [q for rows in own for q in quartiles(PEOPLE["bmi"][rows], share, eq.BMI)],
    }


def linear(columns):
    model = LinearRegression(
        epsilon=1.0,
        bounds_X=(BOUNDS[0][columns], BOUNDS[1][columns]),
        bounds_y=tuple(map(float, eq.PRESSURE)),
    )
    model.fit(TERMS[:, columns], PEOPLE["pressure"].astype(float))
    return {"coefficients": [float(np.ravel(model.intercept_)[0]), *np.ravel(model.coef_)]}


def logistic():
    model = LogisticRegression(epsilon=1.0, data_norm=math.sqrt(3))
    model.fit((TERMS - CENTRE) / HALF, PEOPLE["diabetes"] == "yes")
    slopes = model.coef_[0] / HALF
    return {"coefficients": [model.intercept_[0] - slopes @ CENTRE, *slopes]}


eq.answer(
    {
        "count Laplace": lambda: {"count": [count_nonzero(PEOPLE["age"] >= 65, epsilon=1.0)]},
        "histogram Laplace": lambda: {"cells": counts(PEOPLE["bin"], eq.BINS)},
        "mean Laplace": lambda: {
            "mean": [private_mean(PEOPLE["pressure"], epsilon=1.0, bounds=eq.PRESSURE)]
        },
        "survival Laplace": lambda: {"curve": eq.curve_of_cells(counts(CELLS, 2 * eq.TIMES + 1))},
        "points exponential": lambda: {"quartiles": quartiles(PEOPLE["cost"], 1.0, eq.COST)},
        "table-1 Laplace": table,
        "series Laplace": lambda: {
            "means": [
                private_mean(FEES[month == MONTHS], epsilon=1 / eq.VISITS, bounds=eq.FEE)
                for month in range(24)
            ]
        },
        "line functional": lambda: linear([0]),
        "linear functional": lambda: linear([0, 1, 2]),
        "logistic objective": logistic,
    }
)
