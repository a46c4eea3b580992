"""A person withdraws consent: out of copies, records and every later release, for good."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confide
from command_line import confide as run
from confide.budget.consent_desk import ConsentDesk
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.errors import ContractError, LedgerFrozenError
from confide.workspace import open_workspace, preparation
from patients_world import write_hospital
from unit.release.test_growing_release import board, plan_of, spent, write

CANARY = "canary-0815"
PEOPLE = {"id": "n", "kind": "count", "table": "people"}


@pytest.fixture
def hospital(tmp_path):
    """Forty patients; one more has an id that is found wherever it is written."""
    path = write_hospital(tmp_path, cap='epsilon: "2000"', life='epsilon: "90000"')
    with (tmp_path / "people.csv").open("a") as people, (tmp_path / "visits.csv").open("a") as rows:
        people.write(f"{CANARY},f\n")
        rows.write(f"{CANARY},north,7,a note\n")
    return path


def counted(at, request):
    """The count of people, with next to no noise."""
    released = at.release(at.plan(PEOPLE, epsilon="40"), request=request)
    estimate = released.of("n")[0]
    return round(estimate.value)


def forget(path, *ids, **more):
    ran = run("patients", "forget", path, "--json", *more.get("words", ()), typed="\n".join(ids))
    assert ran.code == more.get("code", 0), ran.err
    return ran


def written(folder: Path) -> bytes:
    """Every byte of the workspace folder, and every cell of its Parquet files."""
    files = [path for path in (folder / ".confide").rglob("*") if path.is_file()]
    cells = [str(pq.read_table(p).to_pydict()).encode() for p in files if p.suffix == ".parquet"]
    return b"\n".join([*(path.read_bytes() for path in files), *cells])


def hash_of(at, person):
    high, low = at.engine().identity(person)
    return high, low, f"{high:016x}{low:016x}"


def test_whoever_withdrew_consent_is_in_no_later_release_whether_it_reads_source_or_copies(
    hospital,
):
    with open_workspace(hospital) as at:
        assert counted(at, "before") == 41
    forget(hospital, CANARY, "3", "5")
    with open_workspace(hospital) as at:
        assert counted(at, "source") == 38
    preparation(hospital).prepare()
    with open_workspace(hospital) as at:
        assert at.explain(at.plan(PEOPLE, epsilon="1"))[0] == "Reads prepared copies."
        assert counted(at, "copies") == 38
    forget(hospital, "7")
    with open_workspace(hospital) as at:
        assert at.explain(at.plan(PEOPLE, epsilon="1"))[0] == "Reads prepared copies."
        assert counted(at, "copies again") == 37
    assert run("prepare", hospital, "--check").code == 0


def test_nothing_in_the_workspace_folder_leads_to_a_person_who_withdrew_but_the_sealed_list(
    hospital,
):
    preparation(hospital).prepare()
    with open_workspace(hospital) as at:
        counted(at, "before")
        high, low, whole = hash_of(at, CANARY)
    words = [each.to_bytes(8, "little") for each in (high, low)]
    before = written(hospital.parent)
    assert CANARY.encode() in before
    assert all(each in before for each in words)
    forget(hospital, CANARY)
    lists = hospital.parent / ".confide" / "withdrawn"
    (path,) = lists.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert lists.stat().st_mode & 0o077 == 0
    assert all(each in path.read_bytes() for each in words)
    shutil.rmtree(lists)
    after = written(hospital.parent)
    assert not any(each in after for each in (CANARY.encode(), whole.encode(), *words))


def test_what_was_charged_stands_and_the_records_are_whole(hospital):
    with open_workspace(hospital) as at:
        counted(at, "before")
        used = {use.scope: use.used for use in at.spent().scopes}
    forget(hospital, "4")
    assert run("patients", "verify", hospital).code == 0
    assert run("ledger", "verify", hospital).code == 0
    with open_workspace(hospital) as at:
        assert {use.scope: use.used for use in at.spent().scopes} == used
        (told,) = at.patients().statement(at.ledger, identity=at.engine().identity("9"))
        assert told[1], "the others paid what they paid"
    ran = run("patients", "show", hospital, "--reason", "asked", typed="4\n")
    assert (ran.code, "withdrew consent" in ran.err) == (7, True)


def test_nothing_that_is_said_or_recorded_tells_who_withdrew_or_whether_the_data_held_them(
    hospital,
):
    said = []
    for person in ("4", "nobody has this id"):
        ran = forget(hospital, person)
        said.append({**ran.json, "ledger-row": 0})
        with open_workspace(hospital) as at:
            row = at.ledger.chain().events[-1].fields()
            _, _, whole = hash_of(at, person)
        assert {"kind", "lineage", "by", "list"} <= row.keys()
        assert row.keys().isdisjoint({"patient", "id", "ids", "patients"})
        assert whole not in str(row)
    assert said[0] == said[1]


def test_plans_charges_and_refusals_are_the_same_for_data_without_the_person(hospital):
    def seen():
        with open_workspace(hospital) as at:
            plan = at.plan(PEOPLE, epsilon="0.5")
            with pytest.raises(ContractError) as refused:
                at.release(at.plan({**PEOPLE, "table": "visits", "where": {"cost": {"from": 900}}}))
            return plan.digest(), plan.amount.nano, str(refused.value)

    before = seen()
    forget(hospital, "4")
    assert seen() == before


def test_an_id_is_never_taken_from_the_command_line(hospital):
    assert run("patients", "forget", hospital, "--id", "4").code == 2
    assert run("patients", "forget", hospital, "4").code == 2


def test_ids_come_from_a_file_and_empty_lines_are_none(hospital, tmp_path):
    (tmp_path / "gone.txt").write_text("\n 4 \n\n5\n")
    ran = run("patients", "forget", hospital, "--ids", tmp_path / "gone.txt", "--json")
    assert ran.json["patients"] == 2
    assert "Delete the file of ids" in ran.err


def test_an_id_that_cannot_be_one_is_named_by_its_place_and_nothing_is_done(tmp_path):
    frames = {"people": pa.table({"pid": pa.array([1, 2, 3]), "sex": ["f", "m", "f"]})}
    with confide.open(IN_MEMORY, folder=tmp_path, frames=frames) as at:
        rows = at.ledger.head().number
        with pytest.raises(ContractError, match="Id 2 cannot be a person id") as refused:
            at.forget(["1", "three"])
        assert "three" not in str(refused.value)
        with pytest.raises(ContractError, match="got none"):
            at.forget([])
        assert at.ledger.head().number == rows
    assert not (tmp_path / ".confide" / "withdrawn").exists()


IN_MEMORY = """\
dataset: {id: m, lineage: m, snapshot: "1"}
source: {kind: frames}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {release: {epsilon: 100}, calendar-year: {epsilon: 900}, lifetime: {epsilon: 900}}
tables:
  people:
    from: people
    rows-per-patient: 1
    columns:
      sex: {categories: [f, m]}
