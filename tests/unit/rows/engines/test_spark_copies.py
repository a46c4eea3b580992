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
    for value in (None, Plain(of=col("big")))
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


def test_spark_gives_the_same_integers_from_copies_as_from_the_source_and_as_duckdb(
    folder, monkeypatch
):
    of, work = dataset(), prepared(folder)
    with opened(folder, of) as duckdb:
        expected = exact(duckdb, list(ASKED), of)
    with in_spark(folder) as source:
        assert source.explain(ASKED[:1], dataset=of)[0] == "Spark reads the source."
        assert exact(source, ASKED[:1], of) == expected[:1]
    with in_spark(folder, copies=work.folder) as copies:
        told = copies.explain(ASKED, dataset=of)
        assert told[0] == "Spark reads prepared copies."
        assert all("rank projection" in step for step in told[1:3])
        assert exact(copies, list(ASKED), of) == expected
    # a cluster reads no copies, which lie in the folder of the steward
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(SparkRows, "on_this_machine", lambda _: False)
        with in_spark(folder, copies=work.folder) as cluster:
            assert "keyed order" in cluster.explain(ASKED[:1], dataset=of)[1]
    changed(work, a_false_rank)
    with (
        in_spark(folder, copies=work.folder) as copies,
        pytest.raises(EngineError, match="contribution bound not enforced"),
    ):
        copies.aggregate(ASKED[:1], dataset=of)


def test_the_check_of_copies_for_spark_asks_spark_and_copies_of_other_files_are_not_read(
    folder, monkeypatch
):
    found = []

    def told(source, *, copies, dataset, unread):
        found.extend(each.explain(ASKED[:1], dataset=dataset)[1] for each in (source, copies))
        return unread

    work = prepared(folder)
    monkeypatch.setattr(build, "differing", told)
    assert work.differing() == ()
    assert ["numbered" in found[0], "rank projection" in found[1]] == [True, True]
    table = pq.read_table(folder / "events.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), folder / "events.parquet")
    with in_spark(folder, copies=work.folder) as engine:
        reads, way, *_ = engine.explain(ASKED[:1], dataset=dataset())
    assert "out of date" in reads
    assert "numbered" in way
