"""Rows of a CSV file that have too few or too many fields, or are no UTF-8, are left out alone."""

import gzip

import pytest

import confide
from command_line import confide as command
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
    def trusting(read, *, header, surplus, declared):
        cells = [delimited.named(delimited.own(name), name) for name in header]
        from sqlglot import exp

        return exp.Table(this=exp.Paren(this=delimited.select(*cells, of=read)))

    monkeypatch.setattr(delimited, "_whole_rows", trusting)
    assert _sum(tmp_path, FORMS["lines"]) != (TRUTH, 62)


ENCODINGS = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: csv, path: data}}
protects: {{unit: {unit}, id: pid, adjacency: {adjacency}}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  p:
    from: p.csv
    columns:
      town: {{kind: text}}
      sex: {{categories: [f, m]}}
"""
LATIN = [  # pid, town, remark, sex, last
    *(f"{i},Ulm,M\u00fcller,f,x" for i in range(20)),  # nobody reads the remark
    *(f"{i},K\u00f6ln,x,m,x" for i in range(20, 27)),
    *(f"{i},Ulm,x,m,\u00fc" for i in range(27, 30)),
    *(f"J\u00f6rg {i},Ulm,x,m,x" for i in range(30, 32)),
    *(f"{i},Ulm,x,m,x" for i in range(32, 42)),
    "42,Ulm,x",
    "43,Ulm,x,m,x,x",
]
WHOLE_IN_LATIN, UNREAD = 30, 7 + 3 + 2 + 2


def _latin(folder, *, encoding="latin-1", unit="patient", adjacency="add-remove"):
    (folder / "data").mkdir()
    text = "\n".join(["pid,town,remark,sex,last", *LATIN]) + "\n"
    (folder / "data" / "p.csv").write_bytes(text.encode(encoding))
    path = folder / "dataset.yaml"
    path.write_text(ENCODINGS.format(unit=unit, adjacency=adjacency))
    return path


def _people(path):
    with confide.open(path) as workspace:
        bounds = {} if "unit: event" in path.read_text() else {"per-patient": {"rows": 1}}
        asked = {"id": "n", "kind": "count", "table": "p", "count": "events", **bounds}
        release = workspace.release(workspace.plan(asked, epsilon="600"))
        return round(release.estimates[-1].value)


def test_a_row_that_is_no_utf8_is_left_out_for_what_is_declared_of_it_alone(tmp_path):
    assert _people(_latin(tmp_path)) == WHOLE_IN_LATIN


def test_the_same_file_in_utf8_loses_none_but_the_rows_of_other_widths(tmp_path):
    assert _people(_latin(tmp_path, encoding="utf-8")) == len(LATIN) - 2


def test_the_steward_learns_how_many_lines_are_left_out_and_why(tmp_path):
    path = _latin(tmp_path)
    with confide.open(path) as workspace:
        (first, *_) = workspace.engine().examine()
    assert "bytes that are no UTF-8 in a declared column" in first
    (facts,) = command("prepare", path, "--json").json["tables"]
    assert (facts["unread-lines"], facts["rows"]) == (UNREAD - 2, WHOLE_IN_LATIN + 2)
    assert facts["without-person"] == 2
    shown = command("prepare", path).out
    assert "iconv -f WINDOWS-1252" in " ".join(shown.split())


def test_no_line_is_said_to_be_unread_in_a_file_that_is_whole(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "p.csv").write_text("pid,town,sex\n\n1,Ulm,f\n\n2,Bonn,m\n")
    path = tmp_path / "dataset.yaml"
    path.write_text(ENCODINGS.format(unit="patient", adjacency="add-remove"))
    assert command("prepare", path, "--json").json["tables"][0]["unread-lines"] == 0
    assert "iconv" not in command("prepare", path).out


def _in_both(folder):
    """Return what is counted of events in the source, and in its copies."""
    path = _latin(folder, unit="event")
    counted = _people(path)
    path.write_text(path.read_text().replace('"1"', '"2"'))
    assert command("prepare", path, "-q").code == 0
    return counted, _people(path)


def test_copies_hold_the_rows_that_the_source_answers_with(tmp_path):
    counted, copied = _in_both(tmp_path)
    assert counted == copied


@pytest.mark.mutant
def test_a_row_whose_being_there_hangs_on_the_question_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_declared", lambda _: frozenset())
    counted, copied = _in_both(tmp_path)
    assert counted != copied
