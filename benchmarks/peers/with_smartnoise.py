"""SmartNoise SQL on DuckDB, through its PostgreSQL dialect: five events a patient, ε = 1.

It has no DuckDB reader: the one here hands its SQL to DuckDB.  ε is split by hand, since it is
meant per column.
"""

import sys

import duckdb
from snsql import Privacy
from snsql.metadata import Metadata
from snsql.sql import PrivateReader
from snsql.sql.reader.postgres import PostgresReader
from worker import serve

DATA = {
    "": {
        "public": {
            "events": {
                "max_ids": 5,
                "sample_max_ids": True,
                "censor_dims": False,
                "clamp_counts": False,
                "rows": 10**7,
                "person_id": {"name": "person_id", "type": "int", "private_id": True},
                "code": {"name": "code", "type": "int"},
                "site": {"name": "site", "type": "int"},
                "visit_day": {"name": "visit_day", "type": "string"},
                "drug": {"name": "drug", "type": "string"},
                "value": {"name": "value", "type": "float", "lower": 40.0, "upper": 260.0},
            }
        }
    }
}


class OnDuckDB(PostgresReader):
    """Runs the reader's SQL on DuckDB."""

    def __init__(self, file):
        super().__init__(conn=duckdb.connect())
        self.conn.execute("SET threads = 2")
        self.conn.execute("CREATE SCHEMA IF NOT EXISTS public")
        self.conn.execute(f"CREATE VIEW public.events AS SELECT * FROM '{file}'")

    def execute(self, query, *_, **__):
        sql = str(query).replace("ORDER BY RANDOM ( )", "ORDER BY drawn")  # DuckDB refuses it there
        inner = " FROM public.events ) AS clamped"
        done = self.conn.execute(sql.replace(inner, f", RANDOM() AS drawn{inner}"))
        return [tuple(column[0] for column in done.description), *done.fetchall()]


def reader(epsilon, *, censor=False):
    data = {**DATA[""]["public"]["events"], "censor_dims": censor}
    metadata = Metadata.from_dict({"": {"public": {"events": data}}})
    return PrivateReader(READER, metadata, privacy=Privacy(epsilon=epsilon, delta=1e-6))


READER = OnDuckDB(sys.argv[1])


def histogram():
    rows = reader(1.0).execute("SELECT code, COUNT(*) AS n FROM public.events GROUP BY code")
    return {str(code): n for code, n in rows[1:]}


def means(by):
    sql = f"SELECT {by}, SUM(value) AS s, COUNT(*) AS n FROM public.events GROUP BY {by}"
    return {str(key): total / n for key, total, n in reader(0.5).execute(sql)[1:] if n}


def keys():
    sql = "SELECT drug, COUNT(DISTINCT person_id) AS n FROM public.events GROUP BY drug"
    return {"keys": len(reader(1.0, censor=True).execute(sql)) - 1}


serve(
    {
        "histogram": histogram,
        "mean": lambda: means("site"),
        "daily": lambda: means("visit_day"),
        "keys": keys,
    }
)
