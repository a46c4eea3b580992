"""Ctrl-C while a row of the ledger is written: the session goes on from what is on disk, and no
other."""

import sys
from contextlib import contextmanager, suppress

import pyarrow as pa
import pytest

import confide
from confide.budget.accounts.book import Book
from confide.budget.journal import Journal
from confide.budget.ledger import Caps
from confide.errors import PolicyError

DATASET = {
    "dataset": {"id": "c", "lineage": "c", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "1"}},
    "tables": {"people": {"rows-per-patient": 1, "columns": {"sex": {"categories": ["F", "M"]}}}},
}
FRAME = pa.table({"patient": [str(i) for i in range(40)], "sex": ["F", "M"] * 20})
COUNT = {"id": "n", "kind": "count", "table": "people"}


@contextmanager
def stopped(code, *, at):
    """Interrupt before the line of a function that comes as number ``at``, wherever it is
    called."""
    left, before = [at], sys.gettrace()

    def lines(frame, event, argument):
        del argument
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                sys.settrace(before)
                raise KeyboardInterrupt
        return lines

    def calls(frame, event, argument):
        del event, argument
        return lines if frame.f_code is code else None

    sys.settrace(calls)
    try:
        yield
    finally:
        sys.settrace(before)


def code_of(function):
    return getattr(function, "__wrapped__", function).__code__


WHERE = [
    *((code_of(Book.follow), at) for at in range(1, 14)),
    *((code_of(Book._apply), at) for at in (1, 3, 5)),
    *((code_of(Journal.append), at) for at in range(1, 12)),
    *((code_of(Journal._immediate), at) for at in range(1, 9)),
]


def ids(value):
    return value.co_name if hasattr(value, "co_name") else str(value)


@pytest.mark.parametrize(("code", "at"), WHERE, ids=ids)
def test_a_row_that_was_interrupted_grants_nothing_and_the_session_goes_on(code, at, tmp_path):
    def release(ws, name, epsilon):
        from confide.plans.plan import Study

        return ws.release(ws.plan(COUNT, epsilon=epsilon, study=Study(id=name)))

    with confide.open(DATASET, frames={"people": FRAME}, folder=tmp_path) as ws:
        release(ws, "first", "1")
        before = ws.ledger.head()
        with suppress(KeyboardInterrupt), stopped(code, at=at):
            ws.ledger.amend_caps("c", caps=Caps(lifetime=5_000_000_000), reason="the board said so")
        amended = ws.ledger.head() != before
        if amended:
            release(ws, "second", "1")
        else:
            with pytest.raises(PolicyError, match="remaining ε=0"):
                release(ws, "second", "1")
        ws.ledger.verify_chain()
    now = {**DATASET, "caps": {"lifetime": {"epsilon": "5"}}} if amended else DATASET
    with confide.open(now, frames={"people": FRAME}, folder=tmp_path) as again:
        (spent,) = (s for s in again.spent().scopes if s.scope.value == "lifetime")
        used, cap = (2, 5) if amended else (1, 1)
        assert (spent.used, spent.cap) == (used * 10**9, cap * 10**9)
