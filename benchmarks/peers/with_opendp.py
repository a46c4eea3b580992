"""OpenDP's Polars interface: five events a patient, ε = 1 in every task."""

import datetime as dt
import sys
import warnings

import opendp.prelude as dp
import polars as pl
from worker import serve

warnings.simplefilter("ignore")
dp.enable_features("contrib")
FILE = sys.argv[1]
CODES = pl.LazyFrame({"code": pl.Series(range(100_000, 102_000), dtype=pl.Int32)})
SITES = pl.LazyFrame({"site": pl.Series(range(1, 21), dtype=pl.Int32)})
DAYS = pl.LazyFrame(
    {"visit_day": pl.Series([dt.date(2023, 1, 1) + dt.timedelta(i) for i in range(1095)])}
)
HALVES = [40 + i / 2 for i in range(441)]
TENTHS = pl.col("tenths").fill_null(1500)


def grouped(by, *, delta=None):
    loss = dp.loss_of(epsilon=1.0) if delta is None else dp.loss_of(epsilon=1.0, delta=delta)
    context = dp.Context.compositor(
        data=pl.scan_parquet(FILE),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person_id")),
        privacy_loss=loss,
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10**9)],
    )
    return context.query().truncate_per_group(5).group_by(by)


def histogram():
    rows = grouped("code").agg(dp.len()).with_keys(CODES).release().collect()
    return {str(code): n for code, n in rows.iter_rows()}


def means(by, keys):
    asked = grouped(by).agg(TENTHS.dp.sum((400, 2600)), dp.len()).with_keys(keys)
    rows = asked.release().collect()
    return {str(key): total / 10 / n for key, total, n in rows.iter_rows() if n}


def quartiles():
    value = pl.col("value").fill_null(150.0).fill_nan(150.0)
    three = [value.dp.quantile(a, HALVES).alias(str(a)) for a in (0.25, 0.5, 0.75)]
    rows = grouped("site").agg(*three).with_keys(SITES).release().collect()
    return {f"{site} {i}": q for site, *qs in rows.iter_rows() for i, q in enumerate(qs)}


def keys():
    return {"keys": grouped("drug", delta=1e-6).agg(dp.len()).release().collect().height}


serve(
    {
        "histogram": histogram,
        "mean": lambda: means("site", SITES),
        "daily": lambda: means("visit_day", DAYS),
        "quartiles": quartiles,
        "keys": keys,
    }
)
