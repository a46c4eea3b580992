"""What every ledger does with a policy, whatever it is stored in: caps of every scope."""

import abc
from dataclasses import replace
from pathlib import Path

import pytest

from confide.budget.growth import Step
from confide.budget.ledger import Caps, Ledger, Reservation, State
from confide.budget.policy.policy import Enforce
from confide.errors import (
    BudgetExhaustedError,
    InvalidParameterError,
    LedgerFrozenError,
    MismatchError,
    PolicyError,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import Amount
from confide.privacy.measure import Measure
from ledger_policies import BO, CY, DI, LIFE, asked_by, cap, policy, uncapped, with_people
from ledgers import LINEAGE, NANO, TENTH, HandClock, released, request, terms


def run(ledger, analyst="ada", key="k", *, nano=TENTH, **others):
    """Run a request of an analyst to its end."""
    reservation = ledger.reserve(asked_by(analyst, key, nano=nano, **others))
    assert isinstance(reservation, Reservation)
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=key.encode()))


def left(ledger):
    return {(s.cap_id, s.period): s.remaining for s in ledger.spent(LINEAGE).scopes if s.cap_id}


class PolicyContract(abc.ABC):
    """Subclass it, say how to open the ledger, and call the class Test…"""

    @abc.abstractmethod
    def open(self, folder: Path, clock: HandClock) -> Ledger:
        """Open the ledger of ``folder``; a second call opens the same one."""

    @pytest.fixture
    def clock(self):
        return HandClock()

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path / "private"

    @pytest.fixture
    def ledger(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        yield ledger
        ledger.close()

    def test_nothing_is_granted_before_a_policy_is_adopted(self, ledger):
        with pytest.raises(PolicyError, match="confide ledger adopt"):
            ledger.reserve(request())
        ledger.desk.adopt(LINEAGE, policy=policy())
        assert isinstance(ledger.reserve(request()), Reservation)

    def test_every_cap_that_applies_is_recorded_by_its_id(self, ledger):
        caps = (
            cap("law", "release", "release", "0.5", priority=1),
            cap("ethics-year", "patient", "calendar-year", "1"),
            cap("ethics-rolling", "patient", "rolling-365d", "1.5"),
            cap("ethics-life", "patient", "lifetime", "3"),
            LIFE,
            cap("project-year", "project", "calendar-year", "0.8"),
            cap("project-life", "project", "lifetime", "2"),
            cap("analyst-rolling", "analyst", "rolling-365d", "0.9"),
            cap("analyst-life", "analyst", "lifetime", "2"),
            cap("analyst-tight", "analyst", "lifetime", "1"),
        )
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        run(ledger, "bob", "first", project="asthma")
        entry = run(ledger, "ada", "second", project="asthma")
        assert [(c.cap_id, c.name, c.before) for c in entry.charges] == [
            ("law", "release", 0),
            ("ethics-year", "calendar-year/2027", TENTH),
            ("ethics-rolling", "rolling-365d", TENTH),
            ("ethics-life", "lifetime", TENTH),
            ("dataset-life", "lifetime", TENTH),
            ("project-year", "project/calendar-year/2027/asthma", TENTH),
            ("project-life", "project/lifetime/asthma", TENTH),
            ("analyst-rolling", "analyst/rolling-365d/ada", 0),
            ("analyst-life", "analyst/lifetime/ada", 0),
            ("analyst-tight", "analyst/lifetime/ada", 0),
        ]
        assert all(c.before + c.amount == c.after <= c.cap for c in entry.charges)
        assert [c.cap for c in entry.charges][-2:] == [2 * NANO, NANO]

    @pytest.mark.parametrize(
        "window", ["calendar-year", "rolling-365d", "lifetime"], ids=lambda window: window
    )
    @pytest.mark.parametrize("scope", ["patient", "dataset", "project", "analyst"])
    def test_a_cap_of_every_scope_and_window_is_used_to_its_last_unit(self, ledger, scope, window):
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, cap("tight", scope, window, "0.25")))
        run(ledger, key="a", project="p")
        run(ledger, key="b", nano=150_000_000, project="p")
        with pytest.raises(BudgetExhaustedError, match=r"remaining ε=0 \(cap tight\)") as caught:
            ledger.reserve(asked_by(key="c", nano=1, project="p"))
        assert caught.value.cap == "tight"
        other = {"project": "q"} if scope == "project" else {"project": "p"}
        analyst = "bob" if scope == "analyst" else "ada"
        again = asked_by(analyst, "d", nano=1, **other)
        if scope in {"project", "analyst"}:
            assert isinstance(ledger.reserve(again), Reservation)
        else:
            with pytest.raises(BudgetExhaustedError, match="cap tight"):
                ledger.reserve(again)

    def test_a_study_without_a_project_is_of_a_project_too(self, ledger):
        each = cap("project-life", "project", "lifetime", "0.1")
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, each))
        run(ledger, key="a")
        with pytest.raises(BudgetExhaustedError, match="project-life"):
            run(ledger, key="b")

    def test_of_several_caps_the_tightest_refuses_and_says_when_more_comes(self, ledger):
        caps = (LIFE, cap("year", "patient", "calendar-year", "0.3"))
        ledger.desk.adopt(
            LINEAGE, policy=policy(*caps, cap("wide", "patient", "calendar-year", "1"))
        )
        run(ledger, nano=2 * TENTH)
        with pytest.raises(BudgetExhaustedError, match="year after 2027") as caught:
            ledger.reserve(request("l", nano=2 * TENTH))
        assert (caught.value.cap, caught.value.available) == ("year", "2028-01-01")

    def test_a_cap_that_drops_rows_is_recorded_and_not_charged_here(self, ledger):
        each = cap("each", "patient", "lifetime", "0.1", enforce=Enforce.DROP)
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, each))
        entry = run(ledger, nano=3 * TENTH)
        assert [charge.cap_id for charge in entry.charges] == ["dataset-life"]
        assert ledger.desk.policy(LINEAGE).policy.caps == (LIFE, each)

    # --- rolling windows ---

    def test_a_rolling_window_lets_go_365_days_after_a_confirmed_day(self, ledger, clock):
        caps = (LIFE, cap("rolling", "patient", "rolling-365d", "0.3"))
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        run(ledger, key="a", nano=2 * TENTH)
        clock.move(days=10)
        ledger.desk.confirm_day(LINEAGE, day="2027-06-11", reason="monthly")
        run(ledger, key="b")
        clock.move(days=10)
        ledger.desk.confirm_day(LINEAGE, day="2027-06-21", reason="monthly")
        with pytest.raises(BudgetExhaustedError, match="confirm-day 2028-06-10") as caught:
            ledger.reserve(request("c"))
        assert caught.value.available == "2028-06-10"
        clock.move(days=354)
        ledger.desk.confirm_day(LINEAGE, day="2028-06-09", reason="a day early")
        assert left(ledger)["rolling", ""] == 0
        clock.move(days=1)
        ledger.desk.confirm_day(LINEAGE, day="2028-06-10", reason="the day")
        assert left(ledger)["rolling", ""] == 2 * TENTH
        clock.move(days=11)
        ledger.desk.confirm_day(LINEAGE, day="2028-06-21", reason="later")
        assert left(ledger)["rolling", ""] == 3 * TENTH
        assert left(ledger)["dataset-life", ""] == 37 * TENTH
        ledger.verify_chain()

    def test_the_clock_alone_lets_nothing_go(self, ledger, clock):
        caps = (LIFE, cap("rolling", "patient", "rolling-365d", "0.1"))
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        run(ledger, key="a")
        ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
        clock.move(days=800)
        with pytest.raises(BudgetExhaustedError, match="rolling"):
            run(ledger, key="b")
        for day in ("2028-05-31", "2027-06-01"):
            with pytest.raises(PolicyError, match="day of the clock"):
                ledger.desk.confirm_day(LINEAGE, day=day, reason="no")
        with pytest.raises(InvalidParameterError, match="reason"):
            ledger.desk.confirm_day(LINEAGE, day="2029-08-09", reason=" ")

    def test_a_refusal_before_any_confirmed_day_says_how_to_begin(self, ledger):
        caps = (LIFE, cap("rolling", "analyst", "rolling-365d", "0.1"))
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        run(ledger, key="a")
        with pytest.raises(BudgetExhaustedError, match="365 days after the day is next") as caught:
            run(ledger, key="b")
        assert caught.value.available == ""

    def test_an_answer_that_was_kept_is_published_past_a_cap_that_others_used_up(
        self, ledger, folder, clock
    ):
        rolling = cap("rolling", "patient", "rolling-365d", "0.3")
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, rolling))
        held = ledger.reserve(request("kept"))
        ledger.start_reading(held)
        kept = ledger.commit(held, payload=b"kept")
        ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
        clock.move(days=365)
        ledger.desk.confirm_day(LINEAGE, day="2028-05-31", reason="it left")
        run(ledger, key="others", nano=3 * TENTH)
        ledger.publish(kept)
        for at in (ledger, self.open(folder, clock)):
            assert left(at)["rolling", ""] == 0
            with pytest.raises(BudgetExhaustedError, match="rolling"):
                run(at, key="more")
            at.verify_chain()
        at.close()
        clock.move(days=1)
        ledger.desk.confirm_day(LINEAGE, day="2028-06-01", reason="next")
        clock.move(days=365)
        ledger.desk.confirm_day(LINEAGE, day="2029-06-01", reason="both left")
        assert left(ledger)["rolling", ""] == 3 * TENTH

    def test_a_loss_counts_releases_that_grow_past_a_cap_that_others_used_up(
        self, ledger, folder, clock
    ):
        """The release left its window; a lost row may have published a step of it."""
        rolling = cap("rolling", "patient", "rolling-365d", "0.3")
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, rolling))
        run(ledger, key="grows", step=Step(question="f" * 64, start=0, stop=1))
        ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
        clock.move(days=365)
        ledger.desk.confirm_day(LINEAGE, day="2028-05-31", reason="it left")
        run(ledger, key="others", nano=3 * TENTH)
        with (folder / "anchor").open("ab") as anchor:
            anchor.write(b"no line of a ledger\n")
        at = self.open(folder, clock)
        with pytest.raises(LedgerFrozenError):
            at.head()
        at.unfreeze("a stranger wrote into the anchor")
        assert left(at)["rolling", ""] == 0
        at.verify_chain()
        at.close()

    def test_a_step_that_waits_until_its_year_is_over_is_not_read(self, ledger, clock):
        year = cap("year", "patient", "calendar-year", "0.3")
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, year))
        grows = Step(question="f" * 64, start=0, stop=1)
        opened = run(ledger, key="grows", step=grows).number
        step = replace(grows, start=1, stop=2, continues=opened)
        free = {"amount": Amount(nano=0), "events_json": "0/0", "step": step}
        held = ledger.reserve(replace(asked_by(key="step", nano=TENTH), **free))
        clock.move(days=365)
        ledger.open_year(LINEAGE, year=2028, reason="new year")
        with pytest.raises(PolicyError, match="charged in 2027, and 2028 is open"):
            ledger.start_reading(held)
        ledger.cancel(held)
        ledger.verify_chain()

    def test_a_release_that_grows_and_is_refused_is_shown_like_any_other(
        self, ledger, folder, clock
    ):
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, cap("tight", "patient", "lifetime", "0.1")))
        grows = Step(question="f" * 64, start=0, stop=1)
        with pytest.raises(BudgetExhaustedError):
            run(ledger, key="grows", nano=2 * TENTH, step=grows)
        run(ledger, key="grows", step=grows)
        for at in (ledger, self.open(folder, clock)):
            refused, granted = at.entries(LINEAGE)
            assert (refused.state, granted.state) == (State.REFUSED, State.PUBLISHED)
            assert at.entry(refused.number) == refused
            assert at.withholding(refused.number) is None
            assert refused in at.of_plan(LINEAGE, digest=refused.plan_digest)
        at.close()

    def test_what_is_given_back_after_it_left_a_window_is_not_given_back_twice(self, ledger, clock):
        caps = (LIFE, cap("rolling", "patient", "rolling-365d", "0.3"))
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        held = ledger.reserve(request("old"))
        ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
        run(ledger, key="b")
        clock.move(days=365)
        ledger.desk.confirm_day(LINEAGE, day="2028-05-31", reason="year")
        assert left(ledger)["rolling", ""] == 2 * TENTH
        ledger.cancel(held)
        assert left(ledger)["rolling", ""] == 2 * TENTH
        ledger.verify_chain()

    # --- adopting ---

    def test_what_was_spent_before_counts_under_new_caps(self, ledger):
        ledger.desk.adopt(LINEAGE, policy=policy())
        run(ledger, "ada", "a", project="asthma")
        run(ledger, "bob", "b", project="asthma")
        later = (
            LIFE,
            cap("rolling", "patient", "rolling-365d", "0.5"),
            cap("ada-and-all", "analyst", "lifetime", "0.3"),
            cap("asthma-and-all", "project", "calendar-year", "0.3"),
        )
        ledger.desk.adopt(LINEAGE, policy=policy(*later, version=2))
        assert left(ledger) == {
            ("dataset-life", ""): 38 * TENTH,
            ("rolling", ""): 3 * TENTH,
            ("ada-and-all", "lifetime/ada"): 2 * TENTH,
            ("ada-and-all", "lifetime/bob"): 2 * TENTH,
            ("asthma-and-all", "calendar-year/2027/asthma"): TENTH,
        }
        run(ledger, "ada", "c", project="asthma")
        with pytest.raises(BudgetExhaustedError, match="asthma-and-all"):
            run(ledger, "ada", "d", project="asthma")
        ledger.verify_chain()

    def test_caps_of_the_file_give_way_to_a_policy_with_what_was_spent(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(terms())
        released(ledger, "k", b"", nano=5 * TENTH)
        ledger.register(uncapped())  # dataset.yaml names a policy that nobody has adopted yet
        with pytest.raises(BudgetExhaustedError, match="cap release"):
            ledger.reserve(request("l", nano=6 * TENTH))
        year = cap("year", "patient", "calendar-year", "0.7")
        wide = policy(year, cap("life", "dataset", "lifetime", "9"))
        with pytest.raises(PolicyError, match=r"lifetime of dataset\.yaml is raised"):
            ledger.desk.adopt(LINEAGE, policy=wide)
        ledger.desk.adopt(LINEAGE, policy=wide, reason="board, 3 May")
        assert left(ledger) == {("year", "2027"): 2 * TENTH, ("life", ""): 85 * TENTH}
        with pytest.raises(PolicyError, match="version 1"):
            ledger.amend_caps(LINEAGE, caps=Caps(lifetime=1))
        with pytest.raises(PolicyError, match=r"policy: policy\.yaml"):
            ledger.register(terms())
        ledger.register(uncapped())
        ledger.verify_chain()
        ledger.close()

    def test_versions_only_go_up_and_the_same_one_changes_nothing(self, ledger):
        ledger.desk.adopt(LINEAGE, policy=policy(version=3))
        head = ledger.head()
        ledger.desk.adopt(LINEAGE, policy=policy(version=3))
        assert ledger.head() == head
        tighter = cap("dataset-life", "dataset", "lifetime", "3")
        for version in (2, 3):
            with pytest.raises(PolicyError, match="version: 4"):
                ledger.desk.adopt(LINEAGE, policy=policy(tighter, version=version))
        with pytest.raises(PolicyError, match="'north-hospital'"):
            ledger.desk.adopt(LINEAGE, policy=policy(tighter, version=4, id="south"))
        ledger.desk.adopt(LINEAGE, policy=policy(tighter, version=4))
        assert left(ledger) == {("dataset-life", ""): 3 * NANO}

    @pytest.mark.parametrize(
        ("caps", "told"),
        [
            ((cap("dataset-life", "dataset", "lifetime", "5"),), "dataset-life is raised"),
            ((cap("other", "dataset", "lifetime", "1"),), "dataset-life is removed"),
            ((cap("dataset-life", "analyst", "lifetime", "1"),), "counts over something else"),
            ((cap("dataset-life", "dataset", "calendar-year", "1"),), "counts over something else"),
        ],
    )
    def test_raising_or_removing_a_cap_needs_a_recorded_reason(self, ledger, caps, told):
        ledger.desk.adopt(LINEAGE, policy=policy())
        new = policy(*caps, version=2)
        for reason in ("", " "):
            with pytest.raises(PolicyError, match=told):
                ledger.desk.adopt(LINEAGE, policy=new, reason=reason)
        ledger.desk.adopt(LINEAGE, policy=new, reason="board, 3 May")
        assert ledger.desk.policy(LINEAGE).policy == new

    def test_a_patient_cap_that_turns_to_dropping_rows_needs_a_reason(self, ledger):
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, cap("each", "patient", "lifetime", "1")))
        drop = cap("each", "patient", "lifetime", "1", enforce=Enforce.DROP)
        with pytest.raises(PolicyError, match="leaving rows out"):
            ledger.desk.adopt(LINEAGE, policy=policy(LIFE, drop, version=2))

    def test_a_policy_of_another_unit_adjacency_or_measure_is_refused(self, ledger):
        for other in ({"adjacency": Adjacency.SUBSTITUTE}, {"measure": Measure.ZCDP}):
            with pytest.raises(MismatchError, match="for life"):
                ledger.desk.adopt(LINEAGE, policy=replace(policy(), **other))

    def test_a_policy_holds_from_its_day_and_not_before(self, ledger, clock):
        ledger.desk.adopt(LINEAGE, policy=policy())
        next_year = policy(version=2, effective="2027-06-02")
        with pytest.raises(PolicyError, match="effective from 2027-06-02"):
            ledger.desk.adopt(LINEAGE, policy=next_year)
        clock.move(days=1)
        ledger.desk.adopt(LINEAGE, policy=next_year)
        assert ledger.desk.policy(LINEAGE).policy.version == 2

    def test_priority_one_is_relaxed_by_two_people_of_the_policy_in_force(self, ledger):
        law = cap("law", "release", "release", "0.4", priority=1)
        higher = cap("law", "release", "release", "0.5", priority=1)
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE, law))
        alone = policy(LIFE, higher, version=2)
        with pytest.raises(PolicyError, match="Priority 1"):
            ledger.desk.adopt(LINEAGE, policy=alone, reason="the law changed")
        ledger.desk.adopt(LINEAGE, policy=with_people(LIFE, law, version=2), reason="people")
        new = with_people(LIFE, higher, version=3)
        for signer in (CY, CY):
            ledger.desk.endorse(LINEAGE, policy=new, signer=signer)
            with pytest.raises(PolicyError, match="signed by cy"):
                ledger.desk.adopt(LINEAGE, policy=new, reason="the law changed")
        ledger.desk.endorse(LINEAGE, policy=new, signer=DI)
        with pytest.raises(PolicyError, match="reason"):
            ledger.desk.adopt(LINEAGE, policy=new)
        ledger.desk.adopt(LINEAGE, policy=new, reason="the law changed")
        ledger.verify_chain()

    def test_a_policy_that_names_people_is_replaced_under_the_hand_of_an_officer(self, ledger):
        ledger.desk.adopt(LINEAGE, policy=with_people())
        new = with_people(cap("dataset-life", "dataset", "lifetime", "3"), version=2)
        with pytest.raises(PolicyError, match="signed by nobody"):
            ledger.desk.adopt(LINEAGE, policy=new, reason="tighter")
        ledger.desk.endorse(LINEAGE, policy=new, signer=BO)
        with pytest.raises(PolicyError, match="signed by bo"):
            ledger.desk.adopt(LINEAGE, policy=new, reason="tighter")
        ledger.desk.endorse(LINEAGE, policy=new, signer=CY)
        ledger.desk.adopt(LINEAGE, policy=new, reason="tighter")
        with pytest.raises(PolicyError, match="signed by nobody"):  # signatures are used once
            ledger.desk.adopt(LINEAGE, policy=replace(new, version=3), reason="again")

    def test_adopted_policies_are_there_after_reopening(self, ledger, folder, clock):
        caps = (LIFE, cap("a", "analyst", "rolling-365d", "0.3"))
        ledger.desk.adopt(LINEAGE, policy=policy(*caps))
        run(ledger)
        ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
        other = self.open(folder, clock)
        assert other.desk.policy(LINEAGE) == ledger.desk.policy(LINEAGE)
        assert other.spent(LINEAGE) == ledger.spent(LINEAGE)
        assert other.entries(LINEAGE) == ledger.entries(LINEAGE)
        run(other, key="from the other")
        run(ledger, key="from the first")
        assert left(other)["a", "rolling-365d/ada"] == 0
        other.verify_chain()
        other.close()
