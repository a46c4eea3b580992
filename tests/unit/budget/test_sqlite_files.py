import os
import sqlite3
import stat
import subprocess
import sys
from importlib import resources

import pytest

import confide
from confide.budget.ledger import State
from confide.budget.stores.lease import Lease
from confide.errors import ConfideError, ContractError, LedgerFrozenError, PolicyError
from confide.privacy.amount import Amount
from ledgers import (
    LINEAGE,
    TENTH,
    HandClock,
    amount_of,
    open_ledger,
    released,
    remaining,
    request,
    terms,
    used,
)
from small_clinic import make_clinic


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "private"


@pytest.fixture
def ledger(folder):
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    yield ledger
    ledger.close()


@pytest.mark.usefixtures("ledger")
def test_files_are_open_to_their_owner_alone(folder):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("ledger.sqlite", "anchor"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(("name", "mode"), [("", 0o755), ("ledger.sqlite", 0o640)])
@pytest.mark.usefixtures("ledger")
def test_a_ledger_that_others_may_read_is_not_opened(folder, name, mode):
    (folder / name).chmod(mode)
    with pytest.raises(ContractError, match="chmod"):
        open_ledger(folder)
    (folder / name).chmod(0o700)


def test_a_file_that_is_no_ledger_is_not_opened(folder):
    folder.mkdir(mode=0o700)
    (folder / "ledger.sqlite").write_bytes(b"not a database, only text " * 100)
    (folder / "ledger.sqlite").chmod(0o600)
    with pytest.raises(ContractError, match="not a ledger"):
        open_ledger(folder)


@pytest.mark.usefixtures("ledger")
def test_a_ledger_of_a_newer_version_is_not_opened(folder):
    other = sqlite3.connect(folder / "ledger.sqlite")
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(ContractError, match="upgrade"):
        open_ledger(folder)


def test_the_database_is_durable_and_distrusts_its_schema(ledger):
    database = ledger._journal.store.database
    settings = {
        name: database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("synchronous", "journal_mode", "foreign_keys", "trusted_schema")
    }
    assert settings == {
        "synchronous": 3,
        "journal_mode": "delete",
        "foreign_keys": 1,
        "trusted_schema": 0,
    }


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = '{}'",
        "DELETE FROM event",
        "DELETE FROM request",
        "UPDATE request SET state = 'reserved'",
        "UPDATE request SET state = 'cancelled'",
        "UPDATE payload SET bytes = x'00'",
        "DELETE FROM payload",
        "UPDATE counter SET spent = cap + 1 WHERE scope = 'lifetime'",
        "UPDATE counter SET spent = -1",
        "UPDATE counter SET spent = 0.5",
        "INSERT INTO event VALUES (99, '{}', '', 'x')",
    ],
)
def test_the_database_refuses_what_the_rules_forbid(ledger, statement):
    released(ledger, "k", b"answer")
    with pytest.raises(sqlite3.IntegrityError):
        ledger._journal.store.database.execute(statement)


def test_the_database_itself_refuses_to_pass_a_cap(ledger):
    with pytest.raises(LedgerFrozenError):
        ledger._journal.store.add_spent(
            lineage=LINEAGE,
            scope="lifetime",
            units=5 * 10**9,
            expect=5 * 10**9,
        )


def test_a_ledger_is_not_carried_over_a_fork(folder):
    code = (
        "import os, sys; from pathlib import Path; from ledgers import open_ledger\n"
        "ledger = open_ledger(Path(sys.argv[1]))\n"
        "if os.fork() == 0:\n"
        "    try: ledger.head()\n"
        "    except ValueError as error: os._exit(7 if 'after the fork' in str(error) else 1)\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, folder], env=environment, check=False
    )
    assert done.returncode == 7


def test_a_lease_ends_with_its_holder_and_leaves_no_file(tmp_path):
    first, second = Lease(tmp_path / "l"), Lease(tmp_path / "l")
    assert second.is_alive(first.owner)
    assert first.is_alive(first.owner)
    first.release()
    assert not second.is_alive(first.owner)
    assert second.is_alive("../../etc/passwd")  # what cannot be examined counts as alive
    second.release()
    assert [path.name for path in (tmp_path / "l").iterdir()] == ["writer.lock"]


