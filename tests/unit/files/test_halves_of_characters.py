"""Half of a character, as `"\\ud83d"` in YAML, is refused where it stands, and is no bug."""

from dataclasses import replace

import pytest

import confide as confide_package
from command_line import confide
from confide.errors import ContractError
from confide.plans.plan import Study
from small_clinic import DATASET, STUDY, make_clinic

HALF = '"\\ud83d"'


@pytest.mark.parametrize("whole", ["First look", "purpose: test", "{id: first"])
def test_half_a_character_in_a_study_is_refused_with_its_line(tmp_path, whole):
    clinic = make_clinic(tmp_path)
    key, colon, _ = whole.rpartition(": ")
    clinic.study.write_text(STUDY.replace(whole, f"{key}{colon}{HALF}"))
    done = confide("run", clinic.study, "--out", tmp_path / "out")
    assert (done.code, "study.yaml: Line 1: half of a character" in done.err) == (7, True)


@pytest.mark.parametrize("whole", ["north, south", "id: clinic", "from: patients.csv"])
def test_half_a_character_in_a_data_set_is_refused(tmp_path, whole):
    clinic = make_clinic(tmp_path)
    key, colon, _ = whole.rpartition(": ")
    clinic.dataset.write_text(DATASET.replace(whole, f"{key}{colon}{HALF}"))
    done = confide("plan", clinic.study)
    assert (done.code, "half of a character" in done.err) == (7, True)


COUNT = {"id": "n", "kind": "count", "table": "patients"}


@pytest.mark.parametrize(
    "asked",
    [
        {**COUNT, "title": "\ud83d"},
        {**COUNT, "where": {"sex": ["\ud83d"]}},
        {**COUNT, "\ud83d": "x"},
    ],
    ids=["text", "label", "key"],
)
def test_half_a_character_in_a_statistic_of_python_is_refused_before_it_is_planned(tmp_path, asked):
    make_clinic(tmp_path)
    with confide_package.open(tmp_path / "dataset.yaml") as at:
        with pytest.raises(ContractError, match="Half of a character"):
            at.plan(asked, epsilon="0.1")


def test_half_a_character_in_a_study_of_python_is_refused_free_of_charge(tmp_path):
    make_clinic(tmp_path)
    study = Study(id="s", title="\ud83d")
    with confide_package.open(tmp_path / "dataset.yaml") as at:
        plan = replace(at.plan(COUNT, epsilon="0.1"), study=study)
        with pytest.raises(ContractError, match="Half of a character"):
            at.release(plan)
        assert not at.ledger.entries("clinic")


def test_half_a_character_in_a_data_set_of_python_is_refused(tmp_path):
    make_clinic(tmp_path)
    text = DATASET.replace("id: clinic", "id: \ud83d")
    with pytest.raises(ContractError, match="Half of a character"):
        confide_package.open(text, folder=tmp_path)
