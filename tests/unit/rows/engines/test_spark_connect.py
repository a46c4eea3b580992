"""Spark Connect: a server elsewhere gives the same integers, is interrupted, and keeps no key."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from confide.errors import ContractError, MissingExtraError
from confide.rows.cells.identity import identity_parameters
from confide.rows.cells.keyed_order import coefficients
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.spark import spark_connect
from confide.rows.engines.spark.spark_driver import MASTER
from confide.rows.engines.spark.spark_session import SparkRows, new_session
from confide.tables.bound_contributions import RowBound
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.source import Source, SourceKind
from flower_deployment import free_port
from rows_world import DB, KEY, ask, col, dataset, menu, random_database
from spark_rows import QUICK, WARNED, needs_spark, opened

pytestmark = list(WARNED)
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
FRAMES = Source(kind=SourceKind.FRAMES)
JOB = Records(
    relation=Relation(table="events"),
    reads=(col("code"), col("typed")),
    bounds=RowBound(max_rows=2),
    folds=3,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of this machine, that keeps a log of events; its URL is where the cluster is."""
    pytest.importorskip("grpc")
    pytest.importorskip("grpc_status")
    home = Path(importlib.util.find_spec("pyspark").origin).parent
    events = tmp_path_factory.mktemp("events")
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events,
        "spark.eventLog.compress": "false",
        "spark.local.dir": tmp_path_factory.mktemp("shuffled"),
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": tmp_path_factory.mktemp("warehouse"),
        "spark.ui.enabled": "false",
    }
    words = [f"--conf={name}={value}" for name, value in settings.items()]
    command = ["bash", home / "bin" / "spark-submit", "--master=local[2]", "--driver-memory=1g"]
    with (events / "told.txt").open("w") as told:
        process = subprocess.Popen(
            [*command, *words, f"--class={SERVER}", "spark-internal"],
            stdout=told,
            stderr=told,
            env={**os.environ, **QUICK, "SPARK_HOME": str(home)},
        )
    try:
        _wait(events / "told.txt", process=process)
        os.environ[MASTER] = f"sc://127.0.0.1:{port}"
        yield events
    finally:
        os.environ.pop(MASTER, None)
        process.terminate()
        process.wait(60)


def _wait(told, *, process):
    end = time.monotonic() + 300
    while "Connect server started" not in told.read_text():
        assert process.poll() is None, told.read_text()
        assert time.monotonic() < end
        time.sleep(0.5)


@needs_spark()
def test_a_server_of_spark_connect_gives_the_integers_of_duckdb_and_keeps_no_key(server):
    of, database = dataset(), random_database(1, text_ids=True)
    asked = (*menu()[::22], ask(axes=[DB]))
    gone = [name for name in database.frames["person"]["pid"].to_pylist() if name][:40]
    found = []
    with open_engine(
        FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=database.frames
    ) as engine:
        listed = tuple(f"{a:016x}{b:016x}" for a, b in engine.identities(gone))
    with (
        open_engine(
            FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=database.frames, withdrawn=listed
        ) as ours,
        opened(database.frames, of=of, withdrawn=listed) as theirs,
    ):
        assert spark_connect.is_remote(theirs._rows._spark)
        theirs.check(asked, dataset=of)
        theirs.check_records(JOB, dataset=of)
        for engine in (ours, theirs):
            whole = engine.aggregate(asked, dataset=of).reveal_to_gate()
            rows = engine.records(JOB, dataset=of).reveal_to_job()
            found.append((whole, {name: each.tolist() for name, each in rows.items()}))
    assert found[0] == found[1]
    assert sum(found[0][0][-1]) > 100
    kept = "".join(path.read_text(errors="replace") for path in server.rglob("*") if path.is_file())
    assert "confide_keys" in kept  # the log has the plans
    assert not [name for name, key in coefficients(KEY).items() if str(key) in kept]
    for key in identity_parameters(KEY, of=of.unit.entity).values():
        assert not [form for form in _forms(key) if form in kept]