def test_an_entry_that_costs_more_than_was_charged_freezes_until_it_is_counted(ledger, folder):
    released(ledger, "k", b"")

    def dearer(events_json, *, measure):
        amount = amount_of(events_json, measure=measure)
        return type(amount)(nano=amount.nano + 1000)

    other = open_ledger(folder, clock=HandClock(), recompute=dearer)
    with pytest.raises(LedgerFrozenError, match="costs more than was charged"):
        other.spent(LINEAGE)
    other.unfreeze("accountant corrected; see notice 7")
    assert used(other)["lifetime"] == TENTH + 1000
    other.verify_chain()
    other.close()


def test_events_that_no_accountant_knows_freeze_the_ledger(ledger, folder):
    released(ledger, "k", b"")

    def puzzled(_, *, measure):
        del measure
        raise ContractError("Unknown event.")

    other = open_ledger(folder, clock=HandClock(), recompute=puzzled)
    with pytest.raises(LedgerFrozenError, match="cannot be recomputed"):
        other.head()
    other.close()


def test_a_charge_beside_no_event_freezes_until_somebody_looks(ledger, folder):
    released(ledger, "k", b"")

    def nothing(*_, **__):
        return Amount(nano=0)

    other = open_ledger(folder, clock=HandClock(), recompute=nothing)
    with pytest.raises(LedgerFrozenError, match="was charged, and has no events"):
        other.head()
    other.unfreeze("looked into")
    assert used(other)["lifetime"] == TENTH
    other.close()


def test_unfreezing_needs_a_reason_and_a_whole_ledger_is_left_alone(ledger):
    head = ledger.head()
    with pytest.raises(ConfideError, match="reason"):
        ledger.unfreeze("")
    ledger.unfreeze("nothing was wrong")
    assert ledger.head() == head


def test_two_open_ledgers_see_each_other(ledger, folder):
    other = open_ledger(folder, clock=HandClock())
    for number in range(4):
        released(ledger if number % 2 else other, f"k{number}", b"")
    assert used(ledger) == used(other)
    assert ledger.head() == other.head()
    other.close()


def test_a_request_burned_under_its_owner_is_not_committed(ledger, folder):
    """An owner wrongly taken for dead must not deliver."""
    reservation = ledger.reserve(request())
    ledger.start_reading(reservation)
    lease = folder / "ledger.sqlite.leases" / f"{reservation.owner}.lease"
    lease.unlink()
    other = open_ledger(folder, clock=HandClock())
    with pytest.raises(PolicyError, match="died after reading began"):
        ledger.commit(reservation, payload=b"late")
    assert used(other)["lifetime"] == TENTH
    assert remaining(other)["lifetime"] == 39 * TENTH
    other.close()


def test_a_failed_commit_leaves_nothing_behind(ledger):
    """A full disk at the anchor or the database must not leave a half-known book."""
    journal = ledger._journal
    journal.store.database.execute("PRAGMA max_page_count = 1")  # SQLite keeps the present size
    before = ledger.head()
    huge = request("big")
    object.__setattr__(huge, "plan_json", '{"x":"' + "x" * 1_000_000 + '"}')
    with pytest.raises(sqlite3.OperationalError, match="full"):
        ledger.reserve(huge)
    journal.store.database.execute("PRAGMA max_page_count = 1000000")
    assert ledger.head() == before
    ledger.verify_chain()
    released(ledger, "k", b"")
    assert used(ledger)["lifetime"] == TENTH


def test_migrations_are_in_the_package_and_numbered_without_gaps():
    folder = resources.files("confide.budget") / "migrations" / "sqlite"
    numbers = sorted(int(item.name[:4]) for item in folder.iterdir() if item.name.endswith(".sql"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_ledger_that_is_closed_twice_ends_nobody_elses_lease(tmp_path):
    """The number of its file is another's by the second time."""
    clinic = make_clinic(tmp_path / "clinic")
    with confide.open(clinic.dataset) as first:
        first.study(clinic.study).plan()
        first.close()
        ledger = open_ledger(tmp_path / "other")
        ledger.register(terms())
        held = ledger.reserve(request())
    beside = open_ledger(tmp_path / "other")
    assert beside.entry(held.entry.number).state is State.RESERVED
    beside.close()
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"answer"))
    ledger.close()
