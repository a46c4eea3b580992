"""Relays over a network that loses, repeats and delays letters: what is written arrives."""

import hashlib
import random
import threading
import time
from dataclasses import replace

import pytest

from confide.errors import MessageRefusedError
from confide.jobs.federated.flower.hub_relay import carry
from confide.jobs.federated.flower.mailbox import Letter, Mailbox
from confide.jobs.federated.flower.relays import HubEnd, SiteEnd
from confide.service.federation.run import run_over_sites
from confide.service.federation.serve import Meeting, serve_site
from federated_sites import Sites

RUN = f"run-{'c' * 64}"


class Post:
    """A network in memory; each letter, and each answer, may be lost, or come twice."""

    def __init__(self, ends, *, chance=0.0, order=None):
        self.ends, self.chance, self.order = ends, chance, order or random.Random(1)
        self.waiting, self.letters = {}, []

    def sites(self):
        return dict(enumerate(self.ends))

    def send(self, node, letter):
        key = f"letter-{len(self.letters)}"
        self.letters.append(letter)
        name = list(self.ends)[node]
        for _ in range(1 + (self.order.random() < self.chance)):
            if self.order.random() >= self.chance:
                self.waiting[key] = self.answered(name, letter)
        return key

    def answered(self, name, letter):
        try:
            return self.ends[name].answer(letter)
        except MessageRefusedError:
            return None

    def answers(self, sent):
        came = [key for key in sent if key in self.waiting and self.order.random() >= self.chance]
        return {key: self.waiting.pop(key) for key in came}


class Clock:
    """Time that passes with each look."""

    def __init__(self, step):
        self.time, self.step = 0.0, step

    def __call__(self):
        self.time += self.step
        return self.time


class Apart:
    """Members that see no common folder."""

    def __init__(self, sites):
        self.sites, self.told = sites, []
        self.members = ("hub", *sites.names)
        self.boxes = {name: sites.root / f"box-{name}" for name in self.members}
        for box in self.boxes.values():
            box.mkdir()
        self.post = Post({name: self.site_end(name) for name in sites.names})

    def mailbox(self, name):
        return Mailbox(self.boxes[name], members=self.members)

    def site_end(self, name):
        box = self.mailbox(name)
        return SiteEnd(mailbox=box, federation=self.sites.federation, member=name, patience=0)

    def hub_end(self, now=time.monotonic):
        return HubEnd(
            self.mailbox("hub"),
            federation=self.sites.federation,
            network=self.post,
            now=now,
            told=self.told.append,
        )

    def meeting(self, name):
        return Meeting(folder=self.boxes[name], seconds=40, pause=0.01)

    def together(self):
        """A whole run, each member in its own folder, with relays between them."""
        sites, over = self.sites, threading.Event()
        approve = sites.digest()

        def serve(name):
            return serve_site(
                sites.study(name),
                federation=sites.file,
                meeting=self.meeting(name),
                approve=approve,
                out=sites.root / f"out-{name}",
            )

        def hub():
            return run_over_sites(
                sites.study("hub"),
                federation=sites.file,
                meeting=self.meeting("hub"),
                out=sites.root / "out",
            )

        def relay():
            end, clock = self.hub_end(Clock(1)), 0
            while not over.is_set():
                end.look()
                clock += 1
                if clock % 40 == 0:  # the relay dies, and another one begins with nothing known
                    end = self.hub_end(Clock(1))
                time.sleep(0.01)

        carrying = threading.Thread(target=relay)
        carrying.start()
        try:
            parts = {name: (lambda name=name: serve(name)) for name in sites.names}
            made = sites.together(
                serving=[], hub=hub, **{n.replace("-", "_"): part for n, part in parts.items()}
            )
        finally:
            over.set()
            carrying.join(timeout=30)
        return made


@pytest.fixture
def apart(tmp_path):
    return Apart(Sites(tmp_path))


def test_a_run_over_folders_of_their_own_is_that_of_one_folder_whatever_letters_are_lost(apart):
    apart.post.chance = 0.2
    made = apart.together()
    assert made.hub.missing == {}
    assert made.hub.added == tuple(apart.sites.names)
    payloads = {
        (apart.sites.root / place / "noisy.json").read_bytes()
        for place in ("out", *(f"out-{name}" for name in apart.sites.names))
    }
    assert len(payloads) == 1
    nano = apart.sites.plan().amount.nano
    assert [apart.sites.spent(name) for name in apart.sites.names] == [nano] * 3
    assert apart.told == []


def test_sites_are_given_no_message_that_is_for_another_site(apart):
    made = apart.together()
    assert made.hub.missing == {}
    for name in apart.sites.names:
        messages = [path.name.split(".") for path in apart.boxes[name].rglob("*.msg")]
        assert {to for _, by, to, *_ in messages if by != name} == {name, "all"}
        assert {by for _, by, *_ in messages} == {name, "hub"}


def written(apart, name, content):
    digest = hashlib.sha256(content).hexdigest()
    file = f"{RUN}/{name}/accepted.{digest}.json"
    apart.mailbox(name).take([(file, content)], senders=(name,))
    return file


def test_a_site_that_speaks_for_another_is_told_of_and_nothing_is_written(apart):
    forged = written(apart, "site-1", b"forged")
    lying = apart.post.ends["site-0"]

    class Lying:
        def answer(self, letter):
            return replace(lying.answer(letter), files=((forged, b"forged"),))

    apart.post.ends = {"site-0": Lying()}
    end = apart.hub_end(Clock(1))
    for _ in range(10):
        end.look()
    assert not (apart.boxes["hub"] / forged).exists()
    assert "site-0: A file came that is not of 'site-0'." in apart.told


def test_a_node_that_is_registered_under_no_sites_name_is_sent_nothing(apart):
    apart.post.ends = {"visitor": apart.post.ends["site-0"]}
    end = apart.hub_end(Clock(1))
    for _ in range(10):
        end.look()
    assert apart.post.letters == []


def test_who_lacks_nothing_is_asked_now_and_then_and_not_at_each_look(apart):
    end = apart.hub_end(Clock(0.01))
    for _ in range(100):
        end.look()
    assert 3 <= len(apart.post.letters) <= 9
    assert set(apart.post.letters) == {Letter()}


def test_a_relay_ends_once_nothing_moves(apart):
    written(apart, "site-1", b"one word")
    clock = Clock(0.5)
    carry(apart.hub_end(clock), seconds=60, now=clock, pause=0)
    assert clock.time >= 60
    for name in apart.members:
        assert [path.read_bytes() for path in apart.boxes[name].rglob("*.json")] == [b"one word"]
