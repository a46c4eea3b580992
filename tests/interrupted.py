"""A DuckDB file beside which a checkpoint that was interrupted left its logs, rows in each."""

import subprocess
import sys
from pathlib import Path

STORED, LOGGED, MEANWHILE = 100, 10, 1000
"""Patients in the file, in its log, and in what was written while the checkpoint was under way."""
LEFT = ("rows.duckdb", "rows.duckdb.wal", "rows.duckdb.wal.checkpoint")
_STORING = f"""
import os, threading
import duckdb

made = duckdb.connect("rows.duckdb")
made.execute("CREATE TABLE t AS SELECT i AS pid, 1.0 AS x FROM range({STORED}) r(i)")
made.execute("CHECKPOINT")
made.execute("SET checkpoint_threshold = '1TB'")
made.execute("INSERT INTO t SELECT 10000 + i, 1.0 FROM range({LOGGED}) r(i)")
made.execute("SET debug_checkpoint_sleep_ms = 1000")
made.execute("SET debug_checkpoint_abort = 'before_header'")


def interrupted():
    try:
        made.cursor().execute("CHECKPOINT")
    except duckdb.Error:
        pass


log = os.path.getsize("rows.duckdb.wal")
at_it = threading.Thread(target=interrupted)
at_it.start()
while at_it.is_alive() and os.path.getsize("rows.duckdb.wal") == log:
    pass  # the log says when the checkpoint has begun
made.cursor().execute("INSERT INTO t SELECT 20000 + i, 1.0 FROM range({MEANWHILE}) r(i)")
at_it.join()
os._exit(0)
"""


def interrupted(folder: Path) -> None:
    """Write :data:`LEFT` into a folder."""
    subprocess.run([sys.executable, "-c", _STORING], cwd=folder, check=True)
    assert sorted(each.name for each in folder.glob("rows.*")) == sorted(LEFT)
