"""Copies are nothing but speed: whoever deletes them costs an open workspace no charge."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confide
from confide.workspace import preparation

DATASET = """
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: parquet, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 100}}
tables: {visits: {columns: {ward: {categories: [a, b]}}}}
"""
COUNT = {
    "kind": "histogram",
    "table": "visits",
    "by": ["ward"],
    "count": "events",
    "per-patient": {"rows": 3},
}


def dropped(folder):
    preparation(folder / "dataset.yaml").drop()


def deleted(folder):
    shutil.rmtree(folder / ".confide" / "prepared")


def emptied(folder):
    for path in (folder / ".confide" / "prepared").glob("*/*.parquet"):
        path.write_bytes(b"")


@pytest.mark.parametrize("gone", [dropped, deleted, emptied])
def test_delete_the_folder_at_any_time_nothing_but_speed_is_lost(tmp_path, gone):
    rows = {"pid": [i // 3 for i in range(900)], "ward": ["ab"[i % 2] for i in range(900)]}
    pq.write_table(pa.table(rows), tmp_path / "visits.parquet")
    (tmp_path / "dataset.yaml").write_text(DATASET)
    preparation(tmp_path / "dataset.yaml").prepare()
    with confide.open(tmp_path / "dataset.yaml") as workspace:
        for number, name in enumerate(("before", "after", "again")):
            plan = workspace.plan({"id": name, **COUNT}, epsilon="20")
            told = " ".join(workspace.explain(plan))
            assert told.startswith("Reads the source") is (number > 0), told
            found = workspace.release(plan)
            cells = {each.key[0]: each.value for each in found.estimates if each.key}
            assert abs(cells["a"] - 450) < 20
            if not number:
                gone(tmp_path)
