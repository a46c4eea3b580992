"""A release that failed costs its own charge alone: what it broke is opened anew for the next
one."""

import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confide
from confide.budget.ledger import State
from confide.errors import ReleaseFailedError
from confide.rows.cells.session import Session
from confide.rows.dialects import duckdb as dialect
from confide.service.releasing.jobs import planned, run_job
from counting_job import Counting

DATASET = """\
dataset: {{id: d, lineage: d, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1000}}}}
tables:
  odd: {{rows-per-patient: 1, columns: {{x: {{categories: ['1', '2']}}}}}}
  people: {{rows-per-patient: 1, columns: {{sex: {{categories: [f, m]}}}}}}
"""
ODD = {"id": "n", "kind": "histogram", "table": "odd", "by": ["x"]}
FINE = {"id": "n", "kind": "histogram", "table": "people", "by": ["sex"]}


def tables():
    """Of the widest decimals one stops a cast inside the engine, which then refuses all else."""
    cells = pa.array([n.to_bytes(16, "little", signed=True) for n in (1, 2, -(2**127))])
    x = cells.cast(pa.binary(16)).view(pa.decimal128(38, 0))
    sexes = pa.array(["f", "f", "m"])
    return {"odd": pa.table({"pid": [1, 2, 3], "x": x}),
            "people": pa.table({"pid": [1, 2, 3], "sex": sexes})}  # fmt: skip


def of_files(folder):
    for name, rows in tables().items():
        pq.write_table(rows, folder / f"{name}.parquet")
    (folder / "dataset.yaml").write_text(DATASET.format(source="{kind: parquet, path: .}"))
    return confide.open(folder / "dataset.yaml")


def of_frames(folder):
    (folder / "dataset.yaml").write_text(DATASET.format(source="{kind: frames}"))
    return confide.open(folder / "dataset.yaml", frames=tables())


def of_streams(folder):
    """What can be read once only."""
    (folder / "dataset.yaml").write_text(DATASET.format(source="{kind: frames}"))
    frames = {name: rows.to_reader() for name, rows in tables().items()}
    return confide.open(folder / "dataset.yaml", frames=frames)


SOURCES = pytest.mark.parametrize("opened", [of_files, of_frames, of_streams])


@pytest.fixture
def unguarded(monkeypatch):
    """Let the widest decimal through to the engine."""
    from confide.rows.sources import arrow_cells

    monkeypatch.setattr(dialect, "within_digits", lambda cell, *, type_name: cell)  # noqa: ARG005
    monkeypatch.setattr(arrow_cells, "_within_digits", lambda array: array)


def counted(site, asked):
    plan = site.plan(asked, epsilon="80")
    return [each.value for each in site.release(plan, request=uuid.uuid4().hex).estimates]


def broken(site):
    assert counted(site, FINE) == [2, 1]
    with pytest.raises(ReleaseFailedError):
        counted(site, ODD)


@pytest.mark.usefixtures("unguarded")
@SOURCES
def test_a_failure_inside_the_engine_fails_no_later_release(tmp_path, opened):
    with opened(tmp_path) as site:
        broken(site)
        assert counted(site, FINE) == [2, 1]
        assert counted(site, FINE) == [2, 1]


@pytest.mark.usefixtures("unguarded")
def test_a_failure_inside_the_engine_fails_no_later_job(tmp_path):
    with of_files(tmp_path) as site:
        broken(site)
        run_job(site, Counting(), plan=planned(site, Counting()))
        states = [entry.state for entry in site.ledger.entries("d")]
    assert states == [State.PUBLISHED, State.BURNED, State.PUBLISHED]


@pytest.mark.mutant
@pytest.mark.usefixtures("unguarded")
def test_an_engine_that_outlives_its_failure_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(Session, "sound", lambda self: True)  # noqa: ARG005
    with of_files(tmp_path) as site:
        broken(site)
        with pytest.raises(ReleaseFailedError):
            counted(site, FINE)
