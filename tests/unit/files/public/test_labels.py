"""Labels, digits, words and times of reports: they are read by reports, and charged by nothing."""

import pytest

from command_line import confide
from confide.drawing.labels import Labels, Look
from confide.errors import ContractError, UnknownNameError
from confide.files.dataset import read_dataset
from confide.files.study import read_study
from small_clinic import DATASET, make_clinic

CURVE = (
    "study: {id: curve, title: A curve}\nstatistics:\n"
    "  - {id: c, kind: survival, table: patients, time: age, status: diabetes, censored: no,\n"
    "     by: [sex], bins: 20MORE}\nspend: {at-most: {epsilon: 1}}\n"
)
LABELS = {
    "sex: {": "sex: {label: Legal sex, ",
    "age: {": "age: {label: Years lived, digits: 1, ",
    "bins: [0, 40, 60, 100]}": "bins: [0, 40, 60, 100], label: Age in bands}",
    "at-most: 3}": "at-most: 3, label: Days in bed}",
    "    rows-per-patient: 1": "    rows-per-patient: 1\n    label: townspeople",
}


def labelled(text=DATASET):
    for bare, more in LABELS.items():
        assert bare in text
        text = text.replace(bare, more)
    return text


def run(clinic, out):
    ran = confide("run", clinic.study, "--out", out)
    assert ran.code == 0, ran.err
    return ran.out + ran.err, (out / "report.html").read_text("utf-8")


def test_a_released_study_whose_labels_are_edited_is_delivered_again_at_no_charge(tmp_path):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(CURVE.replace("MORE", ""))
    before = read_study(clinic.study).plan().digest()
    said, page = run(clinic, tmp_path / "one")
    assert "Spent" in said
    assert "Legal sex" not in page
    numbers = (tmp_path / "one" / "tables" / "c.csv").read_bytes()
    clinic.dataset.write_text(labelled())
    clinic.study.write_text(
        CURVE.replace("MORE", ", event-free: free of diabetes, at: [25 a, 50 a], digits: 1")
        + "labels: {age: Time lived}\n"
    )
    assert read_study(clinic.study).plan().digest() == before
    said, page = run(clinic, tmp_path / "two")
    assert "Delivered again" in said
    assert (tmp_path / "two" / "tables" / "c.csv").read_bytes() == numbers
    assert confide("verify", tmp_path / "two" / "certificate.json").code == 0
    for text in ("Legal sex", "Townspeople with", "Free of diabetes", "at 25 years", "time lived"):
        assert text in page.replace("\N{NO-BREAK SPACE}", " ").replace("Legal sex", "Legal sex")
    assert "at 75 years" not in page


def test_labels_are_read_from_every_place_that_names_a_column(tmp_path):
    clinic = make_clinic(tmp_path, dataset=labelled())
    labels = read_dataset(clinic.dataset).labels
    assert labels.columns == {
        "sex": "Legal sex",
        "age": "Years lived",
        "age_band": "Age in bands",
        "stays": "Days in bed",
    }
    assert labels.tables == {"patients": "townspeople"}
    assert labels.digits == {"age": 1}


def test_a_study_goes_before_its_data_set():
    both = Labels(columns={"a": "A", "b": "B"}) | Labels(
        columns={"b": "Beta"}, questions={"q": Look(digits=0)}
    )
    assert [both.named(name) for name in ("a", "b", "c_d")] == ["A", "Beta", "c d"]
    assert both.questions["q"].digits == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (", at: [33 a]", "no point at 33 a; the nearest is at 35 a"),
        (", at: [1 kg]", "expected a time in a"),
        (", digits: 7", "from 0 to 6"),
    ],
)
def test_a_time_or_digits_that_cannot_be_shown_are_refused_before_a_release(tmp_path, more, said):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(CURVE.replace("MORE", more))
    with pytest.raises(ContractError, match=said):
        read_study(clinic.study)


def test_a_label_of_a_column_that_is_not_there_is_refused(tmp_path):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(CURVE.replace("MORE", "") + "labels: {agee: Age}\n")
    with pytest.raises(UnknownNameError, match="agee"):
        read_study(clinic.study)


def test_a_name_with_two_labels_is_refused(tmp_path):
    two = DATASET.replace("sex: {", "sex: {label: Sex, ").replace(
        "      ward: {", "      sex: {label: Gender, categories: [a, b]}\n      ward: {"
    )
    clinic = make_clinic(tmp_path, dataset=two)
    with pytest.raises(ContractError, match="different labels"):
        read_dataset(clinic.dataset)
