"""Rows of a CSV file that have too few or too many fields are left out, and shift nothing."""

import gzip

import pytest

import confide
from confide.rows.sources import delimited

DATASET = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: csv, path: data}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  labs:
    from: {name}
    rows-per-patient: 1
    columns:
      creatinine: {{kind: number, lower: 0, upper: 10}}
      surplus: {{categories: [a, b]}}
"""
HEAD = "pid,creatinine,surplus"
WHOLE = [f"{i},1,a" for i in range(60)]
ODD = [
    "100,1,5,a",  # a comma for a decimal point, unquoted
    "101,9,a,",  # an empty field too many
    "102,9,a,,x",
    '103,9,a,""',
    "104,9",
    "105",
    "106,9,a,b,c,d,e",
    '107,"9","a","b"',
]
TRUTH = 60 * 1 + 5 + 7


def _sum(folder, text, *, name="labs.csv"):
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for part, content in (text if isinstance(text, dict) else {name: text}).items():
        (data / part).parent.mkdir(exist_ok=True)
        raw = content.encode("utf-8")
        (data / part).write_bytes(gzip.compress(raw) if part.endswith(".gz") else raw)
    (folder / "dataset.yaml").write_text(DATASET.format(name=name))
    with confide.open(folder / "dataset.yaml") as workspace:
        asked = [
            {"id": "all", "kind": "sum", "column": "creatinine"},
            {"id": "n", "kind": "count"},
        ]
        plan = workspace.plan(*asked, epsilon="600")
        found = workspace.release(plan).estimates
    told = [round(each.value) for each in found if each.value is not None]
    return told[0], told[-1]


def _lines(end="\n"):
    quoted = ['200,"5","a"', '201,"7",""']
    rows = [row for pair in zip(WHOLE[:8], ODD, strict=True) for row in pair]
    return end.join([HEAD, *rows, *WHOLE[8:], *quoted]) + end


FORMS = {
    "lines": _lines(),
    "carriage returns and lines": _lines("\r\n"),
    "mixed": _lines().replace("a\n", "a\r\n"),
    "without a last line end": _lines().rstrip("\n"),
    "a mark of byte order": "\ufeff" + _lines(),
    "blank lines": _lines().replace("\n", "\n\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_with_too_many_or_too_few_fields_is_left_out_by_itself(form, tmp_path):
    assert _sum(tmp_path, FORMS[form]) == (TRUTH, 62)


def test_it_is_so_in_compressed_files_and_in_tables_of_tabs(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert _sum(tmp_path / "a", _lines(), name="labs.csv.gz") == (TRUTH, 62)
    assert _sum(tmp_path / "b", _lines().replace(",", "\t"), name="labs.tsv") == (TRUTH, 62)


def test_it_is_so_in_every_part_of_a_folder(tmp_path):
    first, second = [HEAD, *ODD, *WHOLE[:30]], [HEAD, *WHOLE[30:], *ODD]
    parts = {"labs/1.csv": "\n".join(first) + "\n", "labs/2.csv": "\r\n".join(second) + "\r\n"}
    assert _sum(tmp_path, parts, name="labs") == (60, 60)


@pytest.mark.mutant
def test_a_reader_that_takes_the_first_fields_of_a_longer_row_is_seen(tmp_path, monkeypatch):
    def trusting(read, *, header, surplus):
        cells = [delimited.named(delimited.own(name), name) for name in header]
        from sqlglot import exp

        return exp.Table(this=exp.Paren(this=delimited.select(*cells, of=read)))

    monkeypatch.setattr(delimited, "_whole_rows", trusting)
    assert _sum(tmp_path, FORMS["lines"]) != (TRUTH, 62)
