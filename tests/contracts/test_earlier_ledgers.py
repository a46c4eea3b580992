"""A chain that an earlier version wrote opens, verifies and goes on, also under a policy."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from confide.errors import BudgetExhaustedError
from ledger_policies import cap, policy
from ledgers import LINEAGE, TENTH, HandClock, open_ledger, released, remaining, request, used

EARLIER = Path(__file__).with_name("earlier")


@pytest.fixture
def folder(tmp_path):
    """The first version's ledger: every kind of row, a rollback that was accepted, two lineages."""
    tmp_path.chmod(0o700)
    database = sqlite3.connect(tmp_path / "ledger.sqlite")
    database.executescript((EARLIER / "ledger_1.sql").read_text("utf-8"))
    database.close()
    (tmp_path / "anchor").write_bytes((EARLIER / "anchor_1.jsonl").read_bytes())
    for name in ("ledger.sqlite", "anchor"):
        (tmp_path / name).chmod(0o600)
    return tmp_path


@pytest.fixture
def ledger(folder):
    ledger = open_ledger(folder, clock=HandClock(datetime(2028, 3, 28, 12, tzinfo=UTC)))
    yield ledger
    ledger.close()


def test_a_chain_of_the_first_version_opens_verifies_and_goes_on(ledger):
    ledger.verify_chain()
    before = used(ledger)
    assert before["lifetime"] == 450_000_000
    released(ledger, "new", b"answer", nano=TENTH)
    assert used(ledger)["lifetime"] == before["lifetime"] + TENTH
    ledger.verify_chain()


def test_a_chain_of_the_first_version_takes_a_policy_that_knows_what_came_before(ledger):
    caps = (
        cap("life", "dataset", "lifetime", "2"),
        cap("year", "patient", "calendar-year", "1"),
        cap("rolling", "patient", "rolling-365d", "0.5"),
        cap("each", "analyst", "lifetime", "0.6"),
    )
    ledger.desk.adopt(LINEAGE, policy=policy(*caps), reason="first policy")
    left = {s.cap_id: s.remaining for s in ledger.spent(LINEAGE).scopes}
    assert left["life"] == 2_000_000_000 - 450_000_000
    assert left["rolling"] == 50_000_000  # rows that a rollback lost count as well
    assert left["each"] == 150_000_000  # and may have been anyone's
    with pytest.raises(BudgetExhaustedError, match="cap rolling"):
        ledger.reserve(request("more", nano=60_000_000))
    ledger.verify_chain()
    assert remaining(ledger)["rolling-365d"] == 50_000_000
