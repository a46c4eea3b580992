from contracts.ledger_contract import LedgerContract
from ledgers import open_ledger
from postgres_server import server


class TestPostgresLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)
