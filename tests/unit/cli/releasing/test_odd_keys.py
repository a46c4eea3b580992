"""Keys that were selected are anybody's text: whatever they hold, the charged answer goes out."""

import csv

import pytest

from command_line import confide
from confide.drawing.charts import figure, render

DATASET = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: csv, path: visits.csv}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure, delta: "0.000001"}
caps: {lifetime: {epsilon: 100}}
tables: {visits: {from: visits.csv, columns: {k: {kind: text}}}}
"""
STUDY = """\
study: {id: s}
statistics:
  - {id: keys, kind: key-selection, table: visits, key: k, per-patient: {cells: 1}}
spend: {at-most: {epsilon: 30}}
"""
KEYS = {
    "pairs of UTF-16": "a" + "\N{BLACK FLAG}\U0001f3f4" * 60,
    "combining": "e" + "\u0301" * 500,
    "variation selectors": "\N{HEAVY BLACK HEART}\ufe0f" * 80,
    "beyond the basic plane": "\U00020000" * 100,
    "long": "x" * 200_000,
    "quotes": "\\u12 \"'`</svg>{{}}${x}" * 9,
}


def released(folder, key):
    with (folder / "visits.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("pid", "k"), *((f"p{i}", key) for i in range(60))])
    (folder / "dataset.yaml").write_text(DATASET)
    (folder / "study.yaml").write_text(STUDY)
    return confide("run", folder / "study.yaml", "--out", folder / "out")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_selected_key_of_any_characters_is_delivered_with_its_figure(tmp_path, key):
    ran = released(tmp_path, key)
    assert ran.code == 0, ran.err
    assert (tmp_path / "out/figures/keys.svg").exists()
    assert "could not be drawn" not in (tmp_path / "out/report.html").read_text()


def test_an_answer_goes_out_without_a_figure_that_cannot_be_drawn(tmp_path, monkeypatch):
    """As it was with half of a pair: the renderer fails."""
    monkeypatch.setattr(render, "_drawable", lambda spec: spec)
    ran = released(tmp_path, KEYS["pairs of UTF-16"])
    assert ran.code == 0, ran.err
    assert not (tmp_path / "out/figures/keys.svg").exists()
    assert "the figure could not be drawn" in (tmp_path / "out/report.html").read_text()
    assert (tmp_path / "out/tables/keys.csv").exists()
    assert figure.draw is render.draw
