"""The example studies can be planned by anybody: nothing of them is in the data."""

import re
import shutil

import pytest

from confide.files.study import read_study
from told_reports import EXAMPLES, NAMES, place_tracts, planned


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_planned_without_data(name, tmp_path):
    plan = read_study(planned(name, into=tmp_path)).plan()
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
