"""Sessions with PostgreSQL that the server ends, and servers that take no charge."""

import contextlib
import time

import pytest

from confide.budget.ledger import Reservation
from confide.budget.stores import postgres_session
from confide.errors import LedgerUnreachableError
from ledgers import HandClock, open_ledger, released, request, terms, used
from postgres_server import Server, server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


class StoppedClock(HandClock):
    """A clock at whose next reading, inside a transaction, the process is stopped for a while."""

    stops = 0

    def now(self):
        if self.stops:
            self.stops -= 1
            time.sleep(1.5)
        return super().now()


@pytest.fixture
def clock(monkeypatch):
    settings = postgres_session._SETTINGS
    monkeypatch.setitem(settings, "idle_in_transaction_session_timeout", "200ms")
    return StoppedClock()


@pytest.fixture
def at(tmp_path, clock):
    opened = []

    def open_at():
        ledger = open_ledger(tmp_path / "host", clock=clock, url=server().url)
        opened.append(ledger)
        return ledger

    (tmp_path / "host").mkdir(mode=0o700)
    yield open_at
    for ledger in opened:
        with contextlib.suppress(psycopg.Error):
            ledger.close()


def test_a_session_that_is_cut_off_in_a_transaction_is_an_outage_and_no_damage(at, clock):
    first = at()
    first.register(terms())
    released(first, "k", b"answer")
    before = used(first)

    for cut in (
        lambda ledger: ledger.reserve(request("other")),
        lambda ledger: ledger.spent("north-ehr"),
        lambda ledger: ledger.verify_chain(),
        lambda ledger: ledger.unfreeze("looked"),
    ):
        ledger = at()
        clock.stops = 1
        with pytest.raises(LedgerUnreachableError, match="run the same again"):
            cut(ledger)
        assert not ledger._journal.is_frozen
        assert used(first) == before

    clock.stops = 1
    with pytest.raises(LedgerUnreachableError, match="run the same again"):
        at()
    assert isinstance(at().reserve(request("other")), Reservation)
    at().verify_chain()


def test_a_replica_is_named_as_such_and_takes_no_charge(tmp_path):
    replica = Server(server().programs)
    try:
        replica.stop()
        (replica.home / "data" / "standby.signal").touch()
        replica.start()
        with pytest.raises(LedgerUnreachableError, match=r"is a replica.*Name the primary"):
            open_ledger(tmp_path / "host", url=replica.url)
    finally:
        replica.remove()
