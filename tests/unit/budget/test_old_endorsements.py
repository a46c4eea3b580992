"""A signature under a policy that is to come grows old, as an approval does."""

import pytest

from confide.errors import PolicyError
from ledger_policies import CY, cap, uncapped, with_people
from ledgers import LINEAGE, HandClock, open_ledger


def a_signature_under_a_policy_grows_old(folder):
    clock = HandClock()
    first, second, third = (
        with_people(cap("life", "dataset", "lifetime", str(e)), version=e) for e in (1, 2, 3)
    )
    ledger = open_ledger(folder, clock=clock)
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=first)
    ledger.desk.endorse(LINEAGE, policy=second, signer=CY)
    clock.move(days=29)
    ledger.desk.adopt(LINEAGE, policy=second, reason="within a month")
    ledger.desk.endorse(LINEAGE, policy=third, signer=CY)
    clock.move(days=31)
    with pytest.raises(PolicyError, match="signed by nobody"):
        ledger.desk.adopt(LINEAGE, policy=third, reason="a drawer")
    ledger.desk.confirm_day(LINEAGE, day="2027-07-31", reason="r", officers=(CY,))
    clock.move(days=-31)  # a row saw the day: a clock that is put back does not help
    ledger.close()
    ledger = open_ledger(folder, clock=clock)
    with pytest.raises(PolicyError, match="signed by nobody"):
        ledger.desk.adopt(LINEAGE, policy=third, reason="a clock")
    clock.move(days=31)
    ledger.desk.endorse(LINEAGE, policy=third, signer=CY)
    ledger.desk.adopt(LINEAGE, policy=third, reason="signed anew")
    ledger.verify_chain()
    ledger.close()


def test_a_signature_under_a_policy_grows_old(tmp_path):
    a_signature_under_a_policy_grows_old(tmp_path / "ledger")