def _forms(key):
    """Ways to print the first bytes of a key."""
    escaped = "".join(chr(b) if chr(b).isalnum() else f"\\{b:03o}" for b in key[:12])
    return key[:12].hex(), key[:12].hex().upper(), escaped, escaped.replace("\\", "\\\\")


@needs_spark()
def test_what_was_bound_reads_its_own_views_whatever_is_bound_after_it(server):
    """A server looks names up when a query is run, so a name stands for one text for ever."""
    of, database = dataset(), random_database(2)
    one, other = ask(axes=[DB]), ask(axes=[DB], bounds=RowBound(max_rows=1))
    with opened(database.frames, of=of) as engine:
        bound = [
            (each, engine._rows.bind(each.query))
            for asked in (one, other)
            for each in engine._compiled((asked,), dataset=of)
        ]
        late = [sum(row[2] for row in engine._rows.rows(b) if row[0] == 0) for _, b in bound]
        at_once = [
            sum(engine.aggregate((a,), dataset=of).reveal_to_gate()[0]) for a in (one, other)
        ]
    assert late == at_once
    assert late[0] > late[1]


@needs_spark()
def test_what_is_interrupted_is_cancelled_by_the_server(server):
    spark = new_session(threads=None, memory_limit=None)
    rows = SparkRows(spark, parameters={"k1": 1})
    endless = spark.sql("SELECT COUNT(*) FROM RANGE(10000000) a CROSS JOIN RANGE(10000000) b")
    main = threading.main_thread().ident
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rows.table(endless)
    finally:
        signal.signal(signal.SIGINT, before)
    assert spark.interruptAll() == []  # nothing runs any more
    assert rows.sound()
    rows.close()
    assert not rows.sound()


def test_without_what_speaks_to_servers_spark_connect_is_refused_with_the_extra(monkeypatch):
    monkeypatch.setattr(spark_connect, "_CLIENT", ("pyspark_of_nobody",))
    with pytest.raises(MissingExtraError, match=r"pyspark_of_nobody") as refused:
        spark_connect.connected("sc://nowhere:1/;token=secret")
    assert "[spark-connect]" in refused.value.hint


def test_a_server_of_spark_connect_whose_url_is_wrong_is_refused_and_the_url_not_repeated():
    pytest.importorskip("grpc_status")
    with pytest.raises(ContractError, match="cannot be used") as refused:
        spark_connect.connected("sc://nowhere:1/path;token=secret")
    assert "PySparkValueError" in str(refused.value)
    assert "secret" not in str(refused.value) + refused.value.hint


@pytest.mark.parametrize("name", ["session_id", " Session_ID "])
def test_a_url_of_spark_connect_that_names_a_session_is_refused_and_not_repeated(name):
    """Views of one data set would be those of another that has the same session."""
    with pytest.raises(ContractError, match="may not name a session") as refused:
        spark_connect.connected(f"sc://nowhere:1/;token=secret;{name}={uuid.uuid4()}")
    assert "secret" not in str(refused.value)
    assert "Leave session_id out" in refused.value.hint


AFTER_A_DRIVER = """
import sys, warnings
from confide.errors import ContractError
from confide.rows.engines.spark.spark_connect import connected

def asked():
    try:
        connected("sc://nowhere:1/path")
    except ContractError as refused:
        print(refused)

import pyspark.testing.utils  # as a driver does that is lent rows
asked()
warnings.simplefilter("ignore")
asked()
"""


@pytest.mark.parametrize("warned", ["ignore", "error"])
def test_spark_connect_is_refused_with_the_cause_where_warnings_are_errors(warned):
    """PySpark takes a library that it warns of for absent then, for the rest of the process."""
    pytest.importorskip("grpc_status")
    asked = [sys.executable, "-W", f"{warned}::FutureWarning", "-c", AFTER_A_DRIVER]
    told = subprocess.run(asked, capture_output=True, check=True, text=True, timeout=300).stdout
    words = "Check the URL" if warned == "ignore" else "imported where warnings are errors"
    assert told.count(words) == 2, told
