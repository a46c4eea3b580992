"""Notices of a run: one file each, signed, whole, and nobody else's."""

import hashlib
import json
import tracemalloc

import pytest

from confide.errors import ContractError, MessageRefusedError
from confide.jobs.federated.runs import notices
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import proposals
from federations import Hospitals

RUN = "a" * 64
LARGE = {
    NoticeKind.PROPOSED,
    NoticeKind.ANSWERED,
    NoticeKind.ADDED,
    NoticeKind.CERTIFIED,
}


@pytest.fixture
def hospitals(tmp_path):
    return Hospitals(tmp_path, sites=3, drops=0)


def board(hospitals, folder, *, run=RUN):
    return Board(folder, federation=hospitals.federation, run=run)


def post(
    hospitals, folder, *, sender="site-1", key=None, body=None, kind=NoticeKind.ENDED, run=RUN
):
    key = key or hospitals.keys[1]
    body = body or {"why": "cut off"}
    board(hospitals, folder, run=run).post(kind, body, sender=sender, key=key)


def test_what_a_member_said_is_read_by_all_and_once(hospitals, tmp_path):
    post(hospitals, tmp_path)
    post(hospitals, tmp_path)
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1") == {"why": "cut off"}
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-0") is None
    assert board(hospitals, tmp_path).read(NoticeKind.REFUSED, "site-1") is None


def test_what_another_key_signed_is_refused_by_the_members_name(hospitals, tmp_path):
    post(hospitals, tmp_path, key=hospitals.keys[2])
    reading = board(hospitals, tmp_path)
    assert reading.read(NoticeKind.ENDED, "site-1") is None
    with pytest.raises(MessageRefusedError, match=r"'site-1'.*not signed by the key"):
        reading.require_own(NoticeKind.ENDED, "site-1")


def test_a_forged_notice_beside_the_true_one_changes_nothing(hospitals, tmp_path):
    post(hospitals, tmp_path)
    post(hospitals, tmp_path, key=hospitals.keys[2], body={"why": "forged"})
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1") == {"why": "cut off"}


@pytest.mark.parametrize("changed", ["sender", "kind", "run", "federation"])
def test_a_notice_is_of_one_sender_kind_run_and_federation(changed, hospitals, tmp_path):
    post(hospitals, tmp_path)
    (wire,) = (tmp_path / f"run-{RUN}" / "site-1").iterdir()
    run, sender, kind = RUN, "site-1", NoticeKind.ENDED
    reader = hospitals
    match changed:
        case "sender":
            sender = "site-2"
        case "kind":
            kind = NoticeKind.REFUSED
        case "run":
            run = "b" * 64
        case "federation":
            reader = Hospitals(tmp_path, sites=4)
            reader.keys = hospitals.keys
    place = tmp_path / f"run-{run}" / sender
    place.mkdir(parents=True, exist_ok=True)
    digest = wire.name.split(".")[1]
    (place / f"{kind.value}.{digest}.json").write_bytes(wire.read_bytes())
    reading = board(reader, tmp_path, run=run)
    assert reading.read(kind, sender) is None
    with pytest.raises(MessageRefusedError, match="not signed by the key"):
        reading.require_own(kind, sender)


def test_a_file_that_is_not_whole_is_read_later(hospitals, tmp_path):
    post(hospitals, tmp_path)
    (wire,) = (tmp_path / f"run-{RUN}" / "site-1").iterdir()
    content = wire.read_bytes()
    wire.write_bytes(content[:40])
    reading = board(hospitals, tmp_path)
    assert reading.read(NoticeKind.ENDED, "site-1") is None
    wire.write_bytes(content)
    assert reading.read(NoticeKind.ENDED, "site-1") == {"why": "cut off"}


def test_two_notices_of_one_kind_are_a_contradiction(hospitals, tmp_path):
    post(hospitals, tmp_path)
    post(hospitals, tmp_path, body={"why": "another"})
    with pytest.raises(MessageRefusedError, match="'site-1' said two things"):
        board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1")


def test_links_are_followed_by_nobody(hospitals, tmp_path):
    post(hospitals, tmp_path)
    folder = tmp_path / f"run-{RUN}" / "site-1"
    (wire,) = folder.iterdir()
    wire.rename(tmp_path / "elsewhere.json")
    wire.symlink_to(tmp_path / "elsewhere.json")
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1") is None


def test_a_run_has_64_digits(hospitals, tmp_path):
    with pytest.raises(ContractError, match="64 hexadecimal digits"):
        board(hospitals, tmp_path, run="../" + "a" * 61)


