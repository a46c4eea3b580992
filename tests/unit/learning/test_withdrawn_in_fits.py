"""No model learns from a patient who withdrew consent, or from rows that may be theirs."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from confide.errors import ContractError
from confide.learning import DPLogisticRegression, DPPoissonRegression, PATEClassifier
from confide.workspace import open_workspace
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import forget

WITHDREW = "withdrew consent, and rows of table 'rows' do not say whose they are"


@pytest.fixture
def hospital(tmp_path):
    """A folder in which patients can withdraw, beside the ledger of the models."""
    return write_hospital(tmp_path, cap='epsilon: "2000"', life='epsilon: "90000"')


PERSONS = np.arange(60)
ROWS = np.column_stack([PERSONS / 100, np.zeros(60)])
BOUNDS = [(0, 1), (0, 1)]


class Watched(DecisionTreeClassifier):
    """A teacher that tells a file which rows it saw."""

    told = None

    def fit(self, X, y, **more):
        if Watched.told is not None:
            with Watched.told.open("a") as file:
                file.writelines(f"{value!r}\n" for value in X[:, 0].tolist())
        return super().fit(X, y, **more)


def pate(folder, lineage, **whose):
    model = PATEClassifier(
        teacher=Watched(max_depth=1), student=LogisticRegression(), teachers=5, rows=100,
        bounds=BOUNDS, epsilon="600", delta="1e-6", workspace=folder, lineage=lineage,
    )  # fmt: skip
    public = np.random.default_rng(0).uniform(0, 1, (4, 2))
    return model.fit(ROWS, PERSONS % 2, public=public, **whose)


def logistic(folder, lineage, **whose):
    model = DPLogisticRegression(bounds=BOUNDS, epsilon="5", workspace=folder, lineage=lineage)
    return model.fit(ROWS, PERSONS % 2, **whose)


def poisson(folder, lineage, **whose):
    model = DPPoissonRegression(
        bounds=BOUNDS, most_events=2, epsilon="5", workspace=folder, lineage=lineage
    )
    return model.fit(ROWS, PERSONS % 2, **whose)


@pytest.mark.parametrize(
    ("fit", "whose"),
    [
        pytest.param(logistic, {"patients": "rows"}, id="logistic"),
        pytest.param(poisson, {"patients": "rows"}, id="poisson"),
        pytest.param(pate, {"hospitals": PERSONS // 12}, id="pate of hospitals"),
    ],
)
def test_fits_that_cannot_tell_whose_rows_they_read_are_refused_before_a_charge(
    hospital, fit, whose
):
    fit(hospital.parent, "before", **whose)
    forget(hospital, "4")
    with open_workspace(hospital) as at:
        head = at.ledger.head()
    with pytest.raises(ContractError, match=WITHDREW):
        fit(hospital.parent, "before", **whose)
    with open_workspace(hospital) as at:
        assert at.ledger.head() == head
    fit(hospital.parent, "by-patient", patients=PERSONS)


def test_no_teacher_sees_a_row_of_a_patient_who_withdrew(hospital, tmp_path, monkeypatch):
    forget(hospital, "4", "41")
    monkeypatch.setattr(Watched, "told", tmp_path / "told")
    pate(hospital.parent, "patients", patients=PERSONS)
    seen = [100 * float(each) for each in (tmp_path / "told").read_text().split()]
    patients = {round(each) for each in seen if abs(each - round(each)) < 1e-9}
    assert not {4, 41} & patients
    assert patients == {*range(60)} - {4, 41}
