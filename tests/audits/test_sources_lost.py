"""What reads rows is killed, or finds no room: a release is burned or delivered, never half."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from command_line import confide
from real_command import Done, fresh, place_of
from spark_rows import QUICK, needs_spark

pytestmark = pytest.mark.audit

DATASET = """
dataset: {{id: clinic, lineage: clinic, snapshot: "2026-01"}}
source: {{kind: {kind}, path: tables, threads: 2, memory-limit: {memory}}}
protects: {{unit: patient, id: person_id, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: 1e-6}}
caps: {{lifetime: {{epsilon: 10}}}}
tables:
  visits:
    columns:
      ward: {{categories: [north, south], source: code book}}
      cost: {{kind: number, lower: 0, upper: 500, source: tariff}}
"""
STUDY = """
study: {id: first, title: First look, purpose: training}
statistics:
  - {id: wards, kind: histogram, table: visits, by: [ward], per-patient: {cells: 2}, error: {within: 20}}
"""
LARGEST = 200_000  # bytes of a file: a ledger and keys fit, what is sorted does not


def clinic(folder, *, kind, rows, memory="1GB"):
    """Write a data set of visits."""
    tables = folder / "tables"
    tables.mkdir(parents=True)
    ward = "CASE hash(i) % 2 WHEN 0 THEN 'north' ELSE 'south' END"
    duckdb.sql(
        f"COPY (SELECT 1 + hash(i) % {rows // 3} AS person_id, {ward} AS ward, i % 480 AS cost"
        f" FROM range({rows}) r(i)) TO '{tables / 'visits.parquet'}'"
    )
    (folder / "dataset.yaml").write_text(DATASET.format(kind=kind, memory=memory))
    (folder / "study.yaml").write_text(STUDY)
    return folder


def states(folder):
    """Return the state of each request of the ledger, in order."""
    shown = confide("ledger", "show", folder / "dataset.yaml", "--json").json
    return [entry["state"] for entry in shown["entries"]]


def no_room():
    """Let no file grow beyond a few pages, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


def burned_then_published(folder, done):
    """Assert that a run was charged once and gave nothing, and that another answers."""
    assert done.code == 1, done.told
    assert "The charge stays." in done.told
    assert "bug" not in done.told
    assert "visits.parquet" not in done.told
    assert not (folder / "release").exists()
    assert states(folder) == ["burned"]
    again = fresh("run", "study.yaml", "--out", "release", cwd=folder, env=QUICK)
    assert again.code == 3  # the same request is not asked twice
    anew = ("run", "study.yaml", "--out", "release", "--request", "anew")
    assert fresh(*anew, cwd=folder, env=QUICK).code == 0
    assert confide("verify", folder / "release").code == 0
    assert sorted(states(folder)) == ["burned", "published"]


@pytest.mark.parametrize("kind", ["parquet", pytest.param("spark", marks=needs_spark())])
def test_a_disk_that_is_full_while_rows_are_sorted_burns_the_release(tmp_path, kind):
    rows, memory = (6_000_000, "100MB") if kind == "parquet" else (300_000, "1GB")
    folder = clinic(tmp_path / "clinic", kind=kind, rows=rows, memory=memory)
    run = ("run", "study.yaml", "--out", "release")
    burned_then_published(folder, fresh(*run, cwd=folder, env=QUICK, before=no_room))


@needs_spark()
def test_a_driver_of_spark_that_is_killed_burns_the_release(tmp_path):
    folder = clinic(tmp_path / "clinic", kind="spark", rows=6_000_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "confide", "run", "study.yaml", "--out", "release"],
        cwd=folder,
        env=place_of(folder, QUICK),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
    )
    told = b""
    while b"Reading" not in told:
        line = process.stdout.readline()
        assert line, told
        told += line
    for each in drivers_below(process.pid):
        os.kill(each, signal.SIGKILL)
    told += process.communicate(timeout=240)[0]
    burned_then_published(folder, Done(code=process.returncode, out=told, err=b""))


def drivers_below(parent):
    """Return the processes of Java that a process started; there is at least one."""
    below = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = status.parent.name, status.read_text().rpartition(")")
            below.setdefault(int(rest[2].split()[1]), []).append((int(pid), rest[0]))
    found, todo = [], [parent]
    while todo:
        for pid, name in below.get(todo.pop(), ()):
            todo.append(pid)
            found += [pid] * ("(java" in name)
    assert found
    return found
