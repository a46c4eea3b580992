"""One small town on which every kind of statistic is asked."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

PATIENTS = 60
ILL = {"table": "people", "of": {"ill": ["yes"]}}
SEVERAL = {"table": "visits", "over": "day", "per-patient": {"cells": 2, "rows": 1}}
STUDIES = {
    "count": {"table": "people"},
    "histogram": {"table": "people", "by": ["dose"]},
    "sum": {"table": "people", "column": "age"},
    "mean": {"table": "people", "column": "age", "by": ["sex"]},
    "variance": {"table": "people", "column": "age"},
    "proportion": {**ILL, "by": ["sex"]},
    "quantiles": {"table": "people", "column": "age", "bins": 8},
    "key-selection": {
        "table": "visits",
        "key": "ward",
        "per-patient": {"cells": 2},
        "delta": "1e-7",
    },
    "table-1": {"table": "people", "variables": ["age", "ill"], "by": ["sex"]},
    "data-quality": {"table": "people", "fields": ["sex", "age"]},
    "incidence": {**ILL, "time": "days", "by": ["sex"], "compare": "male"},
    "standardized-rate": {**ILL, "strata": ["sex"], "standard": {"female": "1", "male": "1"}},
    "smr": {**ILL, "time": "days", "reference": "10"},
    "weighted-proportion": ILL,
    "weighted-mean": {"table": "people", "column": "age"},
    "survival": {
        "table": "people",
        "time": "days",
        "status": "ill",
        "censored": "no",
        "by": ["sex"],
        "until": "1000",
        "bins": 4,
    },
    "chi-squared-test": {"table": "people", "by": ["sex", "ill"]},
    "two-proportions-test": {**ILL, "by": ["sex"]},
    "trend-test": {**ILL, "by": ["dose"]},
    "two-means-test": {"table": "people", "column": "age", "by": ["sex"]},
    "median-difference": {"table": "people", "column": "age", "by": ["sex"], "bins": 8},
    "linear-regression": {"table": "people", "outcome": "days", "covariates": ["age", "sex"]},
    "logistic-regression": {**ILL, "covariates": ["age", "sex"]},
    "multinomial-regression": {
        "table": "people",
        "outcome": "dose",
        "reference": "low",
        "covariates": ["age", "sex"],
    },
    "poisson-regression": {"table": "people", "events": "falls", "covariates": ["age", "sex"]},
    "hazard-regression": {**ILL, "covariates": ["age"], "time": "days", "edges": [0, 500, 1000]},
    "degree-histogram": {"table": "contacts", "persons": "people", "at-most": 4},
    "hierarchy": {"table": "people", "spine": "town"},
    "area-rate": {**ILL, "spine": "town", "denominator": "rows", "per": 100},
    "series": {**SEVERAL, "column": "cost", "every": "month"},
    "running-counts": {**SEVERAL, "every": "month", "count": "events"},
    "top-category": {"table": "visits", "by": ["code"], "per-patient": {"cells": 2}, "size": 2},
    "top-features": {"table": "people", "features": ["age", "falls"], "outcome": "days"},
}
GAUSSIAN_ALONE = {
    "logistic-regression",
    "multinomial-regression",
    "poisson-regression",
    "hazard-regression",
}


def dataset(*, measure):
    return {
        "dataset": {"id": "town", "lineage": "town", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": measure, "delta": "1e-6", "selection-delta": "1e-7"},
        "caps": {"release": {"epsilon": "700"}, "lifetime": {"epsilon": "1000000"}},
        "population-at-most": "1000",
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "weight": "weight",
                "columns": {
                    "sex": {"categories": ["female", "male"]},
                    "ill": {"categories": ["no", "yes"]},
                    "dose": {"categories": ["low", "mid", "high"]},
                    "ward": {"categories": ["east", "west", "north"]},
                    "age": {"kind": "number", "lower": 0, "upper": 100, "unit": "a"},
                    "days": {"kind": "number", "lower": 0, "upper": 1000, "unit": "d"},
                    "falls": {"kind": "number", "lower": 0, "upper": 4},
                    "weight": {"kind": "number", "lower": 0, "upper": 2},
                },
            },
            "visits": {
                "columns": {
                    "day": {"kind": "date", "lower": "2025-01-01", "upper": "2025-06-30"},
                    "code": {"categories": ["I10", "E11", "J45"]},
                    "ward": {"kind": "text"},
                    "cost": {"kind": "number", "lower": 0, "upper": 1000},
                }
            },
            "contacts": {
                "other-id": "other",
                "columns": {"place": {"categories": ["home", "work"]}},
            },
        },
        "spines": {
            "town": {
                "levels": ["ward", "bank"],
                "areas": {"east": ["left"], "west": ["left"], "north": ["right"]},
                "source": "atlas",
            }
        },
    }


def frames():
    who = np.arange(PATIENTS)
    visits = np.repeat(who, 2)
    return {
        "people": pd.DataFrame(
            {
                "pid": who,
                "sex": np.where(who % 2, "male", "female"),
                "ill": np.where(who % 5, "no", "yes"),
                "dose": np.array(["low", "mid", "high"])[who % 3],
                "ward": np.array(["east", "west", "north"])[who % 3],
                "age": who % 90,
                "days": 100 + 10 * (who % 70),
                "falls": who % 4,
                "weight": 1.0,
            }
        ),
        "visits": pd.DataFrame(
            {
                "pid": visits,
                "day": pd.Timestamp("2025-01-05") + pd.to_timedelta(visits, unit="D"),
                "code": np.array(["I10", "E11", "J45"])[visits % 3],
                "ward": np.array(["east", "west"])[visits % 2],
                "cost": visits,
            }
        ),
        "contacts": pd.DataFrame({"pid": who, "other": (who + 1) % PATIENTS, "place": "home"}),
    }
