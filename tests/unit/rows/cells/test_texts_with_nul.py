"""A text is compared whole: what stands after a NUL belongs to it, in ids, labels and keys."""

import csv
import unicodedata

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confide
from command_line import confide as command

DATASET = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: {kind}, path: {path}}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  t:
    from: {name}
    columns:
      x: {{categories: {{"\\xFC\\0u": u, "u\\u0308\\0v": v}}}}
      note: {{kind: text}}
"""
NAMES = {"csv": "t.csv", "parquet": "t.parquet", "duckdb": "t", "frames": "t"}
IDS = ("\u00fc\0a", "u\u0308\0b", "\0\u00fc", "\u00fc", "a\0", "a", "\0")
"""Seven patients; a reader of C strings sees three, and one without an id."""
ROWS = [
    (unicodedata.normalize(form, pid), "\u00fc\0u" if place < 3 else "u\u0308\0v", f"{pid} says")
    for place, pid in enumerate(IDS)
    for form in ("NFC", "NFD") * 3
]


def _store(folder, *, kind):
    """Store the rows, and return the frames if they are some."""
    table = pa.table(dict(zip(("pid", "x", "note"), zip(*ROWS, strict=True), strict=True)))
    data = folder / "data"
    data.mkdir()
    path = "data/t.duckdb" if kind == "duckdb" else "data"
    text = DATASET.format(kind=kind, path=path, name=NAMES[kind])
    match kind:
        case "frames":
            text = text.replace(", path: data", "").replace("    from: t\n", "")
        case "csv":
            with (data / "t.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([table.column_names, *ROWS])
        case "parquet":
            pq.write_table(table, data / "t.parquet")
        case "duckdb":
            with duckdb.connect(str(folder / path)) as connection:
                connection.register("given", table)
                connection.execute("CREATE TABLE t AS SELECT * FROM given")
    (folder / "dataset.yaml").write_text(text, "utf-8")
    return {"t": table} if kind == "frames" else None


def _answers(path, *, frames):
    patients = {"id": "n", "kind": "count", "table": "t"}
    labels = {"id": "x", "kind": "histogram", "table": "t", "by": ["x"], "count": "events"}
    labels |= {"per-patient": {"rows": 6}}
    with confide.open(path, frames=frames) as workspace:
        release = workspace.release(workspace.plan(patients, labels, epsilon="600"))
        return (
            round(release.of("n")[0].value),
            {each.key[0]: round(each.value) for each in release.of("x")},
        )


@pytest.mark.parametrize("kind", NAMES)
def test_texts_that_differ_after_a_nul_are_two_persons_and_two_labels(kind, tmp_path):
    frames = _store(tmp_path, kind=kind)
    path = tmp_path / "dataset.yaml"
    expected = (len(IDS), {"u": 18, "v": 24})
    assert _answers(path, frames=frames) == expected
    if frames is None:
        assert command("prepare", path, "-q").code == 0
        assert _answers(path, frames=None) == expected
    with confide.open(path, frames=frames) as workspace:
        words = {workspace.engine().identity(each) for each in IDS}
        assert len(words - {None}) == len(IDS)
