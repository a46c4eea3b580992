from contracts.ledger_contract import LedgerContract
from contracts.mixed_contract import MixedContract
from contracts.officers_contract import OfficersContract
from contracts.policy_contract import PolicyContract
from contracts.race_contract import RaceContract
from contracts.workflow_contract import WorkflowContract
from ledgers import open_ledger
from mixed_ledgers import opened


class TestSQLiteLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestSQLiteLedgerUnderAPolicy(PolicyContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestSQLiteMixedLedger(MixedContract):
    def open(self, folder, clock):
        return opened(folder, clock=clock)


class TestSQLiteWorkflow(WorkflowContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock)


class TestSQLiteOfficers(OfficersContract):
    def open(self, folder, clock, **others):
        return open_ledger(folder, clock=clock, **others)


class TestSQLiteRace(RaceContract):
    opener = "ledgers:open_ledger"
