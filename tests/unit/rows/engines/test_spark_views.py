"""Views of a session: what stands for a common table expression is what that one says."""

import re
from pathlib import Path

import pytest
from sqlglot import exp, parse_one

from confide.errors import ContractError
from confide.rows.engines.spark.spark_session import SparkRows


class Cluster:
    """A session that keeps of a view what it was made of, as Spark does, and answers it as text."""

    def __init__(self):
        self.views, self.made = {}, 0

    def sql(self, text):
        whole = re.sub(r"`(\w+)`", lambda found: self.views.get(found[1], found[0]), text)
        return View(self, whole)

    def createDataFrame(self, rows, schema=None):  # noqa: N802
        del schema
        return View(self, str(rows))


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


def test_engines_in_one_session_read_their_own_rows_and_keys():
    pytest.importorskip("pyspark")
    cluster, asked = Cluster(), _question("place")
    asked.find(exp.Select).select(exp.Placeholder(this="k1"), copy=False)
    ours, theirs = (SparkRows(cluster, parameters={"k1": key}) for key in (4321, 8765))
    for rows, place in ((ours, "home"), (theirs, "work")):
        rows.lend("place", texts=[place], column="p")
    for rows, own, other in (
        (ours, ("home", "4321"), ("work", "8765")),
        (theirs, ("work", "8765"), ("home", "4321")),
    ):
        whole = rows.bind(asked).whole
        assert all(word in whole for word in own)
        assert not any(word in whole for word in other)
    assert not ours._views & theirs._views  # what one forgets is none of the other's


@pytest.mark.parametrize("name", ["{now}", "[now]", "no?", "n*", "n\\ow", "a}"])
def test_a_path_that_is_a_pattern_to_hadoop_is_refused_by_spark(name):
    pytest.importorskip("pyspark")
    rows = SparkRows(Cluster(), parameters={"k1": 1})
    with pytest.raises(ContractError, match="pattern") as refused:
        rows.read("visits", files=(Path("/data/now/1.parquet"), Path("/data", name, "1.parquet")))
    assert "Rename" in refused.value.hint


def test_a_view_of_the_same_text_over_other_views_is_made_anew():

    pytest.importorskip("pyspark")
    cluster = Cluster()
    rows = SparkRows(cluster, parameters={"k1": 1})
    for place in ("home", "work", "home"):
        assert f"`{place}`" in rows.bind(_question(place)).whole
    made = cluster.made
    rows.bind(_question("home"))
    assert cluster.made == made  # nothing changed
