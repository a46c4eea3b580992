"""Planted spends: nothing that an analyst, a reader or a log sees holds any of their digits."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from command_line import confide
from confide.budget.per_patient import store as stores
from confide.errors import ReleaseFailedError
from confide.privacy.individual import FEMTO
from confide.rows.relational import person_sums
from confide.workspace import open_workspace
from patients_world import write_hospital

PLANTED = [FEMTO - 271_828_182_845_904, FEMTO - 314_159_265_358_979, FEMTO - 141_421_356_237_309]
STUDY = """\
study: {id: wards}
statistics:
  - {id: wards, kind: histogram, table: visits, by: [ward], per-patient: {cells: 4}}
spend: {at-most: {epsilon: "0.9"}}
"""


def digits():
    """Every way of writing a planted spend or what it leaves, in 1e-15, as decimals, or in hex."""
    for spend in PLANTED:
        for value in (spend, FEMTO - spend):
            yield str(value)[:9]
            yield f"{value / FEMTO:.12f}"[2:11]
            yield f"{value:x}"
            yield f"{value:,}"


CANARIES = re.compile("|".join(re.escape(each) for each in digits()).encode())


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    """A hospital in which three patients have spent planted amounts."""
    path = write_hospital(tmp_path / "h")
    (tmp_path / "h" / "study.yaml").write_text(STUDY)
    plant = dict(zip(range(3), PLANTED, strict=True))
    whole = person_sums.PersonSums.losses

    def planted(self, charges):
        who, losses = whole(self, charges)
        losses[: len(plant)] = list(plant.values())
        return who, losses

    with open_workspace(path) as at, monkeypatch.context() as patched:
        patched.setattr(person_sums.PersonSums, "losses", planted)
        at.release(at.plan({"id": "n", "kind": "count", "table": "visits"}, epsilon="1"))
        told = [at.engine().identity(str(i)) for i in range(40)]
        spends = {
            paid for who in told for _, paid in at.patients().statement(at.ledger, identity=who)
        }
        assert set(PLANTED) <= spends, "they are planted"
    monkeypatch.chdir(path.parent)
    return path


def readable(folder: Path) -> bytes:
    """Everything that is written for others than the store itself."""
    private = folder / ".confide" / "patients"
    return b"\n".join(
        path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and private not in path.parents
    )


def test_planted_spends_are_in_no_output_log_certificate_or_ledger(hospital):
    said = []
    for words in (
        ("plan", "study.yaml"), ("run", "study.yaml", "-o", "out"), ("run", "study.yaml", "-o", "again"),
        ("verify", "out"), ("ledger", "show"), ("ledger", "verify"), ("patients", "verify"),
        ("explain", "out"), ("show", "out"), ("ledger", "show", "--json"),
    ):  # fmt: skip
        ran = confide(*words)
        said.append(ran.out + ran.err)
    seen = readable(hospital.parent) + "\n".join(said).encode()
    assert b"can be too low" in seen
    assert not CANARIES.search(seen)


def test_planted_spends_are_in_no_error_or_log_of_a_release_that_fails(hospital, monkeypatch):
    def breaks(folder, members, **_):
        raise ValueError(f"{members.spends.tolist()} {members.left_out.tolist()}")

    monkeypatch.setattr(stores, "write_members", breaks)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        with open_workspace(hospital) as at:
            plan = at.plan({"id": "m", "kind": "count", "table": "visits"}, epsilon="0.5")
            with pytest.raises(ReleaseFailedError) as failed:
                at.release(plan)
    chain = "".join(
        str(e) for e in (failed.value, failed.value.__cause__, failed.value.__context__)
    )
    seen = (out.getvalue() + err.getvalue() + chain).encode() + readable(hospital.parent)
    assert b"ValueError" in seen, "the steward learns the class of the failure"
    assert not CANARIES.search(seen)


def test_the_patient_and_the_officer_are_told_and_the_look_is_recorded(hospital):
    refused = confide("patients", "show", typed="4\n")
    assert refused.code == 2, "a reason is needed"
    said = ("patients", "show", "--reason", "asked by the patient", "--json")
    assert confide(*said, "--id", "4").code == 2, "command lines are kept by shells"
    ran = confide(*said, typed="4\n")
    assert ran.code == 0, ran.err
    (charge,) = ran.json["charges"]
    assert set(charge) == {"entry", "at", "study", "state", "left-out", "charged"}
    with open_workspace(hospital) as at:
        rows = [event.fields() for event in at.ledger.chain().events]
        high, low = at.engine().identity("4")
    (look,) = [row for row in rows if row["kind"] == "patient-shown"]
    assert look["reason"] == "asked by the patient"
    assert look["patient"] == f"{high:016x}{low:016x}"
    assert '"4"' not in json.dumps(look), "the id is not in the ledger"
    assert 0 < float(charge["charged"]) <= 1
