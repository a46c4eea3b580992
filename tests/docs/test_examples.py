"""The example studies can be planned by anybody: nothing of them is in the data."""

import re
import runpy
import shutil
import sqlite3

import pytest

from confide.files.study import read_study
from pages import ROOT

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/study.yaml"))


def place_tracts(folder):
    """Make a tiny map of spData's form and let the example's own script read it."""
    (folder / "data").mkdir()
    rows = [("36007000100", 3540.0, 3.08), ("36011990100", 820.0, 0.2), ("36067000100", 95.0, 1.7)]
    with sqlite3.connect(folder / "data" / "NY8_bna_utm18.gpkg") as file:
        file.execute("CREATE TABLE sf_bna2_utm18 (AREAKEY TEXT, POP8 REAL, TRACTCAS REAL)")
        file.executemany("INSERT INTO sf_bna2_utm18 VALUES (?, ?, ?)", rows)
    file.close()
    runpy.run_path(str(folder / "place.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_planned_without_data(name, tmp_path):
    folder = tmp_path / name
    shutil.copytree(
        EXAMPLES / name, folder, ignore=shutil.ignore_patterns("data", "out", ".confide")
    )
    if name == "ny8":
        place_tracts(folder)
    plan = read_study(folder / "study.yaml").plan()
    assert plan.measurements
    assert all(statistic.title for statistic in plan.statistics)


def test_cases_are_as_many_as_the_rounded_numbers_of_their_tracts(tmp_path):
    shutil.copy(EXAMPLES / "ny8" / "place.py", tmp_path)
    place_tracts(tmp_path)
    cases = (tmp_path / "data" / "cases.csv").read_text("utf-8").splitlines()
    assert cases == [
        "case_id,tract",
        *("1,36007000100", "2,36007000100", "3,36007000100"),
        *("4,36067000100", "5,36067000100"),
    ]


def test_every_example_says_where_its_data_come_from():
    listed = re.findall(r"^\| \[(\w+)\]\(\w+\)", (EXAMPLES / "README.md").read_text("utf-8"), re.M)
    assert sorted(listed) == NAMES
    for name in NAMES:
        assert "data/" in (EXAMPLES / name / "README.md").read_text("utf-8")


def test_the_legal_file_of_an_example_is_the_form_with_every_answer_empty():
    from confide.files.legal import read_legal
    from confide.service.documents.start import empty_legal

    path = EXAMPLES / "framingham" / "legal.yaml"
    law = read_legal(path)
    assert not any(law.answers.values())
    assert [site.id for site in law.sites] == ["public-site", "private-site"]
    form = empty_legal(private=False)
    assert path.read_text("utf-8").endswith(form[form.index("\n# personal") :])
