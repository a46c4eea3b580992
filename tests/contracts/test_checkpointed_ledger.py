"""Everything that a ledger does, with a checkpoint after each row and a book begun anew each call.

So every request, submission, counter and policy is read back from a signed checkpoint and from the
rows that it names, and must be what it was.
"""

import pytest

from confide.budget.integrity import checkpoint
from confide.budget.journal import Journal
from contracts.ledger_contract import LedgerContract
from contracts.policy_contract import PolicyContract
from contracts.workflow_contract import WorkflowContract
from ledgers import open_ledger
from postgres_server import server


@pytest.fixture(autouse=True)
def _begun_anew(monkeypatch):
    catch_up = Journal._catch_up

    def anew(self):
        self._begin_anew()
        catch_up(self)

    monkeypatch.setattr(checkpoint, "EVERY", 1)
    monkeypatch.setattr(Journal, "_catch_up", anew)


class TestCheckpointedLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestCheckpointedLedgerUnderAPolicy(PolicyContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestCheckpointedWorkflow(WorkflowContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestCheckpointedPostgresLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestCheckpointedPostgresWorkflow(WorkflowContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)
