"""What a full disk or an interrupt holds up in an open workspace does not hold up what comes
next."""

import contextlib
import errno
import os
import sqlite3

import pytest

import confide
from command_line import confide as command
from confide.budget.integrity.anchor import Anchor
from confide.budget.ledger import State
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.errors import BurnedError
from small_clinic import make_clinic

RESERVED, READING, COMMITTED, PUBLISHED = 1, 2, 3, 4


@pytest.fixture
def clinic(tmp_path):
    made = make_clinic(tmp_path)
    assert command("plan", made.study).code == 0
    return made


@contextlib.contextmanager
def fails(monkeypatch, place, *, at, once, failure):
    """Let what makes a row durable fail: its anchor's line, or the commit of the database."""
    kind, name = {"anchor": (Anchor, "append"), "database": (SQLiteStore, "commit")}[place]
    real, calls = getattr(kind, name), 0

    def failing(self, *words):
        nonlocal calls
        calls += 1
        if calls == at or (calls > at and not once):
            raise failure
        return real(self, *words)

    with monkeypatch.context() as patch:
        patch.setattr(kind, name, failing)
        yield


def full():
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def spent(ws):
    return next(each.used for each in ws.spent().scopes if each.scope.value == "lifetime")


@pytest.mark.parametrize("once", [True, False], ids=["passing", "lasting"])
@pytest.mark.parametrize("failure", [full, KeyboardInterrupt])
@pytest.mark.parametrize("at", [RESERVED, READING, COMMITTED, PUBLISHED])
def test_a_failure_behind_a_row_leaves_an_open_workspace_able_to_go_on(
    clinic, monkeypatch, at, failure, once
):
    failure = failure()
    with confide.open(clinic.dataset) as ws:
        plan = ws.study(clinic.study).plan()
        with (
            fails(monkeypatch, "anchor", at=at, once=once, failure=failure),
            pytest.raises(type(failure)) as told,
        ):
            ws.release(plan)
        note = " ".join(getattr(told.value, "__notes__", ()))
        if at == READING:
            with pytest.raises(BurnedError, match="its charge stays"):
                ws.release(plan)
            assert spent(ws) == plan.amount.nano
            if once or isinstance(failure, OSError):  # who goes on stopping it hears nothing
                assert ("its charge stays" if once else "may be charged") in note
            assert ws.release(plan, request="anew").noisy
        else:
            assert ws.release(plan).noisy
            assert spent(ws) == plan.amount.nano
            assert ("its answer is stored" in note) == (
                at == PUBLISHED or (at == COMMITTED and once)
            )
        ws.ledger.verify_chain()


@pytest.mark.parametrize("at", [RESERVED, READING, COMMITTED, PUBLISHED])
def test_a_row_that_the_database_had_no_room_for_leaves_it_able_to_go_on(clinic, monkeypatch, at):
    failure = sqlite3.OperationalError("database or disk is full")
    failure.sqlite_errorcode = sqlite3.SQLITE_FULL
    with confide.open(clinic.dataset) as ws:
        plan = ws.study(clinic.study).plan()
        with (
            fails(monkeypatch, "database", at=at, once=True, failure=failure),
            pytest.raises(Exception, match="full") as told,
        ):
            ws.release(plan)
        note = " ".join(getattr(told.value, "__notes__", ()))
        if at == COMMITTED:  # the answer was lost with the row
            assert "its charge stays" in note
            with pytest.raises(BurnedError):
                ws.release(plan)
        else:
            assert ("its answer is stored" in note) == (at == PUBLISHED)
            assert ws.release(plan).noisy
        assert spent(ws) == plan.amount.nano
        ws.ledger.verify_chain()


def test_another_plan_is_not_held_up_by_a_charge_that_nobody_has(clinic, monkeypatch):
    with confide.open(clinic.dataset) as ws:
        plan = ws.study(clinic.study).plan()
        with (
            fails(monkeypatch, "anchor", at=RESERVED, once=False, failure=full()),
            pytest.raises(OSError, match="No space"),
        ):
            ws.release(plan)
        ws.release(plan, request="another")
        assert spent(ws) == plan.amount.nano
        states = [entry.state for entry in ws.ledger.entries(ws.declared.dataset.lineage)]
        assert states == [State.CANCELLED, State.PUBLISHED]
