"""What lost rows may have charged to anyone, once it has left a window of 365 days."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.epsilon_caps import EpsilonCaps, measure_for
from confide.budget.policy.policy import Policy
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from ledger_policies import cap, over_both, policy
from ledgers import LINEAGE, HandClock, terms
from mixed_ledgers import DELTA, asking, opened, pure
from unit.budget.test_lost_rows import kept, put_back

LIFE, ANALYST = cap("life", "dataset", "lifetime", "10"), cap("each", "analyst", "lifetime", "9")
PROJECT = cap("project", "project", "rolling-365d", "1")


def spend(ledger, key: str, *, project: str = "asthma") -> None:
    held = ledger.reserve(asking(pure("0.8"), key=key, project=project))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"noisy"))


def confirm(ledger, clock: HandClock) -> None:
    today = clock.now().date().isoformat()
    ledger.desk.confirm_day(LINEAGE, day=today, reason="the calendar")


@pytest.mark.parametrize("make", [policy, over_both])
def test_a_project_is_charged_again_when_what_lost_rows_may_have_charged_it_has_left(
    tmp_path, make
):
    folder, clock = tmp_path / "ledger", HandClock()
    first: Policy = make(LIFE, ANALYST)
    measure = measure_for(EpsilonCaps.of(first), delta=DELTA) if first.mixed else Measure.PURE
    ledger = opened(folder, clock=clock)
    ledger.register(replace(terms(), caps=None, measure=measure))
    ledger.desk.adopt(LINEAGE, policy=first)
    ledger.close()
    kept(folder, "old")
    ledger = opened(folder, clock=clock)
    spend(ledger, "a")
    spend(ledger, "b", project="diabetes")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = opened(folder, clock=clock)
    ledger.unfreeze("an older copy was put back")
    spend(ledger, "c")
    second = make(LIFE, ANALYST, PROJECT, version=2)
    ledger.desk.adopt(LINEAGE, policy=second)
    confirm(ledger, clock)
    clock.move(days=365)
    confirm(ledger, clock)
    spend(ledger, "d")
    used = next(
        each for each in ledger.spent(LINEAGE, project="asthma").scopes if each.cap_id == "project"
    )
    assert Fraction(used.used, NANO) <= Fraction("0.8")
    ledger.verify_chain()
    ledger.close()
