"""A session of Spark: what is interrupted is cancelled, what is absent is said."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from confide.errors import ContractError, EngineError, MissingExtraError
from confide.rows.engines.spark import spark_driver as driver
from confide.rows.engines.spark import spark_session as session
from spark_rows import WARNED, needs_spark, started_quickly

pytestmark = list(WARNED)


@needs_spark()
def test_what_is_interrupted_is_cancelled_in_the_cluster():
    spark = started_quickly()
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
    monkeypatch.setattr(driver, "what_is_lacking", lambda: "Java")
    with pytest.raises(ContractError, match="needs Java"):
        driver.require_spark()
    monkeypatch.setattr(driver, "what_is_lacking", lambda: "PySpark")
    with pytest.raises(MissingExtraError, match=r"\[spark\]"):
        driver.require_spark()


@needs_spark()
def test_a_driver_begins_and_fails_without_a_word_but_the_class(tmp_path):
    program = (
        "from confide.rows.engines.spark.spark_driver import session_of_driver as begin\n"
        "print(begin(threads=1, memory_limit=None).range(3).count())\n"
    )
    begun = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (begun.stdout, begun.stderr) == ("3\n", "")
    failing = program.replace("None", '"1 nonsense"')
    ended = subprocess.run(
        [sys.executable, "-c", failing], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "Spark cannot be started (PySparkRuntimeError)" in ended.stderr.splitlines()[-1]
