from contracts.ledger_contract import LedgerContract
from contracts.policy_contract import PolicyContract
from ledgers import open_ledger


class TestSQLiteLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestSQLiteLedgerUnderAPolicy(PolicyContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)
