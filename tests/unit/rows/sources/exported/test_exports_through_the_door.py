"""Files of other programs: checked, planned, prepared, released and verified, by commands."""

import json
import sys
from pathlib import Path

import pytest

from command_line import confide
from exported_sources import STORED, store
from workbooks import workbook

for library in ("python_calamine", "pyreadstat", "pandas"):
    pytest.importorskip(library, reason="the extra `files` is not installed")

STUDY = """\
study: {id: s, title: By sex, purpose: test}
spend: {at-most: {epsilon: 90}}
statistics:
  - {id: sexes, kind: histogram, by: [sex], share: "0.5"}
  - {id: heavy, kind: count, where: {weight: {from: 100}}, share: "0.5"}
"""


def done(*words):
    ran = confide(*words)
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("kind", STORED)
def test_a_study_is_released_from_it_and_verified(kind, prepared, tmp_path):
    dataset = store(kind, tmp_path)
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(STUDY)
    done("init", tmp_path)
    told = json.loads(done("check", dataset, "--json", "--quiet").out)
    assert told["findings"] == []
    done("plan", study)
    if prepared:
        done("prepare", dataset)
    done("run", study, "--out", out)
    done("verify", out / "certificate.json")
    sexes, heavy = (
        (out / "tables" / f"{name}.csv").read_text().splitlines() for name in ("sexes", "heavy")
    )
    assert [line.split(",")[1:3] for line in sexes[1:]] == [["female", "30"], ["male", "30"]]
    assert "10" in heavy[1].split(",")


@pytest.mark.parametrize("kind", STORED)
def test_without_the_libraries_it_is_refused_free_of_charge(kind, tmp_path, monkeypatch):
    store(kind, tmp_path)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    done("init", tmp_path)
    for library in ("python_calamine", "pyreadstat"):
        monkeypatch.setitem(sys.modules, library, None)
    ran = confide("run", study, "--out", tmp_path / "out")
    assert ran.code != 0
    assert "[files]" in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", STORED)
def test_odd_texts_move_no_border_of_a_cell(kind, tmp_path):
    """Line ends, quotes and separators within a cell, also in the last column of a row."""
    import pandas as pd
    import pyreadstat

    odd = ["a\nb", "a\r\nb", 'say "a"', "a,b", ";\t|", '"', "'", "a\rb", ",,,,", "ß" * 500]
    rows = [[f"p{i}", i, text] for i, text in enumerate(odd * 3)]
    path = tmp_path / f"t{Path(STORED[kind][0]).suffix}"
    if kind == "excel":
        path.write_bytes(workbook({"Data": [["pid", "n", "note"], *rows]}))
    else:
        frame = pd.DataFrame(rows, columns=["pid", "n", "note"])
        if kind == "sas":
            frame["note"] = frame["note"].str[:100]
        write = {"stata": "write_dta", "spss": "write_sav", "sas": "write_xport"}[kind]
        getattr(pyreadstat, write)(frame, str(path))
    declared = tmp_path / "dataset.yaml"
    declared.write_text(
        'dataset: {id: t, lineage: t, snapshot: "1"}\n'
        f"source: {{kind: {kind}, path: {path.name}}}\n"
        "protects: {unit: patient, id: pid, adjacency: add-remove}\n"
        "accounting: {measure: pure}\ncaps: {lifetime: {epsilon: 1}}\n"
        f"tables: {{t: {{from: {path.name}, columns: {{n: {{kind: number, lower: 0, upper: 99}},"
        " note: {kind: text}}}}\n"
    )
    (table,) = done("check", declared, "--json", "--quiet").json["tables"]
    assert (table["rows"], table["patients"]) == (30, 30)
    assert [column["read"] for column in table["columns"]] == [30, 30]


@pytest.mark.parametrize("kind", STORED)
def test_a_file_that_changed_is_another_state(kind, tmp_path):
    """As of CSV: who required a check of the source has to check it again."""
    dataset = store(kind, tmp_path)
    text = dataset.read_text().replace("path: data}", "path: data, checked: required}")
    dataset.write_text(text)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    done("init", tmp_path)
    done("check", dataset, "--quiet")
    STORED[kind][1](tmp_path / "data" / STORED[kind][0])
    refused = confide("run", study, "--out", tmp_path / "out")
    assert refused.code == 7
    assert "check" in refused.err
    done("check", dataset, "--quiet")
    done("run", study, "--out", tmp_path / "out")
