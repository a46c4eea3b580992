"""PipelineDP on its local backend: ε = 1, Laplace noise, public partitions.

One line of its budget is one ``aggregate``; its mean and its percentiles divide theirs inside.
"""

import pipeline_dp

from cohorts import equal_guarantee as eq

TABLES = eq.world()
PEOPLE, VISITS, TRIAL = TABLES["people"], TABLES["visits"], TABLES["trial"]
EXACT = eq.sex_and_label(PEOPLE)
CELLS = [eq.cell(d, s) for d, s in zip(TRIAL["days"], TRIAL["status"], strict=True)]
MONTHS = [eq.MONTHS.index(day[:7]) for day in VISITS["day"]]
SEX = [eq.SEXES.index(sex) for sex in PEOPLE["sex"]]
METRICS = pipeline_dp.Metrics
QUARTERS = [METRICS.PERCENTILE(25), METRICS.PERCENTILE(50), METRICS.PERCENTILE(75)]
OLD = [int(age >= 65) for age in PEOPLE["age"]]


def asked(metrics, places, keys, *, epsilon=1.0, values=None, bounds=(0, 1), ids=None, most=1):
    """Return each partition's answer, in the order of the keys."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    rows = list(zip(ids or range(len(places)), places, values or [1] * len(places), strict=True))
    params = pipeline_dp.AggregateParams(
        metrics=metrics,
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=most,
        max_contributions_per_partition=1,
        min_value=bounds[0],
        max_value=bounds[1],
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    lazy = engine.aggregate(rows, params, extractors, public_partitions=list(range(keys)))
    accountant.compute_budgets()
    found = dict(lazy)
    return [found[key] for key in range(keys)]


def counts(places, keys, epsilon=1.0):
    return [row.count for row in asked([METRICS.COUNT], places, keys, epsilon=epsilon)]


def means(places, keys, values, bounds, **how):
    found = asked([METRICS.MEAN], places, keys, values=values, bounds=bounds, **how)
    return [row.mean for row in found]


def quartiles(places, keys, values, bounds, epsilon):
    found = asked(QUARTERS, places, keys, values=values, bounds=bounds, epsilon=epsilon)
    return [q for row in found for q in (row.percentile_25, row.percentile_50, row.percentile_75)]


def table():
    share = 1 / eq.SHARE
    labels = eq.in_order([counts(places, max(places) + 1, share) for places in EXACT])
    return {
        "labels": labels,
        "shares": eq.shares_of(labels),
        "means": means(SEX, 2, PEOPLE["pressure"], eq.PRESSURE, epsilon=share),
        "quartiles": quartiles(SEX, 2, PEOPLE["bmi"], eq.BMI, share),
    }


eq.answer(
    {
        "count Laplace": lambda: {"count": counts(OLD, 2)[1:]},
        "histogram Laplace": lambda: {"cells": counts(PEOPLE["bin"], eq.BINS)},
        "mean Laplace": lambda: {
            "mean": means([0] * eq.PATIENTS, 1, PEOPLE["pressure"], eq.PRESSURE)
        },
        "survival Laplace": lambda: {"curve": eq.curve_of_cells(counts(CELLS, 2 * eq.TIMES + 1))},
        "points tree": lambda: {
            "quartiles": quartiles([0] * eq.PATIENTS, 1, PEOPLE["cost"], eq.COST, 1.0)
        },
        "table-1 Laplace": table,
        "series Laplace": lambda: {
            "means": means(
                MONTHS, 24, VISITS["fee"], eq.FEE, ids=VISITS["person_id"], most=eq.VISITS
            )
        },
    }
)
