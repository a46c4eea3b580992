"""Half of a character, as `"\\ud83d"` in YAML, is refused where it stands, and is no bug."""

import pytest

from command_line import confide
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
