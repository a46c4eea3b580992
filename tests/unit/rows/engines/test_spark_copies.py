"""Spark over prepared copies: the integers of Spark without them, and of DuckDB."""

import contextlib
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import EngineError
from confide.rows.copies.copies import UseCopies
from confide.rows.engines.spark.spark_engine import open_spark
from confide.rows.engines.spark.spark_session import SparkRows
from confide.rows.prepared import build
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from contracts.engine_contract import exact
from contracts.test_prepared_engine import opened, preparation
from rows_world import DB, KEY, ask, col, dataset, random_database
from spark_rows import QUICK, SPARK, needs_spark, stored
from unit.rows.prepared.test_proved_ranks import a_false_rank, changed

pytestmark = needs_spark()

ASKED = tuple(
    ask(axes=[DB], value=value, bounds=RowBound(max_rows=2))
    for value in (None, Plain(of=col("big")), Plain(of=col("pressure")))
)


@contextlib.contextmanager
def in_spark(folder, *, copies=None):
    os.environ.update(QUICK)
    engine = open_spark(
        SPARK,
        base=folder,
        dataset=dataset(),
        hash_key=KEY,
        threads=2,
        memory_limit="1GB",
        copying=None if copies is None else UseCopies(folder=copies),
    )
    with engine:
        yield engine


@pytest.fixture
def folder(tmp_path):
    return stored(random_database(5, events=9).frames, tmp_path)


def prepared(folder):
    work = preparation(folder, dataset(), source=SPARK)
    work.prepare()
    return work


def test_spark_gives_the_same_integers_from_copies_as_from_the_source_and_as_duckdb(folder):
    of, work = dataset(), prepared(folder)
    with opened(folder, of) as duckdb:
        expected = exact(duckdb, list(ASKED), of)
    with in_spark(folder) as source:
        assert source.explain(ASKED, dataset=of)[0].startswith("Spark reads the source.")
        assert exact(source, list(ASKED), of) == expected
    with in_spark(folder, copies=work.folder) as copies:
        told = copies.explain(ASKED, dataset=of)
        assert told[0] == "Spark reads prepared copies."
        assert all("rank projection" in step for step in told[1:4])
        assert exact(copies, list(ASKED), of) == expected
    changed(work, a_false_rank)
    with (
        in_spark(folder, copies=work.folder) as copies,
        pytest.raises(EngineError, match="contribution bound not enforced"),
    ):
        copies.aggregate(ASKED, dataset=of)


def test_copies_of_other_files_than_those_that_are_there_are_not_read(folder):
    work = prepared(folder)
    table = pq.read_table(folder / "events.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), folder / "events.parquet")
    with in_spark(folder, copies=work.folder) as engine:
        told = engine.explain(ASKED, dataset=dataset())
    assert "out of date" in told[0]
    assert all("numbered in the keyed order" in step for step in told[1:4])


def test_a_cluster_reads_no_copies_which_lie_in_the_stewards_folder(folder, monkeypatch):
    work = prepared(folder)
    monkeypatch.setattr(SparkRows, "on_this_machine", lambda _: False)
    with in_spark(folder, copies=work.folder) as engine:
        told = engine.explain(ASKED, dataset=dataset())
    assert all("numbered in the keyed order" in step for step in told[1:4])


def test_the_check_of_copies_for_spark_asks_spark(folder, monkeypatch):
    asked = []

    def alike(source, *, copies, dataset, unread):
        asked.extend((type(source).__name__, type(copies).__name__))
        with pytest.raises(AssertionError):
            assert source.explain(ASKED, dataset=dataset) == copies.explain(ASKED, dataset=dataset)
        return unread

    work = prepared(folder)
    monkeypatch.setattr(build, "differing", alike)
    assert work.differing() == ()
    assert asked == ["SparkEngine", "SparkEngine"]
