"""Rows of a CSV file that have too few or too many fields are left out alone; others never."""

import gzip

import pytest

import confide
from command_line import confide as command
from confide.errors import ContractError
from confide.rows.sources import delimited, text_files
from confide.tables.encoding import Encoding

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


ENCODINGS = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: csv, path: data}}
protects: {{unit: {unit}, id: pid, adjacency: {adjacency}}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  p:
    from: p.csv
    encoding: {encoding}
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
ROWS, DAMAGED_IDS, UNREAD = len(LATIN) - 2, 2, 2
UNREADABLE = 7 + DAMAGED_IDS  # nobody reads remarks, nor the last column


def _latin(folder, *, written="latin-1", declared="utf-8", unit="patient"):
    (folder / "data").mkdir()
    text = "\n".join(["pid,town,remark,sex,last", *LATIN]) + "\n"
    (folder / "data" / "p.csv").write_bytes(text.encode(written))
    path = folder / "dataset.yaml"
    path.write_text(ENCODINGS.format(unit=unit, adjacency="add-remove", encoding=declared))
    return path


def _people(path):
    with confide.open(path) as workspace:
        bounds = {} if "unit: event" in path.read_text() else {"per-patient": {"rows": 1}}
        asked = {"id": "n", "kind": "count", "table": "p", "count": "events", **bounds}
        release = workspace.release(workspace.plan(asked, epsilon="600"))
        return round(release.estimates[-1].value)


def test_a_row_that_is_no_utf8_is_kept_unless_its_id_cannot_be_read(tmp_path):
    assert _people(_latin(tmp_path)) == ROWS - DAMAGED_IDS


@pytest.mark.parametrize("encoding", ["utf-8", *(each.value for each in Encoding)])
def test_a_file_in_its_declared_encoding_loses_none_but_the_rows_of_other_widths(
    encoding, tmp_path
):
    assert _people(_latin(tmp_path, written=encoding, declared=encoding)) == ROWS


@pytest.mark.parametrize("encoding", [each.value for each in Encoding])
def test_labels_and_ids_of_a_declared_encoding_are_read_as_they_were_written(encoding, tmp_path):
    path = _latin(tmp_path, written=encoding, declared=encoding)
    text = path.read_text().replace("kind: text", "categories: [Ulm, K\u00f6ln]")
    path.write_text(text, "utf-8")
    with confide.open(path) as workspace:
        asked = {"id": "n", "kind": "histogram", "table": "p", "by": ["town"]}
        asked |= {"count": "events", "per-patient": {"rows": 1}}
        found = workspace.release(workspace.plan(asked, epsilon="600")).of("n")
        assert {each.key[0]: round(each.value) for each in found} == {
            "Ulm": ROWS - 7, "K\u00f6ln": 7
        }  # fmt: skip
        assert workspace.engine().identity("J\u00f6rg 30") is not None


def test_only_files_of_text_have_an_encoding_and_only_one_that_is_known(tmp_path):
    path = _latin(tmp_path, declared="latin-1")
    text = path.read_text()
    for old, new, said in (
        ("kind: csv", "kind: parquet", "'p': only CSV files have an encoding"),
        ("latin-1", "utf-32", "encoding.*windows-1252"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(ContractError, match=said):
            confide.open(path)


def test_the_steward_learns_how_many_lines_are_left_out_and_why(tmp_path):
    path = _latin(tmp_path)
    with confide.open(path) as workspace:
        lines, texts, *_ = workspace.engine().examine()
    assert "too few or too many fields" in lines
    assert "text that is not UTF-8" in texts
    (facts,) = command("prepare", path, "--json").json["tables"]
    assert (facts["unread-lines"], facts["rows"]) == (UNREAD, ROWS)
    assert (facts["unreadable-rows"], facts["without-person"]) == (UNREADABLE, DAMAGED_IDS)
    shown = command("prepare", path).out
    assert "declare `encoding: windows-1252`" in " ".join(shown.split())


def test_nothing_is_unreadable_in_a_file_of_its_declared_encoding(tmp_path):
    path = _latin(tmp_path, declared="latin-1")
    (facts,) = command("prepare", path, "--json").json["tables"]
    assert (facts["unread-lines"], facts["rows"]) == (UNREAD, ROWS)
    assert (facts["unreadable-rows"], facts["without-person"]) == (0, 0)
    assert "windows-1252" not in command("prepare", path).out


def test_no_line_is_said_to_be_unread_in_a_file_that_is_whole(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "p.csv").write_text("pid,town,sex\n\n1,Ulm,f\n\n2,Bonn,m\n")
    path = tmp_path / "dataset.yaml"
    path.write_text(ENCODINGS.format(unit="patient", adjacency="add-remove", encoding="utf-8"))
    assert command("prepare", path, "--json").json["tables"][0]["unread-lines"] == 0
    assert "Unread" not in command("prepare", path).out


def _in_both(folder):
    """Return what is counted of events in the source, and in its copies."""
    path = _latin(folder, unit="event")
    counted = _people(path)
    path.write_text(path.read_text().replace('"1"', '"2"'))
    assert command("prepare", path, "-q").code == 0
    return counted, _people(path)


def test_copies_hold_the_rows_that_the_source_answers_with(tmp_path):
    counted, copied = _in_both(tmp_path)
    assert counted == copied == ROWS


@pytest.mark.mutant
def test_a_row_whose_being_there_hangs_on_the_question_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files.TextFiles, "settle", lambda *_: None)
    counted, copied = _in_both(tmp_path)
    assert counted != copied
