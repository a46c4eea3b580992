"""Who withdrew consent is a patient, whatever the privacy unit of a data set of the folder is."""

import json
import os
from dataclasses import replace
from fractions import Fraction

import pytest

from command_line import confide as run
from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.prepared import build
from confide.service.releasing.jobs import planned, run_job
from confide.workspace import open_workspace, preparation
from counting_job import Counting
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
    with pytest.raises(ContractError, match="nothing to prepare"):
        preparation(wards).prepare()
    with open_workspace(hospital) as at, open_workspace(wards) as of_wards:
        told = of_wards.engine().problems()
        assert all("ids are those of hospitals" in text for text in told.values())
        assert told
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


# -- jobs


class CountingRows(Counting):
    """The smallest job, of rows that are protected one by one."""

    @property
    def reads(self):
        return replace(super().reads, unit=Entity.EVENT)


def people_in_a_job(path):
    """The number of people as a job counts them, with next to no noise."""
    with open_workspace(path) as at:
        job = CountingRows(scale=Fraction(1, 40))
        files = run_job(at, job, plan=planned(at, job), request=os.urandom(8).hex()).answer.files
    return sum(json.loads(files["counts.json"]))


def test_jobs_leave_out_rows_that_are_protected_one_by_one_with_their_patient(hospital):
    events = beside(hospital, "event")
    assert people_in_a_job(events) == 40
    forget(hospital, "4", "9")
    assert people_in_a_job(events) == 38


# -- while copies are being written


def test_copies_that_are_being_written_are_said_to_be_left_and_the_same_again_ends_it(hospital):
    preparation(hospital).prepare()
    with build.writing_alone(hospital.parent / ".confide" / "prepared"):
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
    from confide.rows.cells.identity import identity_key

    keys = {entity: identity_key(b"k" * 32, of=entity) for entity in Entity}
    assert {e for e, key in keys.items() if key == keys[Entity.PATIENT]} == {*Entity} - {
        Entity.HOSPITAL
    }
