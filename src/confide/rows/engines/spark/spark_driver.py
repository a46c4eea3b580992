"""The driver of this process: started once, quietly, for all sessions; it ends with the process.

*Privacy:* its logs, its UI and its log of events are off.  What a driver on this machine shuffles
and spills lies in a folder of this account alone.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from confide.errors import ContractError, MissingExtraError
from confide.regular_file import create_text
from confide.rows.engines.spark.spark_connect import without_messages, without_remarks
from confide.rows.engines.spill import SpillFolder

MASTER = "CONFIDE_SPARK_MASTER"
"""Environment variable: where the driver finds its cluster, or the server of Spark Connect; all
cores of this machine if unset."""
_QUIET = """\
appender.none.type = Null
appender.none.name = none
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
"""
_JAVA = 17
_LOCAL = "SPARK_LOCAL_DIRS"
_SPILLED: list[SpillFolder] = []

DRIVER: Mapping[str, str] = {
    "spark.app.name": "confide",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.codegen.logging.maxLines": "0",  # what is compiled holds the values of keys
    "spark.sql.adaptive.enabled": "true",
}
"""What the driver is started with."""


def session_of_driver(*, threads: int | None, memory_limit: str | None) -> Any:
    """Return a new session of the driver of this process; raises as :func:`require_spark`.

    Args:
        threads: Of this machine, where there is no cluster; all by default.
        memory_limit: Of the driver, such as "4GB"; Spark's default otherwise.

    Raises:
        ContractError: If the driver cannot be started.
    """
    require_spark()
    with without_remarks():
        from pyspark.sql import SparkSession as Builder

        spark = Builder.getActiveSession()
        if spark is None:
            spark = _driver(threads=threads, memory_limit=memory_limit)
        return spark.newSession()


def require_spark() -> None:
    """Refuse where Spark cannot be run.

    Raises:
        MissingExtraError: If PySpark is absent.
        ContractError: If Java is.
    """
    lacking = what_is_lacking()
    if lacking == "PySpark":
        raise MissingExtraError("pyspark", extra="spark")
    if lacking:
        raise ContractError(
            f"A Spark source needs {lacking}.",
            hint=f"Install Java {_JAVA} or later; on Debian it is openjdk-{_JAVA}-jre-headless.",
        )


def what_is_lacking() -> str:
    """Return what Spark needs and is absent; "" if nothing is."""
    import importlib.util
    import shutil

    if importlib.util.find_spec("pyspark") is None:
        return "PySpark"
    home = os.environ.get("JAVA_HOME", "")
    found = shutil.which("java") or (home and shutil.which("java", path=f"{home}/bin"))
    return "" if found else "Java"


def _driver(*, threads: int | None, memory_limit: str | None) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession as Builder

    spilled = _spill_folder()
    quiet = _quiet_logs(spilled)
    java = (
        f"-Dlog4j2.configurationFile={quiet.as_uri()} -Dlog4j.configurationFile={quiet.as_uri()} "
        "-Dlog4j2.StatusLogger.level=OFF"
    )
    settings = {**DRIVER, "spark.driver.extraJavaOptions": java}
    master = os.environ.get(MASTER, "") or f"local[{threads or '*'}]"
    settings["spark.master"] = master
    local = master.startswith("local")
    if local:
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.local.dir": str(spilled),
            "spark.sql.shuffle.partitions": str(max(2, threads or os.cpu_count() or 2)),
        }
    if memory_limit:
        settings["spark.driver.memory"] = memory_limit.strip().lower().removesuffix("b")
    conf, spark = SparkConf().setAll(list(settings.items())), None
    with without_messages() as failed, _signals_kept(), _no_other_folder(local=local):
        context = SparkContext(conf=conf, gateway=_silent_java(conf))
        spark = Builder(context)
    if failed or spark is None:
        raise ContractError(
            f"Spark cannot be started ({''.join(failed)}).",
            hint=f"Check Java, and {MASTER} if a cluster is named there.",
        )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _silent_java(conf: Any) -> Any:
    """Start Java, whose standard error is nobody's; None where this process has one.

    What it says as it begins is noise, and what it says later may print a cell.  That it ended, or
    did not begin, is raised here.
    """
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # noqa: SLF001 — PySpark has no other word for it
        return None
    return launch_gateway(conf, {"stderr": subprocess.DEVNULL})


def _spill_folder() -> Path:
    """Return where the driver shuffles rows and spills them, for the rest of the process.

    Spark's own folders may be read by every account of the machine, and a killed process leaves
    them behind.
    """
    parent = Path(os.environ.get(_LOCAL, "").partition(",")[0])
    _SPILLED.append(SpillFolder(parent if parent.is_absolute() and parent.is_dir() else None))
    return _SPILLED[-1].path


@contextlib.contextmanager
def _no_other_folder(*, local: bool) -> Iterator[None]:
    """Start a driver of this machine that is told of no other folder by the environment."""
    before = os.environ.pop(_LOCAL, None) if local else None
    try:
        yield
    finally:
        if before is not None:
            os.environ[_LOCAL] = before


def _quiet_logs(folder: Path) -> Path:
    """Return a configuration of the driver's logs: there are none."""
    path = folder / "log4j2.properties"
    create_text(path, _QUIET)
    return path


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep what the process does when it is interrupted: the driver would end every job."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
