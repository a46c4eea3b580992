"""The commitment to a snapshot: it binds, it hides, and it is never the same twice."""

import hashlib
import json
import os

import pytest

from confide.errors import ContractError
from confide.files.public.private_places import WORKSPACE
from confide.release.certificate.certificate import commitment_of
from confide.release.site import commitment as module
from confide.release.site.commitment import commit, opening_of, snapshot_digest
from confide.release.verify.against_ledger import ledger_checks
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.prepare import state_of
from confide.workspace import Workspace, open_ledger, open_workspace
from issued import again, issue
from small_clinic import DATASET


@pytest.fixture(scope="module")
def issued(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("committed"))


def checks(issued, certificate=None, *, folder=None):
    with open_ledger(issued.clinic.dataset) as (ledger, declared):
        return {
            each.name: each
            for each in ledger_checks(
                certificate or issued.certificate,
                ledger=ledger,
                lineage="clinic",
                folder=folder or declared.base / WORKSPACE,
                state=state_of(declared.source, base=declared.base, dataset=declared.dataset),
            )
        }


def test_the_commitment_opens_to_the_files_that_were_read(issued):
    opening = opening_of(issued.secrets, entry=issued.certificate["accounting"]["hash"])
    assert issued.certificate["data"]["commitment"] == commitment_of(opening).to_json()
    assert hashlib.sha256(opening.nonce + opening.snapshot).hexdigest() == opening.value()
    files = sorted(p for p in issued.clinic.folder.iterdir() if p.suffix == ".csv")
    named = [[p.name, hashlib.sha256(p.read_bytes()).hexdigest()] for p in files]
    bare = json.dumps(named, separators=(",", ":")).encode()
    assert opening.snapshot == hashlib.sha256(bare).digest()
    assert checks(issued)["snapshot"].holds


def test_what_a_ledger_vouches_for_needs_no_caution(issued):
    found = checks(issued)
    assert found.keys() >= {"chain", "ledger row", "authority", "snapshot", "latest version"}
    assert all(each.holds and not each.caution for each in found.values())


def test_two_releases_of_one_snapshot_never_have_the_same_commitment(issued, tmp_path):
    other = again(issued.clinic, tmp_path / "other", request="another")
    one, two = (
        opening_of(issued.secrets, entry=each.certificate["accounting"]["hash"])
        for each in (issued, other)
    )
    assert one.snapshot == two.snapshot
    assert one.nonce != two.nonce
    assert one.value() != two.value()


def test_neither_nonce_nor_digest_is_published_or_reaches_the_ledger(issued):
    opening = opening_of(issued.secrets, entry=issued.certificate["accounting"]["hash"])
    public = b"".join(p.read_bytes() for p in issued.out.rglob("*") if p.is_file())
    ledger = b"".join((issued.secrets / n).read_bytes() for n in ("ledger.sqlite", "anchor.jsonl"))
    for secret in (opening.nonce, opening.snapshot):
        for text in (secret, secret.hex().encode()):
            assert text not in public
            assert text not in ledger
    assert opening.nonce.hex() not in repr(opening)


def test_what_the_steward_keeps_is_for_the_steward_alone(issued):
    for name in (module.OPENINGS, module.DIGESTS):
        assert (issued.secrets / name).stat().st_mode & 0o077 == 0


def test_a_commitment_whose_opening_was_lost_is_told_and_not_held_against_a_release(
    issued, tmp_path
):
    found = checks(issued, folder=tmp_path)["snapshot"]
    assert found.holds
    assert "put back a backup" in found.detail


def test_a_second_nonce_for_one_release_is_refused(issued):
    with pytest.raises(ContractError, match="already"):
        commit(issued.secrets, entry=issued.certificate["accounting"]["hash"], snapshot=bytes(32))


def test_another_value_than_the_one_that_was_made_is_found(issued):
    lie = issued.certificate
    lie["data"]["commitment"]["value"] = "0" * 64
    assert not checks(issued, lie)["snapshot"].holds
    del lie["data"]["commitment"]
    assert not checks(issued, lie)["snapshot"].holds


def test_files_that_changed_since_are_told_to_the_steward(tmp_path):
    issued = issue(tmp_path)
    with (issued.clinic.folder / "visits.csv").open("a") as file:
        file.write("zq7canary0,north,1,2026-01-11\n")
    found = checks(issued)["snapshot"]
    assert found.holds
    assert "changed since" in found.detail
    assert (
        "snapshot"
        not in (issued.out / "certificate.json").read_text().split('"commitment"')[0][-9:]
    )


