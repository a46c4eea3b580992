from contracts.ledger_contract import LedgerContract
from contracts.policy_contract import PolicyContract
from contracts.workflow_contract import WorkflowContract
from ledgers import open_ledger
from postgres_server import server


class TestPostgresLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestPostgresLedgerUnderAPolicy(PolicyContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestPostgresWorkflow(WorkflowContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)
