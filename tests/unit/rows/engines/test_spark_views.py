"""Views of a session: what stands for a common table expression is what that one says."""

import re

import pytest
from sqlglot import exp, parse_one

from confide.rows.engines.spark.spark_session import SparkRows


class Cluster:
    """A session that keeps of a view what it was made of, as Spark does, and answers it as text."""

    def __init__(self):
        self.views, self.made = {}, 0

    def sql(self, text):
        whole = re.sub(r"`(\w+)`", lambda found: self.views.get(found[1], found[0]), text)
        return View(self, whole)

    def createDataFrame(self, rows, schema):  # noqa: N802
        del rows, schema
        return View(self, "keys")


class View:
    def __init__(self, cluster, whole):
        self.cluster, self.whole, self.schema = cluster, whole, None

    def createOrReplaceTempView(self, name):  # noqa: N802
        self.cluster.views[name] = f"({self.whole})"
        self.cluster.made += 1


def _question(place):
    first = f'SELECT "p" FROM "{place}"'
    return parse_one(
        f'WITH "pairs" AS ({first}), "numbered" AS (SELECT "p" FROM "pairs") SELECT "p" FROM "numbered"',
        dialect="duckdb",
        into=exp.Select,
    )


def test_a_view_of_the_same_text_over_other_views_is_made_anew():

    pytest.importorskip("pyspark")
    cluster = Cluster()
    rows = SparkRows(cluster, parameters={"k1": 1})
    for place in ("home", "work", "home"):
        assert f"`{place}`" in rows.bind(_question(place)).whole
    made = cluster.made
    rows.bind(_question("home"))
    assert cluster.made == made  # nothing changed
