"""A session of Spark: what is interrupted is cancelled, what is absent is said."""

import signal
import threading
import time

import pytest

from confide.errors import ContractError, EngineError, MissingExtraError
from confide.privacy.unit import Entity
from confide.rows.cells.identity import identities_of
from confide.rows.cells.layout import Ids
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.spark import spark_session as session
from confide.rows.engines.spark.written_ids import identity_of
from confide.tables.source import Source, SourceKind
from rows_world import KEY, dataset, random_database
from spark_rows import needs_spark, started_quickly


@needs_spark()
def test_what_is_interrupted_is_cancelled_in_the_cluster():
    spark = started_quickly(threads=2, memory_limit="1GB")
    rows = session.SparkRows(spark, parameters={"k1": 1})
    endless = spark.sql("SELECT COUNT(*) FROM RANGE(10000000) a CROSS JOIN RANGE(10000000) b")
    tracker = spark.sparkContext.statusTracker()

    main = threading.main_thread().ident

    def interrupt():
        while not tracker.getActiveJobsIds():
            time.sleep(0.1)
        signal.pthread_kill(main, signal.SIGINT)  # as a terminal does

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rows.table(endless)
    finally:
        signal.signal(signal.SIGINT, before)
    end = time.monotonic() + 60
    while tracker.getActiveJobsIds() and time.monotonic() < end:
        time.sleep(0.1)
    assert not tracker.getActiveJobsIds()
    assert rows.sound()
    with pytest.raises(EngineError, match="ArithmeticException"):
        rows.table(spark.sql("SELECT SUM(id * 9223372036854775807) FROM RANGE(5)"))


def test_without_pyspark_or_java_a_spark_source_is_refused_with_what_is_lacking(monkeypatch):
    monkeypatch.setattr(session, "what_is_lacking", lambda: "Java")
    with pytest.raises(ContractError, match="needs Java"):
        session.require_spark()
    monkeypatch.setattr(session, "what_is_lacking", lambda: "PySpark")
    with pytest.raises(MissingExtraError, match=r"\[spark\]"):
        session.require_spark()


@pytest.mark.parametrize("ids", list(Ids))
def test_a_written_id_has_the_hash_that_queries_make_of_it(tmp_path, ids):
    written = [
        "7",
        "-7",
        "007",
        "1.5",
        " 7",
        "",
        "e\u0301",
        "\u00e9",
        "a\0b",
        "9" * 19,
        str(2**63 - 1),
    ]
    source, frames = Source(kind=SourceKind.FRAMES), random_database(1).frames
    with open_engine(
        source, base=tmp_path, dataset=dataset(), hash_key=KEY, frames=frames, threads=1
    ) as engine:
        expected = identities_of(written, ids=ids, on=engine._session)
    found = tuple(identity_of(each, ids=ids, hash_key=KEY, of=Entity.PATIENT) for each in written)
    assert found == expected
    assert len(set(found)) > 3
