"""Mailboxes take what a member writes for others, and give what is of their own member."""

import hashlib

import pytest

from confide.errors import MessageRefusedError
from confide.jobs.federated.flower import mailbox as mailboxes
from confide.jobs.federated.flower.mailbox import Letter, Mailbox
from confide.jobs.federated.flower.relays import SiteEnd
from federated_sites import Sites

RUN, ROUND = f"run-{'a' * 64}", "b" * 32
MEMBERS = ("hub", "north", "south", "west")
CONTENT = b"signed elsewhere"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
NOTICE = f"{RUN}/hub/proposed.{DIGEST}.json"


@pytest.fixture
def box(tmp_path):
    folder = tmp_path / "above" / "box"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def north(box):
    return Mailbox(box, members=MEMBERS)


def everything(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(str(path.relative_to(folder)) for path in files)


@pytest.mark.parametrize(
    "name",
    [
        NOTICE,
        f"{RUN}/south/certified.{DIGEST}.json",
        f"{RUN}/hub/answered-12.{DIGEST}.json",
        f"{ROUND}/hub/p3.hub.north.{DIGEST}.msg",
        f"{ROUND}/hub/p1.hub.all.{DIGEST}.msg",
    ],
)
def test_a_mailbox_takes_what_members_write(name, north, box):
    assert north.take([(name, CONTENT)], senders=MEMBERS) == 1
    assert north.take([(name, CONTENT)], senders=MEMBERS) == 0
    assert (box / name).read_bytes() == CONTENT
    assert everything(box) == [name]


@pytest.mark.parametrize(
    "name",
    [
        f"../{RUN}/hub/proposed.{DIGEST}.json",
        f"/{RUN}/hub/proposed.{DIGEST}.json",
        f"{RUN}/../hub/proposed.{DIGEST}.json",
        f"{RUN}/hub/../proposed.{DIGEST}.json",
        f"{RUN}/hub/proposed.{DIGEST}.json\n",
        f"{RUN}/hub/proposed.{DIGEST}.py",
        f"{RUN}/hub/p1.hub.all.{DIGEST}.msg",
        f"{ROUND}/hub/proposed.{DIGEST}.json",
        f"{ROUND}/hub/p1.south.all.{DIGEST}.msg",
        f"{ROUND}/hub/p9.hub.all.{DIGEST}.msg",
        f"{RUN[:-1]}/hub/proposed.{DIGEST}.json",
        f"{RUN}/east/proposed.{DIGEST}.json",
        f"{RUN}/proposed.{DIGEST}.json",
        ".bashrc",
        "",
    ],
)
def test_a_mailbox_takes_nothing_that_no_member_writes(name, north, tmp_path):
    with pytest.raises(MessageRefusedError):
        north.take([(name, CONTENT)], senders=MEMBERS)
    assert everything(tmp_path) == []


def test_a_mailbox_takes_nothing_that_is_not_what_its_name_says(north, tmp_path):
    with pytest.raises(MessageRefusedError, match="not what its name says"):
        north.take([(NOTICE, CONTENT + b"!")], senders=MEMBERS)
    assert everything(tmp_path) == []


def test_a_mailbox_takes_nothing_of_a_member_whom_the_giver_does_not_speak_for(north, tmp_path):
    with pytest.raises(MessageRefusedError, match="not of 'south'"):
        north.take([(NOTICE, CONTENT)], senders=("south",))
    assert everything(tmp_path) == []


def test_a_mailbox_follows_no_link(north, box, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (box / RUN).symlink_to(outside)
    with pytest.raises(OSError, match="run-"):
        north.take([(NOTICE, CONTENT)], senders=MEMBERS)
    assert everything(outside) == []
    (outside / "hub").mkdir()
    (outside / "hub" / f"proposed.{DIGEST}.json").write_bytes(CONTENT)
    assert north.held(MEMBERS) == frozenset()


def test_a_mailbox_takes_no_more_of_a_member_than_a_federation_needs(north, monkeypatch):
    monkeypatch.setattr(mailboxes, "MOST_FILES", 2)
    for content in (b"1", b"2"):
        name = f"{RUN}/hub/said.{hashlib.sha256(content).hexdigest()}.json"
        north.take([(name, content)], senders=("hub",))
    with pytest.raises(MessageRefusedError, match="'hub' sends more"):
        north.take([(NOTICE, CONTENT)], senders=("hub",))


def said(count, *, sender="hub"):
    """Small files of one member."""
    contents = [f"{i}".encode() for i in range(count)]
    return [
        (f"{RUN}/{sender}/said.{hashlib.sha256(each).hexdigest()}.json", each) for each in contents
    ]


def test_what_a_mailbox_holds_is_counted_once_a_letter_and_costs_nothing_again(north, monkeypatch):
    looks, names = [], Mailbox._names

    def counted(self, senders):
        looks.append(senders)
        return names(self, senders)

    monkeypatch.setattr(Mailbox, "_names", counted)
    assert north.take(said(200), senders=("hub",)) == 200
    assert len(looks) == 1
    digests = []
    monkeypatch.setattr(mailboxes.hashlib, "sha256", digests.append)
    again = [(name, b"") for name in north.held(("hub",))]
    assert north.take(again, senders=MEMBERS) == 0
    assert (len(again), digests) == (200, [])


def test_a_letter_of_more_files_than_a_federation_needs_is_refused_whole(
    north, tmp_path, monkeypatch
):
    monkeypatch.setattr(mailboxes, "MOST_FILES", 9)
    for letter in (said(10), said(5) + said(5), said(1) * 10):
        with pytest.raises(MessageRefusedError, match="sends more than a federation needs"):
            north.take(iter(letter), senders=("hub",))
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    "last", [f"{RUN}/south/said.{DIGEST}.json", f"{RUN}/hub/said.{'0' * 64}.json"]
)
def test_a_letter_with_a_file_that_its_giver_may_not_give_is_refused_whole(last, north, tmp_path):
    with pytest.raises(MessageRefusedError):
        north.take([*said(3), (last, CONTENT)], senders=("hub",))
    assert everything(tmp_path) == []


def test_a_full_letter_leaves_the_rest_for_the_next_one(north, monkeypatch):
    monkeypatch.setattr(mailboxes, "_FULL", 10)
    names = []
    for content in (b"1" * 30, b"2" * 4, b"3" * 4, b"4" * 4):
        names.append(f"{RUN}/hub/said.{hashlib.sha256(content).hexdigest()}.json")
        north.take([(names[-1], content)], senders=("hub",))
    left, letters = names, []
    while left:
        files = north.files(left)
        letters.append([name for name, _ in files])
        left = [name for name in left if name not in letters[-1]]
    assert letters == [names[:1], names[1:3], names[3:]]


def test_a_site_gives_files_of_its_own_member_alone(tmp_path):
    sites = Sites(tmp_path)
    box = Mailbox(sites.shared, members=("hub", *sites.names))
    secret = sites.shared / "patients.csv"
    secret.write_text("pid\n1\n")
    for name in (f"{RUN}/site-0", f"{RUN}/site-1", ROUND + "/site-0"):
        (sites.shared / name).mkdir(parents=True)
    (sites.shared / RUN / "site-0" / "patients.csv").write_text("pid\n1\n")
    (sites.shared / RUN / "site-1" / f"accepted.{DIGEST}.json").write_bytes(CONTENT)
    (sites.shared / ROUND / "site-0" / f"p2.site-0.hub.{DIGEST}.msg").symlink_to(secret)
    own = f"{RUN}/site-0/accepted.{DIGEST}.json"
    (sites.shared / own).write_bytes(CONTENT)
    end = SiteEnd(mailbox=box, federation=sites.federation, member="site-0")
    answer = end.answer(Letter())
    assert answer.files == ((own, CONTENT),)
    assert answer.held == {f"{RUN}/site-1/accepted.{DIGEST}.json"}
    assert end.answer(Letter(held=frozenset({own}))).files == ()
