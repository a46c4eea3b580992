"""A DuckDB file may hold text that is no UTF-8: it is missing, and no query fails for it."""

import duckdb
import pytest

import confide
from confide.rows.dialects import duckdb as dialect

pa = pytest.importorskip("pyarrow")

DATA = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: duckdb, path: s.duckdb}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure, delta: 1e-6}
caps: {lifetime: {epsilon: 5000}}
tables:
  t: {rows-per-patient: 1, columns: {x: {categories: [u, v, "é"], nulls: v}, k: {kind: text, from: x}}}
"""
ASKS = {
    "histogram": {"id": "n", "kind": "histogram", "by": ["x"]},
    "keys": {"id": "n", "kind": "key-selection", "key": "k", "per-patient": {"cells": 1}},
}
PATIENTS = 300
ODD = [b"\xff1", b"\xc3", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x00\xff"]


def unchecked(cells):
    """Return an Arrow column of texts that nobody looked at."""
    return pa.Array.from_buffers(pa.string(), len(cells), pa.array(cells, pa.binary()).buffers())


def written(folder, *, ids, cells):
    """Write a DuckDB file; None where the engine refuses to write these."""
    (folder / "dataset.yaml").write_text(DATA)
    (folder / "s.duckdb").unlink(missing_ok=True)
    table = pa.table({"pid": unchecked(ids), "x": unchecked(cells)})
    with duckdb.connect(str(folder / "s.duckdb")) as database:
        database.register("a", table)
        database.execute("CREATE TABLE t AS SELECT * FROM a")
    return folder


def answer(folder, ask):
    with confide.open(folder / "dataset.yaml") as ws:
        found = ws.release(ws.plan(ASKS[ask], epsilon="400")).of("n")
        return {each.key[0]: round(each.value) for each in found}


@pytest.fixture
def good():
    ids = [b"p%d" % i for i in range(PATIENTS)]
    return ids, [b"u", b"v", "é".encode()] * (PATIENTS // 3)


@pytest.mark.parametrize("ask", ASKS)
def test_a_cell_that_is_no_text_is_missing_and_fails_nothing(tmp_path, good, ask):
    ids, cells = good
    more = [b"o%d" % i for i in range(len(ODD))]
    folder = written(tmp_path, ids=ids + more, cells=cells + ODD)
    each = PATIENTS // 3
    missing = {"histogram": len(ODD), "keys": 0}[ask]
    assert answer(folder, ask) == {"u": each, "v": each + missing, "é": each}


@pytest.mark.parametrize("ask", ASKS)
def test_who_has_an_id_that_is_no_text_is_nobody_and_fails_nothing(tmp_path, good, ask):
    _, cells = good
    odd = [b"\xff1", b"\xf6rg", b"\xe9"]
    # the engine looks at no byte of a column until it has met a letter beyond ASCII in it
    ids = [f"é{i}".encode() for i in range(PATIENTS)]
    folder = written(tmp_path, ids=ids + odd, cells=cells + [b"u"] * len(odd))
    each = PATIENTS // 3
    assert answer(folder, ask) == {"u": each, "v": each, "é": each}


def test_texts_that_are_read_as_they_come_are_caught(tmp_path, good, monkeypatch):
    ids, cells = good
    folder = written(tmp_path, ids=[*ids, b"o"], cells=[*cells, b"\xc3("])
    monkeypatch.setattr(dialect, "text_of_bytes", lambda text: text)
    with pytest.raises(confide.errors.ReleaseFailedError):
        answer(folder, "keys")
