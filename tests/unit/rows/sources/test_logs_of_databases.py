"""All that DuckDB reads rows from beside a file is part of the source: its state, and private."""

import os
import re
from pathlib import Path

import _duckdb
import duckdb
import pytest

import confide
from confide.errors import NotAFileError
from confide.files.public.private_places import WORKSPACE, declared_places
from confide.release.site.snapshot import source_state
from confide.release.verify.against_ledger import ledger_checks
from confide.rows.sources.fingerprint import SourceState
from confide.tables.source import Source, SourceKind
from confide.tables.source_files import LOGS, with_logs
from confide.workspace import preparation
from interrupted import LEFT, LOGGED, MEANWHILE, STORED, interrupted

DATASET = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: duckdb, path: rows.duckdb}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 5000}}
tables: {t: {columns: {x: {kind: number, lower: 0, upper: 10, step: 1}}}}
"""
COUNT = {"id": "n", "kind": "count", "table": "t"}
ALL = STORED + LOGGED + MEANWHILE


def site(folder):
    interrupted(folder)
    (folder / "dataset.yaml").write_text(DATASET)
    return folder / "dataset.yaml"


def counted(ws, key):
    release = ws.release(ws.plan(COUNT, epsilon="500"), request=key)
    return round(release.of("n")[0].value), release.certificate


def opens(ws, certificate):
    """Return whether the steward can open a commitment to the files as they are."""
    declared = ws.declared
    checks = ledger_checks(
        certificate,
        ledger=ws.ledger,
        lineage="d",
        folder=declared.base / WORKSPACE,
        state=source_state(declared.source, base=declared.base, dataset=declared.dataset),
    )
    (found,) = (each for each in checks if each.name == "snapshot")
    return found.holds and not found.detail


@pytest.mark.parametrize("copies", [False, True], ids=["source", "copies"])
def test_an_open_workspace_sees_that_a_log_which_holds_rows_is_gone(copies, tmp_path):
    dataset = site(tmp_path)
    if copies:
        preparation(dataset).prepare()
    with confide.open(dataset) as ws:
        first, certificate = counted(ws, "1")
        assert first == ALL
        assert opens(ws, certificate)
        (tmp_path / LEFT[-1]).unlink()
        assert not opens(ws, certificate)
        assert counted(ws, "2")[0] == ALL - MEANWHILE
    with confide.open(dataset) as ws:
        assert counted(ws, "3")[0] == ALL - MEANWHILE


@pytest.mark.parametrize("ending", LOGS)
def test_a_log_that_comes_or_changes_makes_another_state(ending, tmp_path):
    file = tmp_path / "rows.duckdb"
    file.write_bytes(b"rows")
    before = SourceState.of([file])
    log = file.with_name(f"{file.name}{ending}")
    log.write_bytes(b"more")
    with_it = SourceState.of([file])
    assert not before.holds()
    log.write_bytes(b"others")
    assert not with_it.holds()


@pytest.mark.parametrize("ending", LOGS)
def test_a_pipe_in_the_place_of_a_log_is_refused(ending, tmp_path):
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS pid, 1.0 AS x")
    dataset = tmp_path / "dataset.yaml"
    dataset.write_text(DATASET)
    os.mkfifo(tmp_path / f"rows.duckdb{ending}")  # opening it would wait for ever
    with confide.open(dataset) as ws, pytest.raises(NotAFileError, match="named pipe"):
        ws.explain(ws.plan(COUNT, epsilon="1"))


def test_no_log_is_public(tmp_path):
    file = tmp_path / "rows.duckdb"
    for each in with_logs(file):
        each.write_bytes(b"rows")
    source = Source(kind=SourceKind.DUCKDB, path=file.name)
    private = declared_places(base=tmp_path, source=source, tables=["t"]).files
    assert private == {(each.stat().st_dev, each.stat().st_ino) for each in with_logs(file)}


def test_duckdb_knows_of_no_other_log():
    """A newer version may: then it has to be one of ours."""
    library = Path(_duckdb.__file__).read_bytes()
    known = {f".{each.decode()}" for each in re.findall(rb"\.(wal(?:\.[a-z]+)?)\0", library)}
    assert known == set(LOGS)
