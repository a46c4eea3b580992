import os

import pytest

from contracts.ledger_contract import LedgerContract
from contracts.mixed_contract import MixedContract
from contracts.officers_contract import OfficersContract
from contracts.policy_contract import PolicyContract
from contracts.race_contract import RaceContract
from contracts.workflow_contract import WorkflowContract
from ledgers import open_ledger
from mixed_ledgers import opened
from postgres_server import server

URL = "CONFIDE_TEST_LEDGER_URL"


def open_on_server(folder):
    """Open the ledger that stands for a folder, in a process that was told where the server is."""
    return open_ledger(folder, url=os.environ[URL])


class TestPostgresLedger(LedgerContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestPostgresLedgerUnderAPolicy(PolicyContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestPostgresMixedLedger(MixedContract):
    def open(self, folder, clock):
        return opened(folder, clock=clock, url=server().url)


class TestPostgresWorkflow(WorkflowContract):
    def open(self, folder, clock):
        return open_ledger(folder, clock=clock, url=server().url)


class TestPostgresOfficers(OfficersContract):
    def open(self, folder, clock, **others):
        return open_ledger(folder, clock=clock, url=server().url, **others)


class TestPostgresRace(RaceContract):
    opener = "contracts.test_postgres_ledger:open_on_server"

    @pytest.fixture(autouse=True)
    def told_where(self, monkeypatch):
        monkeypatch.setenv(URL, server().url)
