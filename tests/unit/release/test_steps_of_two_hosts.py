"""Steps of a growing release, and parts of a training, under caps that leave patients out.

A step reads who was left out when the release was opened, so it is refused, before a row is read
and at no charge, by a host that lacks the records, or one of an entry that was decided elsewhere
since.
"""

import shutil

import pyarrow as pa
import pytest

import confide
from confide.budget.entry import State
from confide.errors import ContractError, LedgerFrozenError
from confide.files.policy.policy import read_policy
from confide.release.patients import AdmittedRows
from confide.service.releasing.jobs import planned, run_in_parts
from confide.workspace import open_ledger
from counting_job import ThreeParts
from ledgers import schema_of
from postgres_server import server
from unit.release.test_growing_over_windows import POLICY, POLICYS, counts, study, write

KEYS = ("signing.key", "signing.pub", "hash.key", "order.key")
COUNT = {"id": "n", "kind": "count", "table": "cases"}


def opened(folder, *, place, snapshot="1"):
    write(folder, caps=f"{POLICYS}\nledger: {place}", snapshot=snapshot)
    text = POLICY.format(window="rolling-365d", how=", enforce: drop")
    (folder / "policy.yaml").write_text(text, "utf-8")
    return confide.open(folder / "dataset.yaml", folder=folder)


@pytest.fixture
def hosts(tmp_path):
    """The folders of two hosts with one ledger and the same keys; the first opened a release."""
    place = f'{{kind: postgres, url: "{server().url}", schema-name: {schema_of(tmp_path)}}}'
    one, two = tmp_path / "host-a", tmp_path / "host-b"
    for folder in (one, two):
        folder.mkdir()
    with opened(one, place=place) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.1", study=study()))
    (two / ".confide").mkdir(mode=0o700)
    for name in KEYS:
        if (one / ".confide" / name).exists():
            shutil.copy2(one / ".confide" / name, two / ".confide")
    return one, two, place


@pytest.fixture
def read(monkeypatch):
    """Count the readings of rows."""
    told, rows = [], AdmittedRows.read
    monkeypatch.setattr(
        AdmittedRows, "read", lambda self, asked: told.append(1) or rows(self, asked)
    )
    return told


def stepped(folder, through, *, place, snapshot):
    with opened(folder, place=place, snapshot=snapshot) as ws:
        return ws.advance(ws.plan(counts(through), rho="0.1", study=study()))


def entries(folder, *, place):
    with opened(folder, place=place) as ws:
        return ws.ledger.entries("board")


def test_a_host_without_the_records_takes_no_step_and_ends_nothing(hosts, read):
    one, two, place = hosts
    with pytest.raises(LedgerFrozenError):
        stepped(two, "2028-02-29", place=place, snapshot="2")
    assert read == []
    assert stepped(one, "2028-02-29", place=place, snapshot="2")
    with pytest.raises(LedgerFrozenError):
        stepped(two, "2028-03-31", place=place, snapshot="3")
    shutil.copytree(
        one / ".confide" / "patients", two / ".confide" / "patients", dirs_exist_ok=True
    )
    assert stepped(
        two, "2028-03-31", place=place, snapshot="3"
    )  # where the records are, it goes on
    states = [each.state for each in entries(one, place=place)]
    assert states.count(State.PUBLISHED) == 3
    assert State.BURNED not in states


def test_a_step_is_refused_where_an_entry_was_decided_elsewhere_since(hosts, read):
    one, two, place = hosts
    shutil.copytree(
        one / ".confide" / "patients", two / ".confide" / "patients", dirs_exist_ok=True
    )
    with opened(two, place=place) as ws:
        ws.release(ws.plan(COUNT, rho="0.1", study=study()))
    read.clear()
    with pytest.raises(LedgerFrozenError):
        stepped(one, "2028-02-29", place=place, snapshot="2")
    assert read == []
    assert stepped(two, "2028-02-29", place=place, snapshot="2")
    states = [each.state for each in entries(two, place=place)]
    assert (states.count(State.PUBLISHED), State.BURNED in states) == (3, False)


def trained(folder, *, progress=lambda _: None):
    frame = pa.table({"patient": [str(i) for i in range(40)], "sex": ["F", "M"] * 20})
    dataset = {
        "dataset": {"id": "board", "lineage": "board", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "policy": "policy.yaml",
        "tables": {"people": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    job = ThreeParts(scale=20, gaussian=True)
    with confide.open(dataset, frames={"people": frame}, folder=folder) as ws:
        plan = planned(ws, job, study=study())
        return run_in_parts(ws, job, plan=plan, runner=job, request="k", progress=progress)


@pytest.mark.parametrize("after", [1, 2])
def test_a_training_in_parts_publishes_no_part_once_patients_may_be_left_out(tmp_path, after):
    plain = POLICY.replace("basis: legal, priority: 1", "basis: internal, priority: 3")
    text = plain.format(window="rolling-365d", how="")
    leaving_out = plain.format(window="rolling-365d", how=", enforce: drop")
    file, worked = tmp_path / "policy.yaml", []
    file.write_text(text)

    def adopt(stage):
        worked.append(stage)
        if stage == "working" and worked.count("working") == after:
            file.write_text(leaving_out.replace("version: 1", "version: 2"))
            with open_ledger(_held(tmp_path)) as (ledger, _):
                ledger.desk.adopt("board", policy=read_policy(file), reason="reviewed")

    with pytest.raises(ContractError, match="leaves patients out"):
        trained(tmp_path, progress=adopt)
    with pytest.raises(ContractError, match="leaves patients out"):
        trained(tmp_path, progress=worked.append)
    with confide.open(_held(tmp_path), folder=tmp_path) as ws:
        states = [each.state for each in ws.ledger.entries("board")]
        (growth,) = ws.ledger.growths("board")
        assert State.BURNED not in states
        assert growth.position == after  # the part under way was not published
        ws.ledger.verify_chain()
    assert worked.count("working") == after


def test_a_training_under_a_policy_that_leaves_patients_out_is_refused_before_its_charge(tmp_path):
    text = POLICY.format(window="rolling-365d", how=", enforce: drop")
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(ContractError, match="leaves patients out"):
        trained(tmp_path)
    with confide.open(_held(tmp_path), folder=tmp_path) as ws:
        assert ws.ledger.entries("board") == ()


def _held(folder):
    """A data set of the same lineage, to reach its ledger."""
    (folder / "cases.csv").write_text("pid,reported\n1,2028-01-03\n")
    write(folder, caps=POLICYS, snapshot="1")
    return folder / "dataset.yaml"
