"""Tumult Analytics on Spark: ε = 1 in pure DP, or in zCDP the ρ that is ε = 1 at δ = 1e-6.

A query takes seconds of Spark, so all runs are one: the patients of each run are others, the run
is a public key, and each key's answer has the noise of a query by itself (one row is in one run).
"""

import math
import os
import sys
import tempfile

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.chdir(tempfile.mkdtemp())

import pandas as pd
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

from cohorts import equal_guarantee as eq

RUNS = int(sys.argv[1])
TABLES = eq.world()
PEOPLE, VISITS, TRIAL = TABLES["people"], TABLES["visits"], TABLES["trial"]
EXACT = eq.sex_and_label(PEOPLE)
SPARK = (
    SparkSession.builder.master("local[2]")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .config("spark.sql.execution.arrow.pyspark.enabled", "true")
    .getOrCreate()
)
SPARK.sparkContext.setLogLevel("OFF")
LOG = math.log(1e6)
RHO = (math.sqrt(LOG + 1) - math.sqrt(LOG)) ** 2
"""ρ + 2·√(ρ·ln(1/δ)) = 1, the conversion its documents name."""
BUDGETS = {"Laplace": (PureDPBudget, 1.0), "Gaussian": (RhoZCDPBudget, RHO)}


def repeated(columns):
    frame = pd.DataFrame(columns)
    runs = pd.concat([frame.assign(run=run) for run in range(RUNS)], ignore_index=True)
    return SPARK.createDataFrame(runs)


FRAMES = {
    "people": repeated(
        {
            "age": PEOPLE["age"],
            "bin": PEOPLE["bin"],
            "sex": [eq.SEXES.index(sex) for sex in PEOPLE["sex"]],
            "pressure": PEOPLE["pressure"],
            "bmi": PEOPLE["bmi"],
            "cost": PEOPLE["cost"],
        }
        | {f"cell{i}": places for i, places in enumerate(EXACT)}
    ).cache(),
    "trial": repeated(
        {"cell": [eq.cell(d, s) for d, s in zip(TRIAL["days"], TRIAL["status"], strict=True)]}
    ).cache(),
}


def asked(way, table, query, by, keys, share=1.0):
    """Return the answers of all runs: run → numbers in the order of the keys."""
    kind, amount = BUDGETS[way]
    session = Session.from_dataframe(
        kind(float("inf")), "rows", FRAMES[table], protected_change=AddOneRow()
    )
    groups = {"run": list(range(RUNS))} | ({by: list(range(keys))} if by else {})
    frame = session.evaluate(
        query(QueryBuilder("rows"), KeySet.from_dict(groups)), kind(amount * share)
    ).toPandas()
    frame = frame.sort_values(list(groups))
    return frame.iloc[:, -1].to_numpy().reshape(RUNS, -1).tolist()


def counts(way, table, by, keys, share=1.0):
    return asked(way, table, lambda q, groups: q.groupby(groups).count(), by, keys, share)


def means(way, column, bounds, by=None, keys=1, share=1.0):
    return asked(way, "people", lambda q, g: q.groupby(g).average(column, *bounds), by, keys, share)


def quartiles(way, column, bounds, by=None, keys=1, share=1.0):
    """Return lower quartile, median and upper quartile of each group in turn."""
    three = [
        asked(
            way,
            "people",
            lambda q, g, at=at: q.groupby(g).quantile(column, at, *bounds),
            by,
            keys,
            share / 3,
        )
        for at in (0.25, 0.5, 0.75)
    ]
    return [
        [q for of_group in zip(*each, strict=True) for q in of_group]
        for each in zip(*three, strict=True)
    ]


def fees(way):
    """The months' means of those with three visits: rows of an id, bounded by its constraints."""
    kind, amount = BUDGETS[way]
    frame = repeated(
        {
            "id": VISITS["person_id"],
            "month": [eq.MONTHS.index(day[:7]) for day in VISITS["day"]],
            "fee": VISITS["fee"],
        }
    ).selectExpr("id + 100000 * run AS id", "run", "24 * run + month AS cell", "fee")
    session = Session.from_dataframe(
        kind(float("inf")), "rows", frame, protected_change=AddRowsWithID("id")
    )
    query = (
        QueryBuilder("rows")
        .enforce(MaxGroupsPerID("cell", eq.VISITS))
        .enforce(MaxRowsPerGroupPerID("cell", 1))
        .groupby(KeySet.from_dict({"cell": list(range(24 * RUNS))}))
        .average("fee", *eq.FEE)
    )
    found = session.evaluate(query, kind(amount)).toPandas().sort_values("cell")
    return found.iloc[:, -1].to_numpy().reshape(RUNS, 24).tolist()


def table(way):
    share = 1 / eq.SHARE
    columns = [
        counts(way, "people", f"cell{i}", max(places) + 1, share) for i, places in enumerate(EXACT)
    ]
    labels = [eq.in_order(each) for each in zip(*columns, strict=True)]
    return {
        "labels": labels,
        "shares": [eq.shares_of(each) for each in labels],
        "means": means(way, "pressure", eq.PRESSURE, "sex", 2, share),
        "quartiles": quartiles(way, "bmi", eq.BMI, "sex", 2, share),
    }


def one_by_one(ask):
    """Return a function that gives the answers of the runs one after the other."""
    left: list[dict] = []

    def following():
        if not left:
            found = ask()
            left.extend(
                dict(zip(found, each, strict=True)) for each in zip(*found.values(), strict=True)
            )
        return left.pop()

    return following


def ways(way):
    old = lambda q, g: q.filter("age >= 65").groupby(g).count()  # noqa: E731
    asks = {
        "count": lambda: {"count": asked(way, "people", old, None, 1)},
        "histogram": lambda: {"cells": counts(way, "people", "bin", eq.BINS)},
        "mean": lambda: {"mean": means(way, "pressure", eq.PRESSURE)},
        "survival": lambda: {
            "curve": [
                eq.curve_of_cells(cells) for cells in counts(way, "trial", "cell", 2 * eq.TIMES + 1)
            ]
        },
        "points": lambda: {"quartiles": quartiles(way, "cost", eq.COST)},
        "table-1": lambda: table(way),
        "series": lambda: {"means": fees(way)},
    }
    return {f"{task} {way}": one_by_one(ask) for task, ask in asks.items()}


eq.answer(ways("Laplace") | ways("Gaussian"))
