"""What is wrong with the first line of a file is said by name, before anything is charged."""

import codecs
import gzip
import re

import duckdb
import pytest

import confide
from command_line import confide as command
from confide.errors import ContractError

DATASET = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: {kind}, path: {path}}}
protects: {{unit: patient, id: person_id, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  p:
    from: {name}
    rows-per-patient: 1
    columns:
      sex: {{categories: [female, male]}}
      age: {{kind: number, lower: 0, upper: 100}}
"""
ROWS = "1,female,30\n2,male,40\n3,female,50\n"
FINE = "person_id,sex,age\n" + ROWS
SECRET = re.compile("male|30|40|50")
INDEX = "".join(f"{i},{line}\n" for i, line in enumerate(ROWS.splitlines()))


def refused(folder, content, *, name="p.csv", kind="csv"):
    """Return what a count by sex is refused with, as message and hint."""
    (folder / "data").mkdir()
    if isinstance(content, str):
        content = content.encode()
    if content is not None:
        (folder / "data" / name).write_bytes(content)
    (folder / "dataset.yaml").write_text(DATASET.format(kind=kind, path="data", name=name))
    with confide.open(folder / "dataset.yaml") as ws:
        plan = ws.plan({"id": "n", "kind": "histogram", "by": ["sex"]}, epsilon="1")
        with pytest.raises(ContractError) as told:
            ws.release(plan)
        assert all(use.used == 0 for use in ws.spent().scopes)
    return str(told.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(",person_id,sex,age\n" + INDEX, "no name for its first column.*index=False"),
        pytest.param("person_id,sex,age,\n" + ROWS, "ends its header with a separator"),
        pytest.param("person_id,,sex,age\n" + ROWS, "no name for column 2 of 4"),
        pytest.param("sep=,\n" + FINE, "begins with the line sep= of Excel.*Delete it"),
        pytest.param("\r\n" + FINE, "begins with a blank line"),
        pytest.param(" \n\n" + FINE, "begins with a blank line"),
        pytest.param("sep=,\n".encode("utf-16") + FINE.encode("utf-16-le"), "is in UTF-16"),
        pytest.param("sep=,\r" + FINE.replace("\n", "\r"), "begins with the line sep= of Excel"),
        pytest.param("", "names no declared column"),
        pytest.param(FINE.replace("\n", "\r"), "carriage returns alone"),
        pytest.param(FINE.encode("utf-16"), "is in UTF-16"),
        pytest.param(codecs.BOM_UTF16_BE + FINE.encode("utf-16-be"), "is in UTF-16"),
        pytest.param(FINE.encode("utf-16-le"), "is in UTF-16"),
        pytest.param("person_id,sex,größe\n".encode("latin-1"), "not UTF-8.*iconv"),
        pytest.param("person_id\r" + "x" * 2**21, "no end of its first line"),
        pytest.param("x" * 2**21, "names no declared column"),
        pytest.param("person_id," + "x" * 200_000 + "\n", "names no declared column"),
        pytest.param(
            FINE.replace(",", ";"),
            'one column with semicolons in it.*separator: ";".*decimal: ","',
        ),
        pytest.param(FINE.replace(",", "|"), r"one column with bars in it.*separator: bar"),
        pytest.param(FINE.replace(",", "\t"), "one column with tabs in it.*Name it .tsv"),
        pytest.param(
            "person_id,sex,age,note,Note\n" + ROWS, r"column 'note' twice \(columns 4 and 5"
        ),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "bytes",
)
def test_a_first_line_that_is_no_header_is_refused_by_file_and_fault(content, told, tmp_path):
    said = refused(tmp_path, content)
    assert re.search(told, said), said
    assert "'p.csv'" in said


def test_commas_in_a_file_of_tabs_and_a_packed_file_that_is_not_are_told(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "c").mkdir()
    assert "Name it .csv" in refused(tmp_path / "a", FINE, name="p.tsv")
    assert "'p.csv.gz' cannot be read" in refused(tmp_path / "b", FINE, name="p.csv.gz")
    packed = gzip.compress(b"\n" + FINE.encode())
    assert "blank line" in refused(tmp_path / "c", packed, name="p.csv.gz")


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("Person_ID,Sex,Age", "It has 'Sex'"),
        ("person_id, sex, age", "It has ' sex'"),
        ("person_id,sexx,age", "It has 'sexx'"),
    ],
)
def test_the_nearest_name_of_a_header_is_shown(header, told, tmp_path):
    said = refused(tmp_path, f"{header}\n{ROWS}")
    assert "the source has no column 'sex'" in said
    assert told in said


COUNTED = {"count": "events", "per-patient": {"rows": 1}}
PATIENTS = (
    b"1,male,30",
    b"1,male,male",
    b"male;40;50",
    b"male|40",
    b"1,,30",
    b",male,30",
    b"1,male,",
    b",,",
    b"1",
    b"",
    b"  ",
    b"sexx,agee,30",
    b'"1,male",30',
    b"1," + b"x" * 200_000,
    b"1," + b"x" * 2**21,
    "1,Jörg,30".encode(),
    "1,Jörg,30".encode("latin-1"),
    b'1,"ma\rle",30',
    b'\r,"\r",30',
    b"1,ma\0le,30",
    b"\xff\xfe1,male,30",
    "1,male,30".encode("utf-16"),
    b"\xef\xbb\xbf1,male,30",
    b"sep=1,male,30",
    b"sep=",
    b'1,"male,30',
)
"""Patients who stand where a header would, with cells that are empty, equal, long or in bytes of
every kind."""

DECLARED = {
    "columns": "    columns:\n      sex: {categories: [female, male]}\n",
    "none": "    columns: {}\n",
    "an id and an encoding": "    id: one\n    encoding: windows-1252\n    columns: {}\n",
}


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("parts", [False, True], ids=["file", "part"])
def test_of_a_patient_in_the_first_line_nothing_is_told(parts, declared, tmp_path):
    """Nor which cells are empty, equal, or no ASCII: the same is said of everybody, and of none."""
    (said,) = set(told_of_patients(tmp_path, parts=parts, declared=declared))
    assert "names no declared column" in said
    assert not SECRET.search(said)


def told_of_patients(folder, *, parts, declared="columns"):
    head = b"person_id,sex,age,one\n"
    of = DATASET.format(kind="csv", path="data", name="p" if parts else "p.csv")
    text = of.partition("    rows-per-patient")[0] + DECLARED[declared]
    for place, patient in enumerate((*PATIENTS, None)):
        (folder / str(place) / "data").mkdir(parents=True)
        rows = folder / str(place) / "data" / "p"
        content = b"" if patient is None else patient + b"\n" + ROWS.encode()
        if parts:
            rows.mkdir()
            (rows / "a.csv").write_bytes(head + ROWS.encode())
            (rows / "b.csv").write_bytes(content)
        else:
            rows.with_suffix(".csv").write_bytes(content)
        with confide.open(text, folder=folder / str(place)) as ws:
            plan = ws.plan({"id": "n", "kind": "count", "table": "p"} | COUNTED, epsilon="1")
            with pytest.raises(ContractError) as told:
                ws.release(plan)
            assert all(use.used == 0 for use in ws.spent().scopes)
        yield str(told.value)


def test_a_table_of_nothing_but_ids_has_a_header_too(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "p.csv").write_text("person_id\n1\n2\n")
    text = DATASET.format(kind="csv", path="data", name="p.csv").partition("    columns:")[0]
    with confide.open(text + "    columns: {}\n", folder=tmp_path) as ws:
        found = ws.release(ws.plan({"id": "n", "kind": "count"}, epsilon="60")).of("n")[0]
    assert round(found.value) == 2


def test_an_id_of_other_capitals_is_shown(tmp_path):
    said = refused(tmp_path, "Person_ID,sex,age\n" + ROWS)
    assert "no id column 'person_id'" in said
    assert "It has 'Person_ID'" in said


def test_a_view_is_refused_as_a_view(tmp_path):
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS person_id, 'male' AS sex, 3 AS age")
        connection.execute("CREATE VIEW p AS SELECT * FROM t")
    text = DATASET.format(kind="duckdb", path="rows.duckdb", name="p")
    with confide.open(text, folder=tmp_path) as ws:
        plan = ws.plan({"id": "n", "kind": "count"}, epsilon="1")
        with pytest.raises(ContractError, match="'p' is a view in the source, and views are not"):
            ws.release(plan)


def test_init_names_the_option_that_it_cannot_take(tmp_path):
    for option, word in (("--id", "Patienten-ID"), ("--table", "a-b"), ("--columns", "sex,a-b")):
        ran = command("init", tmp_path / "new", option, word, "--json")
        assert (ran.code, ran.json["error"]) == (7, "ContractError")
        assert f"Expected {option} as a name" in ran.json["message"]
    hint = command("init", tmp_path / "new", "--id", "Patienten-ID", "--json").json["hint"]
    assert "protects: {id: ...}" in hint
    assert "--columns" not in hint


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("sex: {categories: [female, male]}", "sex:", "columns → sex: expected keys such as"),
        (
            "source: {kind: csv, path: data}",
            "source:",
            "source: expected keys such as checked or copies-schema or kind",
        ),
        ("columns:\n", "columns: 5\n#", "columns: expected a mapping of names"),
    ],
)
def test_a_section_left_empty_is_told_in_the_words_of_the_file(before, after, told, tmp_path):
    text = DATASET.format(kind="csv", path="data", name="p.csv")
    assert before in text
    if after.endswith("#"):
        text = text.split("columns:")[0] + "columns: 5\n"
    with pytest.raises(ContractError, match=told) as refusal:
        confide.open(text.replace(before, after), folder=tmp_path)
    assert "instance of" not in str(refusal.value)
