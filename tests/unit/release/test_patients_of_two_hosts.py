"""Two hosts with one ledger and a policy that leaves patients out: one of them decides who is in."""

import shutil
import threading

import pytest

import confide
from command_line import confide as command
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.store import PatientStore
from confide.errors import ConfideError, LedgerFrozenError, ReleaseFailedError
from confide.release.patients import AdmittedRows
from ledgers import schema_of
from patients_world import write_hospital
from postgres_server import server

WARDS = {
    "id": "w",
    "kind": "histogram",
    "table": "visits",
    "by": ["ward"],
    "per-patient": {"cells": 4},
}
SEXES = {"id": "s", "kind": "histogram", "table": "people", "by": ["sex"]}
KEYS = ("signing.key", "signing.pub", "hash.key")


def ask(workspace, study, **others):
    return workspace.release(workspace.plan(study, epsilon="0.9"), **others)


def answered(dataset):
    """How many answers the ledger gave, and what it holds of every entry."""
    told = command("ledger", "show", dataset, "--json")
    assert told.code == 0, told.err
    states = [each["state"] for each in told.json["entries"]]
    return sum(state in {"committed", "published"} for state in states), states


@pytest.fixture
def hosts(tmp_path):
    """The data sets of two hosts with the same files, the same keys and one ledger."""
    place = f'{{kind: postgres, url: "{server().url}", schema-name: {schema_of(tmp_path)}}}'
    one = write_hospital(tmp_path / "host-a")
    one.write_text(f"{one.read_text()}\nledger: {place}\n")
    with confide.open(one) as workspace:
        workspace.plan(SEXES, epsilon="0.9")
    beside = tmp_path / "host-b"
    beside.mkdir()
    for each in one.parent.iterdir():
        if each.is_file():
            shutil.copy2(each, beside)
    (beside / ".confide").mkdir(mode=0o700)
    for name in KEYS:
        shutil.copy2(one.parent / ".confide" / name, beside / ".confide")
    return one, beside / "dataset.yaml"


def test_a_copy_of_the_records_made_while_one_host_reads_says_nothing_to_another(hosts):
    refused = []
    with confide.open(hosts[0]) as mine, confide.open(hosts[1]) as theirs:

        def meanwhile(stage):
            if stage == "read":
                there = hosts[1].parent / ".confide" / "patients"
                shutil.copytree(
                    hosts[0].parent / ".confide" / "patients", there, dirs_exist_ok=True
                )
                with pytest.raises(
                    LedgerFrozenError, match="records of patients in another"
                ) as told:
                    ask(theirs, SEXES)
                refused.append(told)

        ask(mine, WARDS, progress=meanwhile)
    assert len(refused) == 1
    assert answered(hosts[0])[0] == 1


def test_while_one_host_reads_another_is_refused_before_a_row_is_read(hosts, monkeypatch):
    read, refused = [], []
    rows = AdmittedRows.read
    monkeypatch.setattr(
        AdmittedRows, "read", lambda self, asked: read.append(1) or rows(self, asked)
    )
    with confide.open(hosts[0]) as mine, confide.open(hosts[1]) as theirs:

        def meanwhile(stage):
            if stage == "read":
                with pytest.raises(
                    LedgerFrozenError, match="records of patients in another"
                ) as told:
                    ask(theirs, SEXES)
                refused.append(told)

        ask(mine, WARDS, progress=meanwhile)
        assert (len(refused), len(read)) == (1, 1)
        with pytest.raises(LedgerFrozenError, match="missing or was changed"):
            ask(theirs, SEXES, request="later")
        ask(mine, SEXES)
    count, states = answered(hosts[0])
    assert (count, states.count("cancelled")) == (2, 2)
    for dataset in hosts:
        assert command("ledger", "verify", dataset).code == 0
    assert command("patients", "verify", hosts[0]).code == 0


def in_a_thread(dataset, study, *, told):
    def release():
        try:
            with confide.open(dataset) as workspace:
                told.append(ask(workspace, study))
        except ConfideError as error:
            told.append(error)

    thread = threading.Thread(target=release)
    thread.start()
    return thread


def test_of_two_hosts_that_begin_to_read_at_once_none_reads_a_row(hosts, monkeypatch):
    both, start = threading.Barrier(2, timeout=60), ChainedLedger.start_reading
    told, read, charged, look = [], [], AdmittedRows._charged, PatientStore.require_here

    def together(self, reservation):
        both.wait()  # each was admitted while the other was reserved only
        start(self, reservation)
        both.wait()

    def look_together(self, ledger, *, bounds):
        try:
            look(self, ledger, bounds=bounds)
        finally:
            both.wait()  # or the one that was refused would be gone before the other looks

    monkeypatch.setattr(ChainedLedger, "start_reading", together)
    monkeypatch.setattr(PatientStore, "require_here", look_together)
    monkeypatch.setattr(
        AdmittedRows, "_charged", lambda self, rows: read.append(1) or charged(self, rows)
    )
    threads = [
        in_a_thread(dataset, study, told=told)
        for dataset, study in zip(hosts, (WARDS, SEXES), strict=True)
    ]
    for thread in threads:
        thread.join()
    assert not read
    assert [type(each) for each in told] == [ReleaseFailedError] * 2
    assert answered(hosts[0]) == (0, ["burned"] * 2)


def test_of_two_hosts_that_begin_to_read_at_once_one_answers_at_most(hosts, monkeypatch):
    both, start, told = threading.Barrier(2, timeout=60), ChainedLedger.start_reading, []

    def together(self, reservation):
        both.wait()
        start(self, reservation)
        both.wait()

    monkeypatch.setattr(ChainedLedger, "start_reading", together)
    threads = [
        in_a_thread(dataset, study, told=told)
        for dataset, study in zip(hosts, (WARDS, SEXES), strict=True)
    ]
    for thread in threads:
        thread.join()
    failures = [each for each in told if isinstance(each, ReleaseFailedError)]
    count, states = answered(hosts[0])
    assert (len(told), count) == (2, 2 - len(failures))
    assert count <= 1
    assert states.count("burned") == len(failures)


def test_a_host_that_was_admitted_before_the_other_answered_gives_no_answer(hosts, monkeypatch):
    start, first = ChainedLedger.start_reading, []
    with confide.open(hosts[0]) as mine, confide.open(hosts[1]) as theirs:

        def after_the_other(self, reservation):
            if not first:
                first.append(1)
                ask(theirs, SEXES)
            start(self, reservation)

        monkeypatch.setattr(ChainedLedger, "start_reading", after_the_other)
        with pytest.raises(ReleaseFailedError):
            ask(mine, WARDS)
    assert answered(hosts[1])[0] == 1


def test_two_releases_of_one_folder_go_on_beside_each_other(hosts):
    with confide.open(hosts[0]) as mine, confide.open(hosts[0]) as too:
        ask(
            mine,
            WARDS,
            progress=lambda stage: ask(too, SEXES) if stage == "read" else None,
        )
    assert answered(hosts[0])[0] == 2
    assert command("patients", "verify", hosts[0]).code == 0
    notes = hosts[0].parent.glob(".confide/patients/*/members/*.admitted")
    assert len(list(notes)) == 2  # gone with the next release
    with confide.open(hosts[0]) as workspace:
        ask(workspace, SEXES, request="next")
    assert len(list(hosts[0].parent.glob(".confide/patients/*/members/*.admitted"))) == 1
