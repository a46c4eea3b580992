"""The attack lab, as a command: exact, for the steward alone, apart from releases and ledgers."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import confide
from confide.attacks.lab import run
from lab_world import HEAD, rows, write_rows
from small_clinic import make_clinic

ALL = [each.name for each in run.LAB_ATTACKS]
COLUMNS = ("--quasi", "age,sex,zip", "--sensitive", "condition")
EXACT = "For the steward's eyes only"


@pytest.fixture(autouse=True)
def _short(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "GAMES", 1500)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(tmp_path):
    return write_rows(tmp_path / "ward.csv")


def attack(name, table, *more):
    return confide("attack", name, "--table", table, *COLUMNS, *more)


def _files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_attack_is_shown_on_a_page_and_in_a_file_for_the_steward_alone(table, tmp_path):
    pytest.importorskip("scipy", reason="its extra is not installed")
    ran = attack("all", table, "--out", tmp_path / "mine", "--json")
    assert ran.code == 0
    assert ran.json["schema"] == "confide.attack/1"
    assert [each["attack"] for each in ran.json["attacks"]] == ALL
    for each in ran.json["attacks"]:
        assert each["holds"]
        assert each["exposed"] > 0.1 * each["patients"], each["attack"]
        assert f"{each['exposed']:,} of {each['patients']:,} patients" in each["says"]
    names = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert all(name.startswith("STEWARD-ONLY-") for name in names)
    assert sorted(ran.json["files"]) == names
    written = json.loads((tmp_path / "mine" / "STEWARD-ONLY-attack-all.json").read_text("utf-8"))
    assert written == ran.json
    assert EXACT in written["for-whom"]


def test_the_page_says_beside_every_number_whose_it_is_and_shows_no_patient(table, tmp_path):
    assert attack("homogeneity", table, "--out", tmp_path / "mine").code == 0
    page = (tmp_path / "mine" / "STEWARD-ONLY-attack-homogeneity.html").read_text("utf-8")
    assert page.count("steward&#x27;s eyes only") >= 4
    assert "<title>STEWARD ONLY" in page
    picture = (tmp_path / "mine" / "STEWARD-ONLY-homogeneity.svg").read_text("utf-8")
    assert "STEWARD ONLY" in picture
    for value in ("depression", "asthma", "30307"):
        assert value not in page


def test_without_scipy_all_but_reconstruction_is_run(table, tmp_path, monkeypatch):
    monkeypatch.setattr("confide.attacks.lab.attack.find_spec", lambda _: None)
    ran = attack("reconstruction", table, "--out", tmp_path / "mine")
    assert ran.code == 2
    assert "accounting" in ran.err
    assert not (tmp_path / "mine").exists()
    ran = attack("all", table, "--out", tmp_path / "mine", "--json")
    assert ran.code == 0
    assert ran.json["not-run"] == ["reconstruction"]
    assert "Not run: reconstruction" in ran.err


def test_made_up_patients_may_be_shown_to_anybody(tmp_path):
    ran = confide("attack", "intersection", "--example", "--json")
    assert ran.code == 0
    assert "shown to anybody" in ran.json["for-whom"]
    assert ran.json["attacks"][0]["exposed"] > 50
    names = {path.name for path in (tmp_path / "attack-example").iterdir()}
    assert all(name.startswith("EXAMPLE-") for name in names)
    for name in ("EXAMPLE-attack-intersection.html", "EXAMPLE-intersection.svg"):
        text = (tmp_path / "attack-example" / name).read_text("utf-8")
        assert "STEWARD ONLY" not in text
        assert EXACT not in text
        assert "Made-up patients" in text


@pytest.mark.parametrize(
    "words", [(), ("--example", "--table", "ward.csv"), ("--example", "--quasi", "age")]
)
def test_either_a_table_is_attacked_or_the_example(words, table, tmp_path):
    before = _files(tmp_path)
    ran = confide("attack", "linkage", *words)
    assert ran.code == 2
    assert "--example" in ran.err
    assert _files(tmp_path) == before


def test_only_the_steward_may_read_what_was_written(table, tmp_path):
    before = os.umask(0)
    try:
        assert attack("linkage", table, "--out", tmp_path / "mine").code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in (tmp_path / "mine").iterdir()} == {0o600}


def test_the_terminal_says_first_whose_it_is(table):
    ran = attack("tracker", table)
    assert ran.code == 0
    assert ran.out.startswith(EXACT)
    assert "tracker" in ran.out
    assert EXACT in ran.err
    assert "steward-only-attack" in ran.err


def test_no_ledger_is_touched_and_nothing_is_written_into_a_release(tmp_path, table):
    clinic = make_clinic(tmp_path / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    before = _files(tmp_path)
    inside = [clinic.folder / "out", clinic.folder / "out" / "figures" / "mine"]
    (tmp_path / "elsewhere").symlink_to(clinic.folder / "out" / "figures")
    for place in (*inside, tmp_path / "elsewhere" / "mine"):
        ran = attack("linkage", table, "--out", place)
        assert ran.code == 7
        assert "lies in a release" in ran.err
    ran = attack("linkage", table, "--out", clinic.folder / ".confide" / "mine")
    assert ran.code == 7
    assert _files(tmp_path) == before
    assert attack("linkage", table, "--out", clinic.folder / "mine").code == 0
    after = _files(tmp_path)
    assert all(after[path] == content for path, content in before.items())


def test_nothing_is_written_over(table, tmp_path):
    assert attack("linkage", table, "--out", tmp_path / "mine").code == 0
    before = _files(tmp_path)
    assert attack("linkage", table, "--out", tmp_path / "mine").code == 7
    assert _files(tmp_path) == before


def test_a_file_without_names_of_columns_is_refused_without_showing_its_first_patient(tmp_path):
    lines = rows()
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"{','.join(line)}\n" for line in lines))
    ran = attack("linkage", path)
    assert ran.code == 7
    assert "bare.csv has to name its columns" in ran.err
    assert not any(cell in ran.err for cell in lines[0] if len(cell) > 1)
    assert not (tmp_path / "steward-only-attack").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--epsilon", "0"), "Expected epsilon"),
        (("--epsilon", "much"), "Expected epsilon"),
        (("--epsilon", "21"), "Expected epsilon"),
        (("--k", "1"), "Expected k"),
        (("--k", "300"), "Expected k"),
        (("--sensitive", "age"), "each named once"),
        (("--quasi", ""), "each named once"),
        (("--quasi", "age,height"), "Unknown column"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_written(table, tmp_path, more, said):
    before = _files(tmp_path)
    ran = attack("linkage", table, *more)
    assert ran.code == 7
    assert said in ran.err
    assert _files(tmp_path) == before


def test_odd_tables_are_refused(tmp_path):
    few = write_rows(tmp_path / "few.csv", rows(19))
    assert "at least 20 patients" in attack("linkage", few).err
    twice = tmp_path / "twice.csv"
    text = write_rows(tmp_path / "ward.csv").read_text()
    twice.write_text(text.replace(",".join(HEAD), "age,age,zip,condition"))
    assert "two columns of one name" in attack("linkage", twice).err
    assert attack("nothing", tmp_path / "ward.csv").code == 7


def test_a_column_that_says_nothing_is_no_bug(tmp_path):
    lines = [("30", "F", "", "flu")] * 40
    path = write_rows(tmp_path / "alike.csv", lines)
    for name in ALL:
        if name != "reconstruction":
            ran = attack(name, path, "--out", tmp_path / name, "--json")
            assert ran.code == 0, ran.err
    told = json.loads((tmp_path / "tracker" / "STEWARD-ONLY-attack-tracker.json").read_text())
    assert told["attacks"][0]["exposed"] == 0


def test_a_table_of_semicolons_and_latin_letters_or_parquet_is_attacked_as_the_usual_one(tmp_path):
    lines = [HEAD, *rows()]
    words = [["åge" if cell == "age" else cell for cell in line] for line in lines]
    for line in words[1:]:
        line[0] = f"{line[0]},5"  # a number with a comma for its places
    path = tmp_path / "ward.csv"
    path.write_bytes("\r\n".join(";".join(line) for line in words).encode("latin-1"))
    names = ("--quasi", "åge,sex,zip", "--sensitive", "condition", "--json")
    form = ("--separator", ";", "--decimal", ",", "--encoding", "latin-1")
    made = confide("attack", "homogeneity", "--table", path, *names, *form, "--out", tmp_path / "a")
    assert made.code == 0, made.err
    columns = dict(zip(words[0], zip(*words[1:], strict=True), strict=True))
    ages = [float(each.replace(",", ".")) for each in columns["åge"]]
    pq.write_table(pa.table(columns | {"åge": ages}), tmp_path / "ward.parquet")
    of = confide(
        "attack",
        "homogeneity",
        "--table",
        tmp_path / "ward.parquet",
        *names,
        "--out",
        tmp_path / "b",
    )
    assert of.code == 0, of.err
    assert of.json["anonymity"] == made.json["anonymity"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--separator", "/"), "Unknown separator"),
        (("--encoding", "ebcdic"), "Unknown encoding"),
        (("--decimal", "!"), "a point or a comma"),
        (("--separator", ";", "--encoding", "utf-16"), "cannot be read as it is said"),
    ],
)
def test_a_form_that_is_not_that_of_the_file_is_refused_and_shows_no_cell(
    table, tmp_path, words, told
):
    ran = attack("homogeneity", table, *words, "--out", tmp_path / "mine")
    assert ran.code == 7
    assert told in ran.err
    assert "asthma" not in ran.err