"""


@pytest.mark.parametrize("ids", [[1, 2, 3], ["1", "2", "3"], [1.0, 2.0, 3.0]], ids=repr)
def test_tables_in_memory_leave_the_person_out_whatever_the_type_of_ids(tmp_path, ids):
    """Integers and the same digits as text are one person, so a list outlives such a change."""
    frames = {"people": pa.table({"pid": pa.array([1, 2, 3]), "sex": ["f", "m", "f"]})}
    with confide.open(IN_MEMORY, folder=tmp_path, frames=frames) as at:
        assert counted(at, "before") == 3
        at.forget(["2"])
        assert counted(at, "after") == 2, "in the same workspace"
    frames = {"people": pa.table({"pid": pa.array(ids), "sex": ["f", "m", "f"]})}
    with confide.open(IN_MEMORY, folder=tmp_path, frames=frames) as at:
        assert counted(at, "later") == 2


def test_rows_as_the_privacy_unit_have_no_person_to_forget(tmp_path):
    text = IN_MEMORY.replace("unit: patient", "unit: event").replace(
        "    rows-per-patient: 1\n", ""
    )
    frames = {"people": pa.table({"pid": pa.array([1]), "sex": ["f"]})}
    with confide.open(text, folder=tmp_path, frames=frames) as at:
        with pytest.raises(ContractError, match="delete the rows in the source"):
            at.forget(["1"])


def test_a_workspace_that_is_open_reads_without_whoever_another_process_took_out(hospital):
    with open_workspace(hospital) as at:
        assert counted(at, "before") == 41
        with open_workspace(hospital) as other:
            other.forget([CANARY])
        assert counted(at, "after") == 40


def test_a_list_that_is_missing_stops_every_release_before_a_charge(hospital):
    forget(hospital, "4")
    forget(hospital, "5")
    lists = sorted((hospital.parent / ".confide" / "withdrawn").iterdir())
    for break_ in (lists[0].unlink, lambda: lists[1].write_bytes(b"edited")):
        break_()
        with open_workspace(hospital) as at:
            head = at.ledger.head()
            with pytest.raises(LedgerFrozenError, match="withdr"):
                counted(at, "x")
            assert at.ledger.head() == head


def test_a_backup_brings_the_lists_back_and_an_older_ledger_takes_nobody_off(hospital, tmp_path):
    inside = hospital.parent / ".confide"
    forget(hospital, "4")
    assert run("ledger", "backup", tmp_path / "backup", hospital).code == 0
    forget(hospital, "5")
    shutil.rmtree(inside / "withdrawn")
    (inside / "ledger.sqlite").unlink()
    assert run("ledger", "restore", tmp_path / "backup", hospital).code == 0
    assert run("ledger", "unfreeze", hospital, "--reason", "a disk").code == 0
    assert len(list((inside / "withdrawn").iterdir())) == 1
    forget(hospital, "5")
    kept = {path.name: path.read_bytes() for path in (inside / "withdrawn").iterdir()}
    (inside / "ledger.sqlite").unlink()
    assert run("ledger", "restore", tmp_path / "backup", hospital).code == 0
    assert run("ledger", "unfreeze", hospital, "--reason", "a disk").code == 0
    assert {path.name: path.read_bytes() for path in (inside / "withdrawn").iterdir()} == kept
    with open_workspace(hospital) as at:
        assert counted(at, "again") == 39


def test_a_list_that_alone_is_lost_comes_back_from_a_backup_and_the_ledger_stays(
    hospital, tmp_path
):
    inside, backup = hospital.parent / ".confide", tmp_path / "backup"
    forget(hospital, "4")
    assert run("ledger", "backup", backup, hospital).code == 0
    with open_workspace(hospital) as at:
        assert counted(at, "since the backup") == 40
        head = at.ledger.head()
    shutil.rmtree(inside / "withdrawn")
    ran = run("ledger", "restore", backup, hospital, "--json")
    assert (ran.json["whole"], ran.json["beside"], ran.json["aside"]) == (True, 1, "")
    with open_workspace(hospital) as at:
        assert at.ledger.head() == head
        assert counted(at, "again") == 40
    ran = run("ledger", "restore", backup, hospital)
    assert (ran.code, "Nothing was changed" in ran.err) == (3, True), "nothing is missing now"
    shutil.rmtree(inside / "withdrawn")
    forget(hospital, "5", words=("--lists-lost", "4 never withdrew"))
    assert run("ledger", "restore", backup, hospital).code == 3, "a list that officers ended"
    with open_workspace(hospital) as at:
        assert len(list((inside / "withdrawn").iterdir())) == 1


@pytest.mark.parametrize("broken", [b"", b"edited"], ids=repr)
def test_a_list_that_alone_is_damaged_comes_back_from_a_backup_and_is_set_aside(
    hospital, tmp_path, broken
):
    backup = tmp_path / "backup"
    forget(hospital, "4")
    assert run("ledger", "backup", backup, hospital).code == 0
    (kept,) = (hospital.parent / ".confide" / "withdrawn").iterdir()
    kept.write_bytes(broken)
    ran = run("ledger", "restore", backup, hospital, "--json")
    assert (ran.json["whole"], ran.json["beside"]) == (True, 1)
    assert kept.with_name(f"{kept.name}.damaged").read_bytes() == broken
    with open_workspace(hospital) as at:
        assert counted(at, "again") == 40


def test_a_restore_that_is_killed_leaves_no_ledger_without_its_lists(
    hospital, tmp_path, monkeypatch
):
    inside, backup = hospital.parent / ".confide", tmp_path / "backup"
    forget(hospital, "4")
    assert run("ledger", "backup", backup, hospital).code == 0
    shutil.rmtree(inside / "withdrawn")
    (inside / "ledger.sqlite").unlink()
    with monkeypatch.context() as broken:
        broken.setattr(SQLiteStore, "commit", dies)
        assert run("ledger", "restore", backup, hospital).code == 130
    assert len(list((inside / "withdrawn").iterdir())) == 1
    assert run("ledger", "restore", backup, hospital).code == 0
    with open_workspace(hospital) as at:
        assert counted(at, "after") == 40


def test_lists_that_are_lost_for_good_are_made_anew_by_an_officers_act(hospital):
    forget(hospital, "4")
    shutil.rmtree(hospital.parent / ".confide" / "withdrawn")
    assert "missing" in forget(hospital, "4", code=6).err
    forget(hospital, "4", "5", words=("--lists-lost", "the disk burned"))
    with open_workspace(hospital) as at:
        kinds = [event.fields()["kind"] for event in at.ledger.chain().events]
        assert kinds[-2:] == ["consent-withdrawn", "consent-lists-lost"]
        assert counted(at, "after") == 39


def test_a_crash_before_the_row_leaves_the_person_out_and_the_same_again_ends_it(
    hospital, monkeypatch
):
    with monkeypatch.context() as broken, open_workspace(hospital) as at:
        broken.setattr(ConsentDesk, "note_withdrawal", dies)
        with pytest.raises(KeyboardInterrupt):
            at.forget([CANARY])
    with open_workspace(hospital) as at:
        assert counted(at, "after") == 40
    forget(hospital, CANARY)
    with open_workspace(hospital) as at:
        assert counted(at, "and again") == 40


def dies(*_, **__):
    raise KeyboardInterrupt


def test_a_growing_release_goes_on_without_the_person_and_keeps_every_published_number(tmp_path):
    write(tmp_path, days=10)
    with confide.open(tmp_path / "dataset.yaml") as at:
        first = at.release(plan_of(at, 10))
        before = spent(at)
    forget(tmp_path / "dataset.yaml", "100", "1101")
    write(tmp_path, days=13, snapshot="2")
    with confide.open(tmp_path / "dataset.yaml") as at:
        second = at.advance(plan_of(at, 13))
        assert spent(at) == before
    (old,), (new,) = first.noisy.values, second.noisy.values
    assert (new[:10], new[13:23]) == (old[:10], old[10:])


def joined_with_a_growing_release(folder, *, withdraw):
    """Return how many releases answer by area and over time, if one grew over a withdrawal."""
    write(folder, days=10)
    areas = {"id": "areas", "kind": "histogram", "table": "cases", "by": ["area"]}
    with confide.open(folder / "dataset.yaml") as at:
        at.release(plan_of(at, 10))
    if withdraw:
        forget(folder / "dataset.yaml", "100", "1101")
    with confide.open(folder / "dataset.yaml") as at:
        at.advance(plan_of(at, 12))
        at.release(at.plan({**areas, "per-patient": {"cells": 2}}, epsilon="0.5"))
        both = at.plan(board(12), {**areas, "per-patient": {"cells": 2}}, epsilon="1")
        return len(at.reuse(both).reused.sources)


def test_a_growing_release_with_periods_of_before_and_after_a_withdrawal_is_joined_with_none(
    tmp_path,
):
    (tmp_path / "whole").mkdir()
    (tmp_path / "withdrawn").mkdir()
    assert joined_with_a_growing_release(tmp_path / "whole", withdraw=False) == 2
    with pytest.raises(ContractError, match="patients withdrew consent are not used together"):
        joined_with_a_growing_release(tmp_path / "withdrawn", withdraw=True)


def test_releases_of_before_and_after_verify_against_the_ledger(hospital, tmp_path):
    study = hospital.parent / "study.yaml"
    study.write_text(
        "study: {id: s, title: s}\n"
        "statistics: [{id: n, kind: count, table: people, error: {within: 5}}]\n"
    )
    for name in ("before", "after"):
        out = tmp_path / name
        assert run("run", study, "--request", name, "--out", out, "--quiet").code == 0
        if name == "before":
            forget(hospital, CANARY)
    for name in ("before", "after"):
        ran = run("verify", tmp_path / name, "--ledger", hospital)
        assert ran.code == 0, ran.out + ran.err


def test_the_steward_is_shown_the_rows_of_who_consents_alone(hospital):
    def facts():
        ran = run("prepare", hospital, "--json")
        return {
            each["table"]: (each["rows"], each["without-person"]) for each in ran.json["tables"]
        }

    before = facts()
    forget(hospital, "4")
    assert facts() == {
        "people": (before["people"][0] - 1, 0),
        "visits": (before["visits"][0] - 4, 0),
    }


def test_who_withdrew_prints_as_nothing():
    found = Withdrawn(hashes=("ab" * 16,), tags=frozenset({"cd"}))
    assert not re.search("ab|cd", f"{found!r} {found}")
    assert replace(found) == found
