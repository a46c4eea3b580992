"""Who withdrew consent is a patient, whatever the privacy unit of a data set of the folder is."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from command_line import confide as run
from confide.errors import ContractError
from confide.learning import DPLogisticRegression, DPPoissonRegression, PATEClassifier
from confide.privacy.unit import Entity
from confide.rows.prepared import build
from confide.workspace import open_workspace, preparation
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import forget

VISITS = {
    "id": "n",
    "kind": "count",
    "table": "visits",
    "count": "events",
    "per-patient": {"rows": 1},
}
WITHDREW = "withdrew consent, and rows of table '{}' do not say whose they are"


@pytest.fixture
def hospital(tmp_path):
    """Forty patients, of whom 4 has four visits and 9 has four: eighty visits in all."""
    return write_hospital(tmp_path, cap='epsilon: "2000"', life='epsilon: "90000"')


def beside(path, unit, *, identified="pid"):
    """Another data set of the same folder and the same files, which protects something else."""
    other = path.with_name(f"{unit}-{identified}.yaml")
    text = path.read_text().replace(
        "id: hospital, lineage: hospital", f"id: of-{unit}, lineage: of-{unit}"
    )
    text = text.replace("unit: patient, id: pid", f"unit: {unit}, id: {identified}")
    text = text.replace("policy: policy.yaml\n", "caps: {lifetime: {epsilon: 90000}}\n")
    other.write_text(text)
    return other


def visits(path, request):
    """The count of visits, with next to no noise."""
    with open_workspace(path) as at:
        release = at.release(at.plan(VISITS, epsilon="40"), request=request)
        return round(release.of("n")[0].value)


@pytest.mark.parametrize("copies", [False, True], ids=["source", "copies"])
def test_rows_that_are_protected_one_by_one_are_left_out_with_their_patient(hospital, copies):
    events = beside(hospital, "event")
    if copies:
        preparation(events).prepare()
    assert visits(events, "before") == 80
    forget(hospital, "4", "9")
    for again in range(2):
        assert visits(events, f"after {again}") == 72
        if copies:
            preparation(events).prepare()
            with open_workspace(events) as at:
                told = at.explain(at.plan(VISITS, epsilon="1"))
            assert told[0] == "Reads prepared copies."


def test_a_row_of_nobody_in_particular_is_left_out_once_somebody_withdrew(hospital):
    """Nobody can tell that its patient consents."""
    with (hospital.parent / "visits.csv").open("a") as rows:
        rows.write(",north,7,a note\n")
    events = beside(hospital, "event")
    assert visits(events, "before") == 81
    forget(hospital, "4")
    assert visits(events, "after") == 76
    facts = {each.table: each for each in preparation(events).prepare().facts}
    assert (facts["visits"].rows, facts["visits"].without_person) == (77, 1)


def test_rows_that_do_not_say_whose_they_are_are_refused_before_a_charge(hospital):
    events = beside(hospital, "event", identified="number")
    assert visits(events, "before") == 80
    forget(hospital, "4")
    with open_workspace(events) as at:
        head = at.ledger.head()
        with pytest.raises(ContractError, match=WITHDREW.format("visits")) as refused:
            at.release(at.plan(VISITS, epsilon="40"), request="after")
        assert "protects: {id: ...}" in str(refused.value)
        assert at.ledger.head() == head
    with pytest.raises(ContractError, match=WITHDREW.format("visits")):
        preparation(events).prepare()


def test_hospitals_are_neither_prepared_nor_taken_for_patients(hospital):
    wards = beside(hospital, "hospital")
    forget(hospital, "4")
    with pytest.raises(ContractError, match="ids are those of hospitals"):
        preparation(wards).prepare()
    with open_workspace(hospital) as at, open_workspace(wards) as of_wards:
        assert at.engine().identity("3") != of_wards.engine().identity("3")


@pytest.mark.parametrize("unit", ["event", "hospital"])
def test_nobody_withdraws_through_a_data_set_that_does_not_know_persons(hospital, unit):
    with open_workspace(beside(hospital, unit)) as at:
        head = at.ledger.head()
        with pytest.raises(ContractError, match=f"With the {unit} as privacy unit") as refused:
            at.forget(["4"])
        assert "that protects patients" in str(refused.value)
        assert at.ledger.head() == head
    assert not (hospital.parent / ".confide" / "withdrawn").exists()


# -- models


PERSONS = np.arange(60)
ROWS = np.column_stack([PERSONS / 100, np.zeros(60)])
BOUNDS = [(0, 1), (0, 1)]


class Watched(DecisionTreeClassifier):
    """A teacher that tells a file which rows it saw."""

    told = None

    def fit(self, X, y, **more):  # noqa: N803
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
    with pytest.raises(ContractError, match=WITHDREW.format("rows")):
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


# -- while copies are being written


def test_copies_that_are_being_written_are_said_to_be_left_and_the_same_again_ends_it(hospital):
    preparation(hospital).prepare()
    with build._alone(hospital.parent / ".confide" / "prepared"):
        ran = run("patients", "forget", hospital, typed="4\n")
    assert ran.code == 7
    assert "Done: row" in ran.err
    assert "Not done: prepared copies and membership files still hold them" in ran.err
    assert "do the same again with the same ids" in " ".join(ran.err.split())
    assert visits_of_patients(hospital, "meanwhile") == 76
    assert forget(hospital, "4").json["copies-made-anew"]
    assert visits_of_patients(hospital, "after") == 76


def visits_of_patients(path, request):
    with open_workspace(path) as at:
        spec = {**VISITS, "per-patient": {"rows": 4}}
        release = at.release(at.plan(spec, epsilon="60"), request=request)
        return round(release.of("n")[0].value)


def test_ids_of_hospitals_are_hashed_apart_from_those_of_edges_and_patients():
    from confide.rows.identity import identity_key

    keys = {entity: identity_key(b"k" * 32, of=entity) for entity in Entity}
    assert {e for e, key in keys.items() if key == keys[Entity.PATIENT]} == {*Entity} - {
        Entity.HOSPITAL
    }
