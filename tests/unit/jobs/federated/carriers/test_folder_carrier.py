"""What a synchronised folder may hold, and what of it is read."""

import hashlib
import os

import pytest

from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.secure_sum.envelope import Leg
from federations import Hospitals


@pytest.fixture
def terms(tmp_path):
    return Hospitals(tmp_path).terms


@pytest.fixture
def view(terms, tmp_path):
    return lambda member: FolderCarrier(tmp_path, terms=terms, member=member)


def taken(carrier, *, leg=Leg.KEYS, sender="coordinator"):
    return list(carrier.take(leg=leg, sender=sender))


def own(view, tmp_path, member="coordinator"):
    """The folder of a member, with one message to site-3 in it that nobody here reads."""
    view(member).put(b"for another", leg=Leg.KEYS, to="site-3")
    return next(tmp_path.glob(f"*/{member}"))


def name(content, *, step=1, sender="coordinator", to="all"):
    return f"p{step}.{sender}.{to}.{hashlib.sha256(content).hexdigest()}.msg"


def test_messages_reach_whom_they_are_for_once(view):
    for to in ("all", "site-0", "site-1"):
        view("coordinator").put(to.encode(), leg=Leg.KEYS, to=to)
    view("coordinator").put(b"later", leg=Leg.DELIVER, to="all")
    reader = view("site-0")
    assert sorted(taken(reader)) == [b"all", b"site-0"]
    assert taken(reader) == []
    assert taken(reader, leg=Leg.DELIVER) == [b"later"]
    assert taken(reader, sender="site-1") == []


def test_a_message_is_written_once_and_whole(view, tmp_path):
    for _ in range(2):
        view("coordinator").put(b"said", leg=Leg.KEYS, to="all")
    (folder,) = tmp_path.glob("*/coordinator")
    assert [path.name for path in folder.iterdir()] == [name(b"said")]


def test_what_is_half_synchronised_is_read_when_it_is_whole(view, tmp_path):
    path, reader = own(view, tmp_path) / name(b"whole"), view("site-0")
    path.write_bytes(b"who")
    assert taken(reader) == []
    assert taken(reader) == []
    path.write_bytes(b"whole")
    assert taken(reader) == [b"whole"]


def test_an_unchanged_half_is_not_read_again(view, tmp_path, monkeypatch):
    from confide.jobs.federated.carriers import folder_carrier

    (own(view, tmp_path) / name(b"whole")).write_bytes(b"who")
    reads = []
    read = folder_carrier.read_beside
    monkeypatch.setattr(
        folder_carrier, "read_beside", lambda *a, **k: reads.append(1) or read(*a, **k)
    )
    reader = view("site-0")
    for _ in range(5):
        taken(reader)
    assert reads == [1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda n: n.replace(".msg", " (conflicted copy).msg"),
        lambda n: n.replace(".msg", ".sync-conflict-20260101-120000-ABCDEFG.msg"),
        lambda n: n.replace(".msg", "-1.msg"),
        lambda n: n + ".part",
        lambda n: "." + n,
        lambda n: n.upper(),
        lambda n: n.replace("coordinator", "site-1"),
        lambda n: n.replace(".all.", ".site-2."),
        lambda n: n.replace("p1.", "p9."),
        lambda n: n.replace("p1.", "p01."),
    ],
)
def test_other_names_are_nobodys(wrong, view, tmp_path):
    folder = own(view, tmp_path)
    (folder / wrong(name(b"said"))).write_bytes(b"said")
    assert taken(view("site-0")) == []
    (folder / name(b"said")).write_bytes(b"said")
    assert taken(view("site-0")) == [b"said"]


def test_a_message_in_the_folder_of_another_is_nobodys(view, tmp_path):
    folder = own(view, tmp_path, "site-1")
    (folder / name(b"said")).write_bytes(b"said")
    assert taken(view("site-0")) == []
    assert taken(view("site-0"), sender="site-1") == []


def test_links_pipes_folders_and_large_files_are_not_read(view, tmp_path):
    folder, reader = own(view, tmp_path), view("site-0")
    (tmp_path / "elsewhere").write_bytes(b"secret")
    (folder / name(b"secret")).symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / name(b"pipe"))
    (folder / name(b"folder")).mkdir()
    large = bytes(200_000)
    (folder / name(large)).write_bytes(large)
    assert taken(reader) == []


def test_a_folder_that_is_a_link_is_not_read(view, tmp_path):
    folder = own(view, tmp_path)
    (folder / name(b"said")).write_bytes(b"said")
    (folder.parent / "site-4").symlink_to(folder)
    assert taken(view("site-0"), sender="site-4") == []
    assert taken(view("site-0")) == [b"said"]


def test_nothing_is_written_through_a_link(view, tmp_path):
    folder = own(view, tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (folder.parent / "site-0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="site-0"):
        view("site-0").put(b"said", leg=Leg.SHARE, to="coordinator")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_rounds_have_folders_of_their_own(view, tmp_path):
    view("coordinator").put(b"said", leg=Leg.KEYS, to="all")
    other = FolderCarrier(tmp_path, terms=Hospitals(tmp_path).of_round(1), member="site-0")
    assert taken(other) == []


def test_no_message_is_written_or_read_through_a_link_in_place_of_the_round(view, terms, tmp_path):
    victim, place = tmp_path / "victim", tmp_path / terms.context.hex()[:32]
    victim.mkdir()
    place.symlink_to(victim)
    with pytest.raises(OSError, match=place.name):
        view("site-0").put(b"said", leg=Leg.ADVERTISE, to="coordinator")
    assert list(victim.iterdir()) == []
    place.unlink()
    view("coordinator").put(b"said", leg=Leg.KEYS, to="all")
    assert taken(view("site-0")) == [b"said"]
    place.rename(victim / "moved")
    place.symlink_to(victim / "moved")
    assert taken(view("site-0")) == []
    assert not view("coordinator").has_said(Leg.KEYS)
