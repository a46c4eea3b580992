"""An older anchor is put back beside a ledger that is whole, or is lost, after rows were lost.

Then rows of the ledger stand in no line but that of the row by which an officer goes on.  An older
copy of the ledger that is put back afterwards forgets nothing that bounded the data all the same.
"""

import datetime as dt
from dataclasses import replace

import pytest

from confide.budget.accounts.lost_terms import Told
from confide.budget.chain.ledger_time import SystemClock
from confide.budget.integrity import book_head, inspection
from recovery_world import World, ran
from small_clinic import make_clinic
from unit.cli.request.test_officers import make, write_policy

WAYS = ("put back", "lost")
LOWER = ("lifetime: {epsilon: 10}", "lifetime: {epsilon: 4}")
SOUTH = ("{id: clinic, lineage: clinic,", "{id: south, lineage: south,")
PURE = ("measure: zcdp, delta: 1e-6", "measure: pure")


def clinic(folder, **given):
    make_clinic(folder, **given)
    world = World(kind="sqlite", folder=folder)
    world.declare()
    ran("plan", world.study, "--quiet")
    world.take("draft")
    return world


def run(world, name):
    ran("run", world.study, "--request", name, "--out", world.folder / name, "--quiet")


def go_on(world, *officer):
    """Show that nothing goes on, and let an officer go on."""
    assert world.is_frozen()
    ran("ledger", "unfreeze", world.dataset, "--reason", "put back", "--quiet", *officer)


def disturb(world, way, anchor):
    """Put an older anchor back, or lose it."""
    path = world.inside / "anchor.jsonl"
    if way == "lost":
        path.unlink()
    else:
        path.write_bytes(anchor)


def read(world):
    return (world.inside / "anchor.jsonl").read_bytes()


def limits(world):
    caps = ran("ledger", "show", world.dataset, "--json").json["caps"]
    return {each["cap"]: each["limit"] for each in caps}


def a_cap_that_was_lowered_stays_low(folder, way):
    world = clinic(folder)
    run(world, "first")
    anchor = read(world)
    world.put_back("draft")
    go_on(world)
    text = world.dataset.read_text()
    world.dataset.write_text(text.replace(*LOWER))
    ran("ledger", "amend-caps", world.dataset, "--quiet")
    low = limits(world)
    disturb(world, way, anchor)
    go_on(world)
    world.put_back("draft")
    go_on(world)
    assert limits(world) == low
    world.dataset.write_text(text)
    raised = ran("run", world.study, "--out", folder / "second", code=3)
    assert "was charged under other caps" in raised.err
    ran("ledger", "verify", world.dataset)


def a_policy_that_holds_is_waited_for(folder, way, *, again=False):
    """Version 2 allows less; with ``again`` it was in rows that are lost as well."""
    made = make("sqlite", folder / "clinic")
    world, officer = World(kind="sqlite", folder=made.folder), ("--officer", made.keys["cy"])
    world.copies.mkdir()
    run(world, "first")
    world.take("draft")
    run(world, "second")
    anchor = read(world)
    world.put_back("draft")
    go_on(world, *officer)
    write_policy(made, version=2, law="0.2")
    ran("request", "endorse", world.dataset, "--key", made.keys["cy"])
    ran("ledger", "adopt", world.dataset, "--reason", "the board")
    if again:
        world.put_back("draft")
        go_on(world, *officer)
    disturb(world, way, anchor)
    go_on(world, *officer)
    world.put_back("draft")
    go_on(world, *officer)
    write_policy(made, version=1)
    asked = ("run", world.study, "--request", "third", "--out", folder / "third")
    assert "Version 2 of the policy" in ran(*asked, code=3).err
    write_policy(made, version=2, law="0.2")
    ran("request", "endorse", world.dataset, "--key", made.keys["cy"])
    ran("ledger", "adopt", world.dataset, "--reason", "the board")
    assert "cap law" in ran(*asked, code=5).err
    ran("ledger", "verify", world.dataset)


