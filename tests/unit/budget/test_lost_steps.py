"""Steps of growing releases whose rows are lost: they charged nothing, and published something."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from confide.budget.accounts.book import Book
from confide.budget.growth import Step
from confide.budget.integrity import inspection
from confide.errors import BudgetExhaustedError, LedgerFrozenError, PolicyError
from confide.privacy.amount import Amount
from ledger_policies import cap, policy, uncapped
from ledgers import LINEAGE, TENTH, HandClock, open_ledger, released, request, used
from unit.budget.test_lost_rows import kept, put_back

ROLLING = policy(
    cap("year", "dataset", "rolling-365d", "0.15"),
    cap("life", "dataset", "lifetime", "9"),
    effective="2020-01-01",
)
OPENING = Step(question="f" * 64, start=0, stop=1)


class World:
    """A ledger in a folder, at a time."""

    def __init__(self, folder):
        self.folder, self.clock = folder, HandClock()
        self.ledger = None

    def open(self, day=None):
        if day is not None:
            self.clock.time = datetime.fromisoformat(day).replace(tzinfo=UTC)
        self.close()
        self.ledger = open_ledger(self.folder, clock=self.clock)
        return self.ledger

    def close(self):
        if self.ledger is not None:
            self.ledger.close()
        self.ledger = None

    def begin(self):
        ledger = self.open("2026-03-01")
        ledger.register(uncapped())
        ledger.desk.adopt(LINEAGE, policy=ROLLING)
        return self.published(OPENING, key="opens", nano=TENTH)

    def published(self, step, *, key, nano=0):
        one = replace(request(key), amount=Amount(nano=nano), events_json=f"{nano}/0", step=step)
        held = self.ledger.reserve(one)
        self.ledger.start_reading(held)
        return self.ledger.publish(self.ledger.commit(held, payload=b"answer")).number

    def stepped(self, opened, *, key, stop=2):
        step = replace(OPENING, start=stop - 1, stop=stop, continues=opened)
        return self.published(step, key=key)

    def confirm(self, day):
        self.open(day)
        self.is_now(day)

    def is_now(self, day):
        """Let an officer say which day it is, while everything stays open."""
        self.clock.time = datetime.fromisoformat(day).replace(tzinfo=UTC)
        self.ledger.desk.confirm_day(LINEAGE, day=day, reason="the date is right")

    def lose(self, *files):
        self.close()
        put_back(self.folder, "early", *files)
        ledger = self.open()
        with pytest.raises(LedgerFrozenError):
            ledger.head()
        ledger.unfreeze("the disk was replaced")
        return ledger


def a_lost_step_counts_from_the_loss_on(folder):
    world = World(folder)
    opened = world.begin()
    world.confirm("2026-03-01")
    world.confirm("2027-02-20")
    world.close()
    kept(folder, "early")
    world.open()
    world.stepped(opened, key="step")
    world.lose("ledger.sqlite")
    world.confirm("2027-03-05")
    assert used(world.ledger)["rolling-365d"] == TENTH
    with pytest.raises(BudgetExhaustedError):
        released(world.ledger, "beside", b"")
    world.confirm("2028-03-04")
    released(world.ledger, "after", b"")
    world.ledger.verify_chain()
    world.close()


def test_a_lost_step_counts_in_rolling_windows_from_the_loss_on(tmp_path):
    a_lost_step_counts_from_the_loss_on(tmp_path / "ledger")


def test_a_step_that_is_lost_with_what_it_went_on_from_counts_too(tmp_path):
    """The first step is under way in the copy that is put back, a second one is lost with its
    end."""
    world = World(tmp_path / "ledger")
    opened = world.begin()
    world.confirm("2026-03-01")
    step = replace(OPENING, start=1, stop=2, continues=opened)
    free = {"amount": Amount(nano=0), "events_json": "0/0"}
    held = world.ledger.reserve(replace(request("step"), step=step, **free))
    shutil.copy2(world.folder / "ledger.sqlite", world.folder / "early.ledger.sqlite")
    world.ledger.start_reading(held)
    world.ledger.publish(world.ledger.commit(held, payload=b"answer"))
    world.confirm("2027-02-20")
    world.stepped(opened, key="next", stop=3)
    world.lose("ledger.sqlite")
    world.confirm("2027-02-21")
    assert used(world.ledger)["rolling-365d"] == TENTH
    world.confirm("2027-03-05")
    assert used(world.ledger)["rolling-365d"] == TENTH
    world.close()


def periods_drawn_twice_are_charged_twice(folder, *, spent):
    """One host steps, the database is put back, another steps the same; then the first looks."""
    world = World(folder)
    opened = world.begin()
    world.close()
    kept(folder, "early")
    world.open()
    world.stepped(opened, key="of one host")
    world.close()
    kept(folder, "lost")
    put_back(folder, "early", "ledger.sqlite", "anchor")
    world.open()
    world.stepped(opened, key="of another")
    world.close()
    put_back(folder, "lost", "anchor")
    ledger = world.open()
    with pytest.raises(LedgerFrozenError):
        ledger.head()
    ledger.unfreeze("another host knows more")
    assert used(ledger)["lifetime"] == spent
    ledger.unfreeze("looked again")
    ledger = world.open()
    assert used(ledger)["lifetime"] == spent
    ledger.verify_chain()
    world.close()


def test_periods_that_two_hosts_drew_are_charged_twice(tmp_path):
    periods_drawn_twice_are_charged_twice(tmp_path / "ledger", spent=2 * TENTH)


def test_a_growing_release_that_only_the_lost_rows_stepped_is_charged_once(tmp_path):
    world = World(tmp_path / "ledger")
    opened = world.begin()
    world.close()
    kept(world.folder, "early")
    world.open()
    world.stepped(opened, key="lost")
    ledger = world.lose("ledger.sqlite")
    assert used(ledger)["lifetime"] == TENTH
    world.close()


class TestWhatIsPublished:
    """What counts in a rolling window does so from when patients are read, or an answer leaves."""

    @pytest.fixture
    def world(self, tmp_path):
        world = World(tmp_path / "ledger")
        world.opened = world.begin()
        world.confirm("2026-03-01")
        yield world
        world.ledger.verify_chain()
        world.close()

    def rolling(self, world):
        return used(world.ledger)["rolling-365d"]

    def asked(self, world, key, *, nano, step=None):
        events = f"{nano}/0"
        one = replace(request(key), amount=Amount(nano=nano), events_json=events, step=step)
        return world.ledger.reserve(one)

    def test_a_step_that_is_cancelled_moves_nothing(self, world):
        world.confirm("2027-02-20")
        step = replace(OPENING, start=1, stop=2, continues=world.opened)
        world.ledger.cancel(self.asked(world, "step", nano=0, step=step))
        world.confirm("2027-03-05")
        assert self.rolling(world) == 0

    def test_a_request_that_waited_counts_from_when_it_was_read(self, world):
        held = self.asked(world, "waits", nano=TENTH // 4)
        world.is_now("2027-02-20")
        world.ledger.start_reading(held)
        world.ledger.publish(world.ledger.commit(held, payload=b"answer"))
        world.confirm("2028-02-19")
        assert self.rolling(world) == TENTH // 4
        world.confirm("2029-02-18")
        assert self.rolling(world) == 0

    def test_a_request_that_waited_until_its_charge_left_is_refused_and_given_back(self, world):
        held = self.asked(world, "waits", nano=TENTH // 4)
        for day in ("2026-03-02", "2027-03-02"):
            world.is_now(day)
        with pytest.raises(PolicyError, match="days were confirmed while it waited"):
            world.ledger.start_reading(held)
        world.ledger.cancel(held)
        assert used(world.ledger)["lifetime"] == TENTH

    def test_an_answer_that_was_kept_counts_from_when_it_is_published(self, world):
        held = self.asked(world, "kept", nano=TENTH // 4)
        world.ledger.start_reading(held)
        entry = world.ledger.commit(held, payload=b"answer")
        world.confirm("2027-02-20")
        world.ledger.publish(entry)
        world.confirm("2027-03-05")
        assert self.rolling(world) == TENTH // 4


class TestTheseTestsCanFail:
    @pytest.mark.mutant
    def test_a_lost_step_that_counts_from_the_charge_on_is_caught(self, tmp_path, monkeypatch):
        counted = Book._count_anew

        def until_lost(book, number):
            if book.lineage:  # rows that go on after a loss are of no lineage
                counted(book, number)

        monkeypatch.setattr(Book, "_count_anew", until_lost)
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            a_lost_step_counts_from_the_loss_on(tmp_path / "ledger")

    @pytest.mark.mutant
    def test_periods_drawn_twice_for_one_charge_are_caught(self, tmp_path, monkeypatch):
        monkeypatch.setattr(inspection, "charged_again", lambda *_, **__: ())
        with pytest.raises(AssertionError):
            periods_drawn_twice_are_charged_twice(tmp_path / "ledger", spent=2 * TENTH)
