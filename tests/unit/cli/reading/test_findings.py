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


LABELLED = """\
study: {id: labelled}
statistics:
  - {id: m, kind: mean, table: patients, column: age, by: [sex], expect: {count: 100}}
spend: {at-most: {epsilon: 1}}
"""


def test_show_and_export_tell_a_release_in_the_labels_of_its_study(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    clinic.study.write_text(LABELLED)
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").code == 0
    before = {
        path: path.read_bytes() for path in (tmp_path / "clinic").rglob("*") if path.is_file()
    }
    clinic.study.write_text(LABELLED + "labels: {age: Years lived}\n")
    for asked in (("show",), ("show", "--only", "m"), ("export", "--as", "methods"),
                  ("export", "--as", "latex")):  # fmt: skip
        command, *more = asked
        plain = confide(command, tmp_path / "out", *more)
        told = confide(command, tmp_path / "out", *more, "--labels", clinic.study)
        assert (plain.code, told.code) == (0, 0)
        assert "ears lived" not in plain.out
        if asked != ("show", "--only", "m"):  # its title is the id
            assert "ears lived" in told.out
    del before[clinic.study]
    assert all(path.read_bytes() == held for path, held in before.items())
    clinic.study.write_text(LABELLED.replace("id: labelled", "id: another"))
    refused = confide("show", tmp_path / "out", "--labels", clinic.study)
    assert refused.code == 7
    assert "the study.yaml that was run" in refused.err