def what_was_spent_in_another_year_counts_in_it(folder, clock):
    """The year is known by rows that are lost and counted; the copy has the year before open."""
    world = clinic(folder)
    run(world, "first")
    anchor = read(world)
    world.put_back("draft")
    go_on(world)
    clock["now"] += dt.timedelta(days=365)
    year = clock["now"].year
    opened = ("ledger", "open-year", year, world.dataset, "--reason", "new year", "--quiet")
    ran(*opened)
    run(world, "next year")
    spent = world.spent()[f"calendar year {year}"]
    assert spent
    world.put_back("draft")
    go_on(world)
    disturb(world, "put back", anchor)
    go_on(world)
    world.put_back("draft")
    go_on(world)
    ran(*opened)
    assert world.spent()[f"calendar year {year}"] >= spent
    ran("ledger", "verify", world.dataset)


def charged_in_rho(world):
    """Plan south in ε, then charge it in ρ; return both data sets and the anchor of in between."""
    north = world.dataset.read_text()
    south = north.replace(*SOUTH)
    world.dataset.write_text(south.replace(*PURE))
    ran("plan", world.study, "--quiet")
    anchor = read(world)
    world.dataset.write_text(south)
    run(world, "first")
    return north, south, anchor


def terms_of_lost_rows_are_taken_once(folder):
    """South was planned under ε and charged under ρ, in rows that are lost; then the anchor is of
    before the charge."""
    world = clinic(folder)
    north, south, anchor = charged_in_rho(world)
    spent = world.spent()
    world.put_back("draft")
    world.dataset.write_text(north)
    go_on(world)
    disturb(world, "put back", anchor)
    go_on(world)
    world.dataset.write_text(south)
    ran("plan", world.study, "--quiet")
    assert world.spent() == spent
    run(world, "second")
    ran("ledger", "verify", world.dataset)


@pytest.fixture
def clock(monkeypatch):
    shown = {"now": dt.datetime.now(dt.UTC)}
    monkeypatch.setattr(SystemClock, "now", lambda _: shown["now"])
    return shown


@pytest.mark.parametrize("way", WAYS)
def test_a_cap_that_was_lowered_stays_low_whatever_anchor_is_put_back(tmp_path, way):
    a_cap_that_was_lowered_stays_low(tmp_path, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("again", [False, True], ids=["held", "waited for"])
def test_a_policy_is_waited_for_whatever_anchor_is_put_back(tmp_path, way, again):
    a_policy_that_holds_is_waited_for(tmp_path, way, again=again)


def test_what_was_spent_in_another_year_counts_in_it_whatever_anchor_is_put_back(tmp_path, clock):
    what_was_spent_in_another_year_counts_in_it(tmp_path, clock)


def test_terms_of_lost_rows_are_taken_once_whatever_anchor_is_put_back(tmp_path):
    terms_of_lost_rows_are_taken_once(tmp_path)


class TestTheseTestsCanFail:
    @pytest.mark.mutant
    @pytest.mark.parametrize(
        "check", [a_cap_that_was_lowered_stays_low, a_policy_that_holds_is_waited_for]
    )
    def test_an_officers_row_that_tells_no_bounds_is_caught(self, tmp_path, monkeypatch, check):
        real = book_head._holding

        def amounts(holds):
            return real(replace(holds, caps=None, adopted=()))

        monkeypatch.setattr(book_head, "_holding", amounts)
        with pytest.raises(AssertionError):
            check(tmp_path, "put back")

    @pytest.mark.mutant
    def test_an_officers_row_that_tells_of_the_open_year_alone_is_caught(
        self, tmp_path, monkeypatch, clock
    ):
        real = book_head._holding

        def open_year(holds):
            last = min((n for n in holds.spent if n.startswith("calendar")), default="")
            others = {n: u for n, u in holds.spent.items() if not n.startswith("calendar")}
            kept = {last: holds.spent[last]} if last else {}
            return real(replace(holds, spent=others | kept))

        monkeypatch.setattr(book_head, "_holding", open_year)
        with pytest.raises(AssertionError):
            what_was_spent_in_another_year_counts_in_it(tmp_path, clock)

    @pytest.mark.mutant
    def test_terms_that_are_taken_twice_are_caught(self, tmp_path, monkeypatch):
        monkeypatch.setattr(
            inspection,
            "untold",
            lambda branch, *, keys, counted: (branch.heads, keys),  # noqa: ARG005
        )
        monkeypatch.setattr(
            Told, "followed_by", lambda self, newer: newer if newer.newest else self
        )
        with pytest.raises(AssertionError):
            terms_of_lost_rows_are_taken_once(tmp_path)
