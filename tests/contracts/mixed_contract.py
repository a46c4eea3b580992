"""What every ledger does that takes plans of either measure, whatever it is stored in."""

import abc
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from confide.budget.ledger import Caps, Charge, Ledger, Reservation, Scope
from confide.budget.policy.policy import Limit, Tier
from confide.errors import BudgetExhaustedError, ContractError, MismatchError, PolicyError
from confide.plans.events import recompute
from confide.privacy.accounting.mixed import Lanes, MixedCap, charge, least_cap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from ledger_policies import cap, over_both, policy
from ledgers import LINEAGE, HandClock, terms
from mixed_ledgers import DELTA, asking, gaussian, mixed_terms, orders, pure

YEAR, LIFETIME = Fraction(3), Fraction(10)
TEN = cap("life", "dataset", "lifetime", "10")


def spend(ledger: Ledger, events, *, key: str, **asks: str) -> tuple[Charge, ...]:
    """Run a request to its end; return its charges."""
    reservation = ledger.reserve(asking(events, key=key, **asks))
    assert isinstance(reservation, Reservation)
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=b"noisy")).charges


def lanes_of(events, *, order: int) -> Lanes:
    """What events cost, by the kernel alone."""
    return sum((charge(each.use.loss, order=order) for each in events), Lanes())


def a_year_passes(ledger: Ledger, clock: HandClock) -> None:
    """Let what was charged leave the windows of 365 days, as an officer confirms."""
    for days in (0, 365):
        clock.move(days=days)
        today = clock.now().date().isoformat()
        ledger.desk.confirm_day(LINEAGE, day=today, reason="a calendar")


