"""diffprivlib, at the level of events (it bounds no patient): ε = 1; its noise is floating-point."""

import sys
import warnings

import pyarrow.parquet as pq
from diffprivlib.tools import histogram as dp_histogram
from diffprivlib.tools import mean as dp_mean
from diffprivlib.tools import quantile
from worker import serve

warnings.simplefilter("ignore")
FILE = sys.argv[1]


def columns(*names):
    table = pq.read_table(FILE, columns=list(names))
    return [table[name].to_numpy() for name in names]


def histogram():
    (codes,) = columns("code")
    counts, _ = dp_histogram(codes, epsilon=1.0, bins=2000, range=(99_999.5, 101_999.5))
    return {str(100_000 + i): int(n) for i, n in enumerate(counts)}


def by_site(answer):
    sites, values = columns("site", "value")
    return {site: answer(values[sites == site]) for site in range(1, 21)}


def mean():
    found = by_site(lambda values: dp_mean(values, epsilon=1.0, bounds=(40, 260)))
    return {str(site): float(value) for site, value in found.items()}


def quartiles():
    found = by_site(
        lambda values: [
            quantile(values, q, epsilon=1 / 3, bounds=(40, 260)) for q in (0.25, 0.5, 0.75)
        ]
    )
    return {f"{site} {i}": float(q) for site, qs in found.items() for i, q in enumerate(qs)}


serve({"histogram": histogram, "mean": mean, "quartiles": quartiles})
