"""Whoever may connect to the database, and has no right on the ledger's schema, stops no ledger."""

import contextlib

import pytest

from confide.budget.ledger import Reservation
from confide.budget.stores import postgres_session, postgres_store
from confide.errors import BurnedError, LedgerUnreachableError, PolicyError
from ledgers import HandClock, open_ledger, released, request, schema_of, terms
from postgres_server import server
from unit.budget.test_postgres_store import cut, grants, sql

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setitem(postgres_session._SETTINGS, "lock_timeout", "1s")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "host"


@pytest.fixture
def at(folder):
    opened = []

    def open_at(url=None):
        opened.append(open_ledger(folder, clock=HandClock(), url=url or server().url))
        return opened[-1]

    yield open_at
    for ledger in opened:
        with contextlib.suppress(psycopg.Error):
            ledger.close()


@pytest.fixture
def ledger(at):
    ledger = at()
    ledger.register(terms())
    return ledger


def as_role(role, rights=""):
    """Return the URL of a role that may connect."""
    with contextlib.suppress(psycopg.errors.DuplicateObject):
        sql(f"CREATE ROLE {role} LOGIN {rights}")
    return server().url.replace("postgres@", f"{role}@")


@pytest.fixture
def stranger():
    with psycopg.connect(as_role("stranger"), autocommit=True) as session:
        yield session


def test_a_stranger_who_holds_every_lock_of_the_schema_stops_nobody(ledger, at, folder, stranger):
    schema = schema_of(folder)
    for number in (postgres_store._WRITER, 0):
        stranger.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (number, schema))
    for mode in ("ACCESS SHARE", "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), stranger.transaction():
            stranger.execute(f'LOCK TABLE "{schema}".head IN {mode} MODE')
    released(ledger, "a", b"")
    released(at(), "b", b"")
    ledger.verify_chain()


def test_a_stranger_who_takes_a_dead_owners_lock_keeps_no_request_alive(ledger, at, stranger):
    reading, reserved = (ledger.reserve(request(key)) for key in ("read", "held"))
    ledger.start_reading(reading)
    number = postgres_store._lock_of(ledger._journal.store.owner)
    other = at()
    with pytest.raises(PolicyError, match="in progress"):
        other.reserve(request("read"))
    cut(ledger)
    assert stranger.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone() == (True,)
    with pytest.raises(BurnedError):
        other.reserve(request("read"))
    assert isinstance(other.reserve(request(reserved.entry.request_key)), Reservation)


@pytest.mark.parametrize("how", ["granted", "a member that inherits nothing"])
def test_a_reader_of_any_role_that_may_write_is_alive(ledger, at, folder, how):
    role = f"{schema_of(folder)}_w"
    url = as_role(role)
    sql(grants(schema_of(folder), role))
    if how != "granted":
        member = f"{role}m"
        url = as_role(member, f"NOINHERIT IN ROLE {role}") + f"&options=-crole%3D{role}"
    theirs = at(url)
    theirs.start_reading(theirs.reserve(request()))
    for _ in range(2):
        with pytest.raises(PolicyError, match="in progress"):
            ledger.reserve(request())
    cut(theirs)
    with pytest.raises(BurnedError):
        ledger.reserve(request())


def test_a_writer_who_waited_too_long_goes_on_once_the_lock_is_free(ledger, folder):
    with psycopg.connect(server().url) as other:
        other.execute(f'LOCK TABLE "{schema_of(folder)}".head IN SHARE ROW EXCLUSIVE MODE')
        for _ in range(2):
            with pytest.raises(LedgerUnreachableError, match="held the ledger's lock"):
                ledger.reserve(request())
    released(ledger, "k", b"")


def test_a_backup_reads_beside_the_writers(ledger, folder):
    """As pg_dump does: its lock on every table shuts nobody out."""
    with psycopg.connect(server().url) as other:
        other.execute(f'LOCK TABLE "{schema_of(folder)}".head IN ACCESS SHARE MODE')
        released(ledger, "k", b"")