def test_a_file_is_digested_once_as_long_as_it_stays_the_same(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("pid\n1\n")
    read = []
    digest = module._digest
    monkeypatch.setattr(module, "_digest", lambda p: read.append(p) or digest(p))
    first = snapshot_digest(SourceState.of([path]), folder=tmp_path)
    assert snapshot_digest(SourceState.of([path]), folder=tmp_path) == first
    assert len(read) == 1
    path.write_text("pid\n2\n3\n")
    assert snapshot_digest(SourceState.of([path]), folder=tmp_path) != first
    assert len(read) == 2


def test_files_that_change_while_they_are_read_are_not_committed_to(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("pid\n1\n")

    def changing(found):
        path.write_text("pid\n1\n2\n")
        os.utime(path, (1, 1))
        return hashlib.sha256(found.read_bytes()).hexdigest()

    monkeypatch.setattr(module, "_digest", changing)
    assert snapshot_digest(SourceState.of([path]), folder=tmp_path) is None


def test_a_torn_line_of_the_stewards_file_loses_no_later_one(tmp_path):
    (tmp_path / module.OPENINGS).write_text('{"entry": "a", "non')
    made = commit(tmp_path, entry="b", snapshot=bytes(32))
    assert opening_of(tmp_path, entry="b").nonce == made.nonce
    assert opening_of(tmp_path, entry="a") is None


def test_openings_of_a_backup_are_put_back_beside_those_that_are_there(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for place in (one, other):
        place.mkdir()
    made = [commit(one, entry=entry, snapshot=bytes(32)) for entry in ("a", "b")]
    (one / module.DIGESTS).write_text("{}")
    kept = module.saved(one)
    newer = commit(other, entry="c", snapshot=bytes(32))
    assert [module.put_back(other, kept), module.put_back(other, kept)] == [3, 0]
    assert (other / module.DIGESTS).read_text() == "{}"
    assert [opening_of(other, entry=entry) for entry in "abc"] == [*made, newer]


def test_a_failing_digest_stops_no_release(tmp_path, monkeypatch):
    def gone(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(module, "_digest", gone)
    issued = issue(tmp_path)
    assert "commitment" not in issued.certificate["data"]
    (snapshot,) = [h for h in issued.certificate["hazards"] if h["id"] == "snapshot"]
    assert snapshot["status"] == "open"


BROKEN = ("[" * 100_000 + "]" * 100_000, '{"a": []}', '{"a": [[1]]}', "\ud800", "[1, 2]", "null")


@pytest.mark.parametrize("name", [module.OPENINGS, module.DIGESTS])
def test_whatever_stands_in_the_stewards_files_stops_no_release(tmp_path, name):
    issued = issue(tmp_path)
    for number, text in enumerate(BROKEN):
        path = issued.secrets / name
        path.write_bytes(text.encode("utf-8", "surrogatepass") + b"\n")
        path.chmod(0o600)
        other = again(issued.clinic, tmp_path / f"out {number}", request=f"another {number}")
        made = opening_of(issued.secrets, entry=other.certificate["accounting"]["hash"])
        assert other.certificate["data"]["commitment"] == commitment_of(made).to_json()


@pytest.mark.parametrize("digest", ["\ud800", "no digest", 7, ["f" * 64], ""])
def test_what_is_no_digest_is_not_committed_to(tmp_path, digest):
    (tmp_path / "data.csv").write_text("a\n1\n")
    state = SourceState.of([tmp_path / "data.csv"])
    true = snapshot_digest(state, folder=tmp_path)
    held = json.loads((tmp_path / module.DIGESTS).read_text())
    ((path, kept),) = held.items()
    (tmp_path / module.DIGESTS).write_text(json.dumps({path: [*kept[:-1], digest]}))
    assert snapshot_digest(state, folder=tmp_path) == true


def test_what_was_kept_of_a_file_is_its_fingerprint_and_its_digest():
    assert module._is_known([1, "a", "f" * 64])
    for other in ([], ["f" * 64, 1], [[1], "f" * 64], [1.5, "f" * 64], ["f" * 63], {"f" * 64: 1}):
        assert not module._is_known(other)


def test_tables_in_memory_are_not_committed_to(tmp_path):
    pa = pytest.importorskip("pyarrow")
    text = DATASET.replace("{kind: csv, path: .}", "{kind: frames}")
    frames = {
        "patients.csv": pa.table(
            {"pid": ["a"], "sex": ["1"], "age": [3], "diabetes": ["yes"], "note": ["x"]}
        ),
        "visits.csv": pa.table(
            {"pid": ["a"], "ward": ["north"], "cost": [1], "day": ["2026-01-11"]}
        ),
    }
    workspace: Workspace = open_workspace(text, frames=frames, folder=tmp_path)
    with workspace:
        plan = workspace.plan({"id": "n", "kind": "count", "table": "patients"}, epsilon="0.5")
        release = workspace.release(plan)
    assert "commitment" not in release.certificate["data"]