class MixedContract(abc.ABC):
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
        ledger.register(mixed_terms())
        yield ledger
        ledger.close()

    @pytest.mark.parametrize("seed", range(3))
    def test_a_mixed_ledger_admits_exactly_what_the_rule_admits(self, ledger, seed):
        caps = [MixedCap.of(each, delta=DELTA) for each in (YEAR, LIFETIME)]
        so_far, random, granted = [Lanes(), Lanes()], Random(seed), []
        for number in range(24):
            size, times = random.choice(("0.01", "0.05", "0.3", "1")), random.choice((1, 1, 4))
            family = pure if number < 4 * seed or random.random() < 0.5 else gaussian
            events = family(size if family is pure else str(Fraction(size) / 20), times=times)
            after = [
                before + lanes_of(events, order=cap.order)
                for before, cap in zip(so_far, caps, strict=True)
            ]
            admitted = all(cap.admits(total) for cap, total in zip(caps, after, strict=True))
            try:
                charges = spend(ledger, events, key=f"k{number}")
            except BudgetExhaustedError:
                assert not admitted
                continue
            assert admitted
            assert all(each.after <= each.cap for each in charges)
            so_far = after
            granted.append(number)
        used = [each.used for each in ledger.spent(LINEAGE).scopes[1:3]]
        assert used == [total.ordered for total in so_far]
        assert len(granted) > 3
        assert len(granted) < 24
        ledger.verify_chain()

    def test_while_everything_is_pure_epsilon_adds_up_and_costs_no_delta(self, ledger):
        for number in range(6):
            *_, lifetime = spend(ledger, pure("0.5"), key=f"k{number}")
        assert (lifetime.after, lifetime.cap, lifetime.order) == (3 * NANO, 10 * NANO, 0)
        with pytest.raises(BudgetExhaustedError) as refused:
            spend(ledger, pure("0.01"), key="more")
        assert refused.value.cap == Scope.CALENDAR_YEAR.value

    def test_the_first_release_that_is_not_pure_closes_the_lane_of_pure_events(self, ledger):
        spend(ledger, pure("1"), key="pure")
        year, _ = spend(ledger, gaussian("0.005"), key="gaussian")
        measure = orders(Caps(lifetime=10 * NANO, calendar_year=3 * NANO))
        expected = lanes_of((*pure("1"), *gaussian("0.005")), order=measure.yearly)
        assert (year.order, year.after) == (measure.yearly, expected.ordered)
        with pytest.raises(BudgetExhaustedError, match=r"ε\(9\)"):  # alone, it would fit
            spend(ledger, pure("1.9"), key="again")

    def test_a_pure_lane_stays_closed_when_what_closed_it_is_given_back(self, ledger):
        reservation = ledger.reserve(asking(gaussian("0.005"), key="k"))
        ledger.cancel(reservation)
        year, _ = spend(ledger, pure("0.5"), key="next")
        assert year.order == 9
        assert year.before == 0

    def test_a_charge_in_both_lanes_is_there_when_the_ledger_is_opened_again(
        self, folder, clock, ledger
    ):
        spend(ledger, pure("0.5"), key="one")
        spend(ledger, gaussian("0.01"), key="two")
        before = ledger.spent(LINEAGE)
        ledger.close()
        again = self.open(folder, clock)
        assert again.spent(LINEAGE) == before
        again.verify_chain()
        again.close()

    def test_a_changed_cap_keeps_the_order_that_charges_were_made_in(self, ledger):
        spend(ledger, gaussian("0.01"), key="one")
        caps = Caps(lifetime=20 * NANO, calendar_year=6 * NANO)
        ledger.amend_caps(LINEAGE, caps=caps, reason="a larger registry")
        ledger.register(replace(mixed_terms(), caps=caps, measure=orders(caps)))
        year, lifetime = spend(ledger, gaussian("0.01"), key="two")
        assert orders(caps).yearly != 9  # what a ledger that begins now would take
        assert (year.order, lifetime.order) == (9, 4)
        assert year.cap == MixedCap(epsilon=Fraction(6), delta=DELTA, order=9).budget

    def test_a_cap_of_one_release_is_on_its_epsilon_at_the_delta(self, ledger):
        ledger.amend_caps(
            LINEAGE, caps=Caps(lifetime=10 * NANO, calendar_year=3 * NANO, release=NANO)
        )
        events = gaussian("0.002", times=12)
        alone = least_cap([each.use.loss for each in events], delta=DELTA)
        release, *_ = spend(ledger, events, key="one")
        assert (release.scope, release.amount) == (Scope.RELEASE, int(alone * NANO))
        with pytest.raises(BudgetExhaustedError, match="cap release"):
            spend(ledger, gaussian("0.002", times=13), key="two")
        release, *_ = spend(ledger, pure("1"), key="three")
        assert release.amount == NANO

    def test_a_new_year_opens_the_lane_of_pure_events_of_the_year_alone(self, ledger, clock):
        spend(ledger, gaussian("0.01"), key="one")
        clock.move(days=365)
        ledger.open_year(LINEAGE, year=2028, reason="a new year")
        year, lifetime = spend(ledger, pure("2.5"), key="two")
        assert (year.name, year.order, year.after) == ("calendar-year/2028", 0, 5 * NANO // 2)
        assert (lifetime.order, lifetime.before > 0) == (4, True)

    def test_the_same_key_has_the_same_answer_at_no_charge(self, ledger):
        spend(ledger, gaussian("0.01"), key="one")
        before = ledger.spent(LINEAGE)
        assert ledger.reserve(asking(gaussian("0.01"), key="one")).payload == b"noisy"
        assert ledger.spent(LINEAGE) == before

    def test_a_mixed_ledger_begins_with_no_other_measure_or_delta(self, ledger):
        spend(ledger, pure("0.1"), key="one")
        with pytest.raises(MismatchError):
            ledger.register(replace(terms(), caps=mixed_terms().caps))
        other = replace(mixed_terms(), measure=orders(mixed_terms().caps, atto=2 * 10**12))
        with pytest.raises(MismatchError, match=r"delta less selection-delta: 0\.000001"):
            ledger.register(other)

    def test_a_charge_below_what_its_events_cost_is_refused_in_either_measure(self, ledger):
        for events in (pure("0.5"), gaussian("0.01")):
            asked = asking(events, key="k")
            less = replace(asked, amount=replace(asked.amount, nano=asked.amount.nano - 1))
            with pytest.raises(ContractError):
                ledger.reserve(less)
        assert [each.used for each in ledger.spent(LINEAGE).scopes] == [0, 0, 0, 0]

    def test_what_a_release_costs_in_lanes_is_for_the_ledger_to_say(self, ledger):
        asked = asking(gaussian("0.01"), key="k")
        measure = orders(mixed_terms().caps)
        other = asking(gaussian("0.0001"), key="c").events_json
        cheap = recompute(other, measure=Measure.ZCDP, mixed=measure)
        with pytest.raises(ContractError):
            ledger.reserve(replace(asked, amount=replace(asked.amount, lanes=cheap.lanes)))
        assert ledger.reserve(asked).entry.amount.lanes.at(9) == 9 * NANO // 100

    def test_caps_of_a_policy_hold_each_in_both_lanes_of_whom_they_are_on(self, ledger):
        caps = (
            cap("year", "patient", "calendar-year", "5"),
            cap("each", "analyst", "rolling-365d", "2"),
        )
        ledger.desk.adopt(LINEAGE, policy=over_both(*caps), reason="the board says so")
        for number in range(4):
            charges = spend(ledger, pure("0.5"), key=f"p{number}", analyst="ada")
            assert [each.order for each in charges] == [0, 0]
        with pytest.raises(BudgetExhaustedError, match="cap each"):
            spend(ledger, pure("0.01"), key="more", analyst="ada")
        year, each = spend(ledger, gaussian("0.005"), key="g", analyst="bo")
        best = MixedCap(epsilon=Fraction(2), delta=DELTA, order=9)
        assert (each.order, each.cap, each.before) == (9, best.budget, 0)
        assert (year.order, year.before > 0) == (9, True)
        with pytest.raises(BudgetExhaustedError, match=r"cap each"):  # ada's own lane is pure still
            spend(ledger, pure("0.01"), key="again", analyst="ada")
        ledger.verify_chain()

    def test_a_policy_of_one_measure_or_another_delta_is_not_of_a_mixed_ledger(self, ledger):
        for other in (policy(), over_both(delta="2e-6")):
            with pytest.raises(MismatchError, match="Expected a policy with measure"):
                ledger.desk.adopt(LINEAGE, policy=other, reason="the board says so")
        ledger.desk.adopt(LINEAGE, policy=over_both(), reason="the board says so")

    def test_a_first_policy_that_allows_more_epsilon_than_the_file_needs_a_reason(self, ledger):
        kept = (
            cap("year", "patient", "calendar-year", "3"),
            cap("life", "dataset", "lifetime", "10"),
        )
        more = cap("year", "patient", "calendar-year", "3.1"), kept[1]
        with pytest.raises(PolicyError, match=r"cap calendar-year of dataset\.yaml is raised"):
            ledger.desk.adopt(LINEAGE, policy=over_both(*more))
        ledger.desk.adopt(LINEAGE, policy=over_both(*kept))

    def test_a_ceiling_is_on_the_epsilon_of_a_release_at_the_delta_whatever_its_noise(self, ledger):
        tiers = (Tier(id="small", ceiling=Limit(epsilon=Fraction(1, 2))),)
        ledger.desk.adopt(LINEAGE, policy=over_both(TEN, tiers=tiers), reason="the board says so")
        events = gaussian("0.01")  # ρ = 0.01 is less than 0.5, its ε is more
        assert least_cap([each.use.loss for each in events], delta=DELTA) > Fraction(1, 2)
        with pytest.raises(PolicyError, match=r"up to ε=0\.5; this one costs ε=0\.6"):
            spend(ledger, events, key="g", tier="small")
        spend(ledger, gaussian("0.005"), key="s", tier="small")
        spend(ledger, pure("0.5"), key="p", tier="small")

    def test_what_left_the_window_of_365_days_gives_room_in_the_lane_that_it_was_in(
        self, ledger, clock
    ):
        each = cap("each", "dataset", "rolling-365d", "2")
        ledger.desk.adopt(LINEAGE, policy=over_both(each), reason="the board says so")
        spend(ledger, pure("2"), key="one")
        with pytest.raises(BudgetExhaustedError):
            spend(ledger, pure("0.1"), key="two")
        a_year_passes(ledger, clock)
        (charge,) = spend(ledger, pure("0.5"), key="three")
        assert (charge.order, charge.before) == (0, 0)
        (charge,) = spend(ledger, gaussian("0.005"), key="four")
        assert charge.order == 9

    def test_a_window_that_was_closed_to_pure_events_stays_closed_when_what_closed_it_has_left(
        self, ledger, clock
    ):
        each = cap("each", "dataset", "rolling-365d", "2")
        ledger.desk.adopt(LINEAGE, policy=over_both(each), reason="the board says so")
        spend(ledger, gaussian("0.005"), key="one")
        a_year_passes(ledger, clock)
        (charge,) = spend(ledger, pure("0.3"), key="two")
        assert (charge.order, charge.before) == (9, 0)
