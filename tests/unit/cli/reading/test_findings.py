"""``confide show``: a line of title and sentence for each question."""

from command_line import confide
from small_clinic import make_clinic

STUDY = """\
study: {id: alike}
statistics:
  - {id: a, kind: count, table: patients, where: {diabetes: [yes]}}
  - {id: b, kind: count, table: patients, where: {diabetes: [yes]}}
  - {id: c, kind: count, table: patients}
spend: {at-most: {epsilon: 1}}
"""


def test_each_question_is_named_once_by_its_id(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    clinic.study.write_text(STUDY)
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").code == 0
    shown = confide("show", tmp_path / "out").out
    assert [shown.count(f"({name})") for name in "abc"] == [1, 1, 1]
