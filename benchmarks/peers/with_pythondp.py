"""python-dp (Google's library): Laplace noise of its own on sums bounded by hand in pandas."""

import sys

import pandas as pd
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
from worker import serve

FILE = sys.argv[1]


def first_five(*names):
    rows = pd.read_parquet(FILE, columns=["person_id", *names])
    rows = rows.sample(frac=1.0)
    return rows[rows.groupby("person_id").cumcount() < 5]


def histogram():
    noise = LaplaceMechanism(1.0, 5.0)
    counts = (
        first_five("code")["code"].value_counts().reindex(range(100_000, 102_000), fill_value=0)
    )
    return {str(code): noise.add_noise(int(n)) for code, n in counts.items()}


def mean():
    rows = first_five("site", "value")
    rows["centred"] = rows["value"].clip(40, 260) - 150
    of = rows.groupby("site")["centred"].agg(["sum", "count"]).reindex(range(1, 21), fill_value=0)
    sums, counts = LaplaceMechanism(0.5, 5 * 110.0), LaplaceMechanism(0.5, 5.0)
    return {
        str(site): 150 + sums.add_noise(float(s)) / max(counts.add_noise(int(n)), 1)
        for site, s, n in of.itertuples()
    }


serve({"histogram": histogram, "mean": mean})
