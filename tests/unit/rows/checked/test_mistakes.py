"""Each mistake of a newcomer with CSV files is found by a check, or refused free of charge."""

import dataclasses
import re

import pytest

from command_line import confide
from confide import open as open_workspace
from mistakes import GOOD, MISTAKES

BY_NAME = {each.name: each for each in MISTAKES}


def found_in(mistake, folder):
    """What a check says of a mistake, as JSON."""
    ran = confide("check", mistake.store(folder), "--json", "--quiet")
    assert ran.code == 0
    return ran.json


def test_there_are_as_many_mistakes_as_were_made_by_people():
    assert len(BY_NAME) == len(MISTAKES) >= 43


@pytest.mark.parametrize("name", BY_NAME)
def test_a_check_finds_each_mistake_counts_it_and_says_what_helps(name, tmp_path):
    mistake = BY_NAME[name]
    told = found_in(mistake, tmp_path)
    found = [each for each in told["findings"] if each["what"] == mistake.what]
    assert found, told["findings"]
    assert [each["cells"] for each in found] == [mistake.cells]
    assert mistake.fix in f"{found[0]['why']} {found[0]['fix']}"
    assert found[0]["fix"]
    assert told["clean"] is False


@pytest.mark.parametrize(
    "name", [each.name for each in MISTAKES if each.what.startswith("dates as ")]
)
def test_a_form_of_dates_that_is_proposed_loses_no_cell_and_reads_the_others(name, tmp_path):
    mistake = BY_NAME[name]
    told = found_in(mistake, tmp_path)
    (fix,) = {each["fix"] for each in told["findings"] if each["what"] == mistake.what}
    dates = re.search(r"dates: (\[[^]]*\]|[^ }]+)", fix)[1]
    bare = re.sub("    dialect: .*\n", "", mistake.declared)
    line = f"    dialect: {{dates: {dates}}}\n    rows-per"
    mended = dataclasses.replace(mistake, declared=bare.replace("    rows-per", line))
    (table,) = found_in(mended, tmp_path / "mended")["tables"]
    (cells,) = [each for each in table["columns"] if each["column"] == "admitted"]
    assert cells["unreadable"] == 0
    assert cells["read"] == table["rows"]


def test_of_a_file_without_a_mistake_nothing_is_found(tmp_path):
    told = found_in(GOOD, tmp_path)
    assert told["findings"] == []
    assert told["clean"] is True
    (table,) = told["tables"]
    assert (table["rows"], table["patients"], table["most-rows"]) == (60, 60, 1)
    assert {each["read"] for each in table["columns"]} == {60}


@pytest.mark.parametrize("name", [each.name for each in MISTAKES if each.refused])
def test_a_mistake_that_nothing_can_be_read_of_is_refused_free_of_charge(name, tmp_path):
    dataset = BY_NAME[name].store(tmp_path)
    ran = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert ran.code == 7
    assert not (tmp_path / "out").exists()
    with open_workspace(dataset) as ws:
        assert all(use.used == 0 for use in ws.spent().scopes)
