"""SmartNoise SQL on DuckDB: ε = 1 at δ = 1e-6, split by hand, since it is meant per column.

Sums are of columns that are centred beforehand, which is the better way.  It has no quantiles.
"""

import re

import duckdb
import pandas as pd
from snsql import Privacy
from snsql.metadata import Metadata
from snsql.sql import PrivateReader
from snsql.sql.reader.postgres import PostgresReader

from cohorts import equal_guarantee as eq

TABLES = eq.world()
PEOPLE, VISITS, TRIAL = TABLES["people"], TABLES["visits"], TABLES["trial"]
CENTRE, MIDDLE = sum(eq.PRESSURE) // 2, sum(eq.FEE) // 2
EXACT = eq.sex_and_label(PEOPLE)
FRAMES = {
    "people": pd.DataFrame(
        {
            "person_id": PEOPLE["person_id"],
            "age": PEOPLE["age"],
            "bin": PEOPLE["bin"],
            "sex": [eq.SEXES.index(sex) for sex in PEOPLE["sex"]],
            "pressure": [p - CENTRE for p in PEOPLE["pressure"]],
            "squared": [(p - CENTRE) ** 2 for p in PEOPLE["pressure"]],
        }
        | {f"cell{i}": places for i, places in enumerate(EXACT)}
    ),
    "visits": pd.DataFrame(
        {
            "person_id": VISITS["person_id"],
            "in_month": [eq.MONTHS.index(day[:7]) for day in VISITS["day"]],
            "fee": [fee - MIDDLE for fee in VISITS["fee"]],
        }
    ),
    "trial": pd.DataFrame(
        {
            "person_id": TRIAL["person_id"],
            "cell": [eq.cell(d, s) for d, s in zip(TRIAL["days"], TRIAL["status"], strict=True)],
        }
    ),
}
BOUNDS = {
    "pressure": {"lower": eq.PRESSURE[0] - CENTRE, "upper": eq.PRESSURE[1] - CENTRE},
    "squared": {"lower": 0, "upper": (eq.PRESSURE[1] - CENTRE) ** 2},
    "fee": {"lower": eq.FEE[0] - MIDDLE, "upper": eq.FEE[1] - MIDDLE},
}


INNER = re.compile(r"( FROM public\.\w+(?: WHERE [^()]*)? \) AS clamped)")


class OnDuckDB(PostgresReader):
    """Runs the reader's SQL on DuckDB."""

    def __init__(self):
        super().__init__(conn=duckdb.connect())
        self.conn.execute("CREATE SCHEMA IF NOT EXISTS public")
        for name, frame in FRAMES.items():
            self.conn.register(f"{name}_frame", frame)
            self.conn.execute(f"CREATE TABLE public.{name} AS SELECT * FROM {name}_frame")

    def execute(self, query, *_, **__):
        sql = str(query).replace("ORDER BY RANDOM ( )", "ORDER BY drawn")  # DuckDB refuses it there
        sql = INNER.sub(r", RANDOM() AS drawn\1", sql)
        done = self.conn.execute(sql)
        return [tuple(column[0] for column in done.description), *done.fetchall()]


def declared():
    return Metadata.from_dict(
        {
            "": {
                "public": {
                    name: {
                        "max_ids": eq.VISITS if name == "visits" else 1,
                        "sample_max_ids": True,
                        "censor_dims": False,
                        "clamp_counts": False,
                        "rows": len(frame),
                    }
                    | {
                        column: {"name": column, "type": "int"}
                        | ({"private_id": True} if column == "person_id" else {})
                        | BOUNDS.get(column, {})
                        for column in frame.columns
                    }
                    for name, frame in FRAMES.items()
                }
            }
        }
    )


READER, METADATA = OnDuckDB(), declared()


def rows(epsilon, sql):
    private = PrivateReader(READER, METADATA, privacy=Privacy(epsilon=epsilon, delta=1e-6))
    return private.execute(sql)[1:]


def counts(epsilon, column, size, table="people"):
    sql = f"SELECT {column}, COUNT(*) AS n FROM public.{table} GROUP BY {column}"
    found = dict(rows(epsilon, sql))
    return [found.get(i, 0) for i in range(size)]


def count():
    found = rows(1.0, "SELECT COUNT(*) AS n FROM public.people WHERE age >= 65")
    return {"count": [found[0][0]]}


def mean():
    ((total, n),) = rows(0.5, "SELECT SUM(pressure) AS s, COUNT(*) AS n FROM public.people")
    return {"mean": [CENTRE + total / n]}


def table():
    share = 1 / eq.SHARE
    labels = eq.in_order(
        [counts(share, f"cell{i}", max(places) + 1) for i, places in enumerate(EXACT)]
    )
    of_sex = eq.of_sex(labels)
    total, square = (
        dict(rows(share / 2, f"SELECT sex, SUM({of}) AS s FROM public.people GROUP BY sex"))
        for of in ("pressure", "squared")
    )
    return {
        "labels": labels,
        "shares": eq.shares_of(labels),
        "means": [CENTRE + total[at] / of_sex[at] for at in range(2)],
        "sds": [eq.sd_of(total[at], square[at], of_sex[at]) for at in range(2)],
    }


def series():
    sql = "SELECT in_month, SUM(fee) AS s, COUNT(*) AS n FROM public.visits GROUP BY in_month"
    found = {month: MIDDLE + total / max(1, n) for month, total, n in rows(0.5, sql)}
    return {"means": [found[month] for month in range(24)]}


eq.answer(
    {
        "count default": count,
        "histogram default": lambda: {"cells": counts(1.0, "bin", eq.BINS)},
        "mean default": mean,
        "survival default": lambda: {
            "curve": eq.curve_of_cells(counts(1.0, "cell", 2 * eq.TIMES + 1, "trial"))
        },
        "table-1 default": table,
        "series default": series,
    }
)
