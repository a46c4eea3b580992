"""Every CSV of public facts is read alike: as it is, or refused before anything is charged.

What a spreadsheet does to a file on the way changes no number and loses no label in silence.
"""

import pytest

from command_line import confide
from pages import ROOT
from small_clinic import DATASET, make_clinic

SPINE = """\
spines:
  place: {levels: [ward, county], file: areas.csv, population: people}
"""
DECLARED = (
    DATASET.replace("{1: male, 2: female}", "{file: codes.csv}")
    .replace("note: {kind: text}", "note: {kind: text, names: {file: names.csv}}")
    .replace(
        "ward: {categories: [north, south]}", "ward: {categories: {file: wards.csv, column: ward}}"
    )
    + SPINE
)
STUDIED = """\
study: {id: first, title: First look, purpose: test}
statistics:
  - {id: sick, kind: standardized-rate, table: patients, where: {diabetes: [yes]}, by: [sex], strata: [age_band],
     standard: {file: standard.csv}, population: {file: population.csv}, per: 100}
  - {id: sicker, kind: smr, table: patients, where: {diabetes: [yes]}, by: [sex], strata: [age_band],
     reference: {file: reference.csv}, population: {file: population.csv}}
  - {id: stays, kind: hierarchy, table: visits, shares: {county: 1, ward: 1}, per-patient: {rows: 3}, count: events}
spend: {at-most: {epsilon: "0.5"}}
"""
BANDS = ("0-39", "40-59", "60-100")
FILES = {
    "codes.csv": ["code,label", "1,männlich", "2,weiblich"],
    "names.csv": ["7,Sülze", "8,aspirin"],
    "wards.csv": ["ward,name", "north,Nörd", "south,Süd"],
    "areas.csv": ["ward,county,people", "north,Köln,700", "south,Köln,900"],
    "standard.csv": [*(f"{band},{n}" for n, band in enumerate(BANDS, start=3))],
    "reference.csv": ["band,rate", *(f"{band},0.{n}" for n, band in enumerate(BANDS, start=3))],
    "population.csv": [f"{sex},{band},50" for sex in ("männlich", "weiblich") for band in BANDS],
}
NAMES = [*FILES]
POLICY = ROOT / "examples" / "policy"
TABLES = {
    "visits.csv": (
        ["appearances,share", "1,0.71", "2,0.24", "3,0.05"],
        ("policy", "simulate", POLICY / "drop.yaml", "--visits"),
    ),
    "year.csv": (
        ["releases,patients", "1,300", "12,30"],
        ("patients", "preview", "--epsilon", "0.5"),
    ),
}


SAME = {
    "byte order mark": lambda rows: b"\xef\xbb\xbf" + "\n".join(rows).encode(),
    "carriage returns": lambda rows: ("\r\n".join(rows) + "\r\n").encode(),
    "carriage returns alone": lambda rows: "\r".join(rows).encode(),
    "empty lines": lambda rows: (
        "\n\n".join(rows) + "\n \n" + "," * rows[0].count(",") + "\n"
    ).encode(),
    "quotes": lambda rows: "\n".join(
        ",".join(f'"{cell}"' for cell in row.split(",")) for row in rows
    ).encode(),
}
REFUSED = {
    "semicolons": lambda rows: "\n".join(rows).replace(",", ";").encode(),
    "tabs": lambda rows: "\n".join(rows).replace(",", "\t").encode(),
    "semicolons and decimal commas": lambda rows: "\n".join(
        row.replace(",", ";") + ",5" for row in rows
    ).encode(),
    "a line of semicolons": lambda rows: "\n".join(
        [*rows[:-1], rows[-1].replace(",", ";")]
    ).encode(),
    "the line sep=": lambda rows: "\n".join(["sep=,", *rows]).encode(),
    "blanks after": lambda rows: "\n".join(rows).replace(",", " ,").encode(),
    "blanks before": lambda rows: "\n".join(rows).replace(",", ", ").encode(),
    "hard blanks": lambda rows: "\n".join(rows).replace(",", "\xa0,").encode(),
    "a second mark": lambda rows: b"\xef\xbb\xbf" * 2 + "\n".join(rows).encode(),
    "UTF-16": lambda rows: "\n".join(rows).encode("utf-16"),
    "UTF-16 without a mark": lambda rows: "\n".join(rows).encode("utf-16-le"),
    "Latin-1": lambda rows: "\n".join([*rows, "ä" + rows[-1]]).encode("latin-1"),
    "an open quote": lambda rows: "\n".join([*rows, '"x,1']).encode(),
    "nothing": lambda _: b"",
    "empty lines alone": lambda _: b"\n\r\n \n",
}


@pytest.fixture
def clinic(tmp_path):
    made = make_clinic(tmp_path / "clinic", dataset=DECLARED)
    made.study.write_text(STUDIED)
    for name, rows in FILES.items():
        (made.folder / name).write_text("\n".join(rows) + "\n")
    return made


def planned(clinic):
    return confide("plan", clinic.study, "--json")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_spreadsheet_adds_to_a_public_file_changes_no_plan(clinic, name):
    before = planned(clinic)
    assert before.code == 0, before.err
    for how, write in SAME.items():
        (clinic.folder / name).write_bytes(write(FILES[name]))
        found = planned(clinic)
        assert (found.code, found.out) == (0, before.out), (how, found.err)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_file_that_would_lose_labels_is_refused_and_costs_nothing(clinic, name):
    for how, write in REFUSED.items():
        (clinic.folder / name).write_bytes(write(FILES[name]))
        found = confide("run", clinic.study, "--out", clinic.folder / "out", "-q")
        assert found.code == 7, (how, found.err)
        assert name in found.err, (how, found.err)
        assert not (clinic.folder / "out").exists()
    assert not (clinic.folder / ".confide" / "ledger.sqlite").exists()


@pytest.mark.parametrize("name", TABLES)
def test_a_public_table_of_a_command_is_read_like_those_of_a_study(tmp_path, name):
    rows, words = TABLES[name]
    table = tmp_path / name
    table.write_text("\n".join(rows))
    before = confide(*words, table)
    assert before.code == 0, before.err
    for how, write in SAME.items():
        table.write_bytes(write(rows))
        assert confide(*words, table).out == before.out, how
    for how, write in REFUSED.items():
        table.write_bytes(write(rows))
        found = confide(*words, table)
        assert (found.code, name in found.err) == (7, True), (how, found.err)


@pytest.mark.parametrize(
    "word", [("show", "--reason", "asked"), ("forget",)], ids=["show", "forget"]
)
def test_a_list_of_ids_is_one_id_a_line_or_refused(clinic, word):
    ids = clinic.folder / "ids.txt"
    for text in ("p1\np2\n".encode("utf-16"), "p1\n".encode("utf-16-le"), b"p1\rp2\r", b"\xe4\n"):
        ids.write_bytes(text)
        found = confide("patients", *word, clinic.dataset, "--ids", ids)
        assert (found.code, "ids.txt" in found.err) == (7, True), found.err