@pytest.mark.parametrize(
    ("kind", "longest"), [(kind, 2**20) for kind in NoticeKind if kind not in LARGE]
)
def test_a_longer_notice_than_a_reason_is_not_read(kind, longest, hospitals, tmp_path):
    post(hospitals, tmp_path, kind=kind, body={"why": "x" * longest})
    assert board(hospitals, tmp_path).read(kind, "site-1") is None
    short = {"why": "x" * (longest // 2)}
    post(hospitals, tmp_path, kind=kind, body=short)
    assert board(hospitals, tmp_path).read(kind, "site-1") == short


@pytest.mark.parametrize("kind", sorted(LARGE, key=lambda kind: kind.value))
def test_plans_sums_and_certificates_may_be_longer(kind, hospitals, tmp_path):
    post(hospitals, tmp_path, kind=kind, body={"why": "x" * 2**20})
    assert board(hospitals, tmp_path).read(kind, "site-1") is not None


@pytest.mark.parametrize("is_link", [True, False])
def test_what_cannot_be_read_hides_no_other_notice(is_link, hospitals, tmp_path):
    post(hospitals, tmp_path)
    first = tmp_path / f"run-{RUN}" / "site-1" / f"ended.{'0' * 64}.json"
    if is_link:
        first.symlink_to(tmp_path / "nowhere")
    else:
        with first.open("wb") as file:
            file.truncate(2**28 + 1)
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1") == {"why": "cut off"}


def littered(folder, *, sender="site-1", kind=NoticeKind.ADDED, files=6, size=2**22):
    """Files of the right names that nobody signed, of which each is a list of many numbers."""
    place = folder / f"run-{RUN}" / sender
    place.mkdir(parents=True)
    for i in range(files):
        content = f'{{"body":[{i},'.encode() + b"0," * (size // 2) + b'0],"signature":"00"}'
        digest = hashlib.sha256(content).hexdigest()
        (place / f"{kind.value}.{digest}.json").write_bytes(content)


def counted(patch, of, name):
    """Calls of a function from here on."""
    calls, true = [], getattr(of, name)

    def call(*given, **how):
        calls.append(given)
        return true(*given, **how)

    patch.setattr(of, name, call)
    return calls


def test_what_nobody_signed_is_held_one_file_at_a_time_and_never_parsed(
    hospitals, tmp_path, monkeypatch
):
    littered(tmp_path)
    parsed = counted(monkeypatch, json, "loads")
    reading = board(hospitals, tmp_path)
    tracemalloc.start()
    assert reading.read(NoticeKind.ADDED, "site-1") is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert parsed == []
    assert peak < 3 * 2**22


def test_what_is_nobodys_word_is_read_once_however_often_it_is_looked_at(
    hospitals, tmp_path, monkeypatch
):
    littered(tmp_path, size=2)
    half = tmp_path / f"run-{RUN}" / "site-1" / f"added.{'0' * 64}.json"
    half.write_bytes(b"not whole")
    reads = counted(monkeypatch, notices, "read_beside")
    reading = board(hospitals, tmp_path)
    for _ in range(3):
        assert reading.read(NoticeKind.ADDED, "site-1") is None
    assert len(reads) == 7
    with pytest.raises(MessageRefusedError, match="not signed"):
        reading.require_own(NoticeKind.ADDED, "site-1")
    post(hospitals, tmp_path, kind=NoticeKind.ADDED)
    assert reading.read(NoticeKind.ADDED, "site-1") == {"why": "cut off"}


def test_who_waits_for_a_proposal_reads_what_is_nobodys_word_once(hospitals, tmp_path, monkeypatch):
    littered(tmp_path, sender="coordinator", kind=NoticeKind.PROPOSED, size=2)
    reads, boards = counted(monkeypatch, notices, "read_beside"), {}
    for _ in range(3):
        with pytest.raises(MessageRefusedError, match="not signed"):
            proposals(tmp_path, federation=hospitals.federation, boards=boards)
    assert len(reads) == 6


@pytest.mark.parametrize("step", ["run", "member"])
def test_no_notice_is_written_or_read_through_a_link_on_the_way(step, hospitals, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    place = tmp_path / f"run-{RUN}"
    if step == "member":
        place.mkdir()
        place /= "site-1"
    place.symlink_to(victim)
    with pytest.raises(OSError, match=r"run-|site-1"):
        post(hospitals, tmp_path)
    assert list(victim.iterdir()) == []
    place.unlink()
    post(hospitals, tmp_path)
    place.rename(victim / "moved")
    place.symlink_to(victim / "moved")
    assert board(hospitals, tmp_path).read(NoticeKind.ENDED, "site-1") is None
