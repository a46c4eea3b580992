"""Each mistake of a newcomer with workbooks is found by a check, or refused free of charge."""

import pytest

from command_line import confide

pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
from workbook_mistakes import GOOD, MISTAKES

BY_NAME = {each.name: each for each in MISTAKES}


def found_in(mistake, folder):
    """What a check says of a mistake, as JSON."""
    ran = confide("check", mistake.store(folder), "--json", "--quiet")
    assert ran.code == 0
    return ran.json


@pytest.mark.parametrize("name", BY_NAME)
def test_a_check_finds_each_mistake_counts_it_and_says_what_helps(name, tmp_path):
    mistake = BY_NAME[name]
    told = found_in(mistake, tmp_path)
    found = [each for each in told["findings"] if each["what"] == mistake.what]
    assert found, told["findings"]
    assert [each["cells"] for each in found] == [mistake.cells]
    assert mistake.fix in f"{found[0]['why']} {found[0]['fix']}"
    assert found[0]["fix"]


def test_of_a_workbook_without_a_mistake_nothing_is_found(tmp_path):
    told = found_in(GOOD, tmp_path)
    assert told["findings"] == []
    (table,) = told["tables"]
    assert (table["rows"], table["patients"]) == (60, 60)


@pytest.mark.parametrize("name", [each.name for each in MISTAKES if each.refused])
def test_what_is_refused_is_refused_before_a_charge(name, tmp_path):
    declared = BY_NAME[name].store(tmp_path)
    confide("init", tmp_path)
    ran = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert ran.code == 7, ran.err
    spent = confide("ledger", "show", declared, "--json").json
    assert "released" not in str(spent)
    assert not (tmp_path / "out").exists()
