"""What every ledger does, whatever it is stored in."""

import abc
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from confide.budget.ledger import Caps, Ledger, Reservation, State, StoredRelease
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    InvalidParameterError,
    MismatchError,
    PolicyError,
    UnknownNameError,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO, Amount
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from ledgers import LINEAGE, TENTH, HandClock, released, remaining, request, terms, used


class LedgerContract(abc.ABC):
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
        ledger.register(terms())
        yield ledger
        ledger.close()

    def test_rows_after_a_charge_tell_their_day_alone(self, ledger, clock):
        def last():
            return next(ledger._journal.store.events([ledger.head().number])).fields()

        reservation = ledger.reserve(request())
        charged = last()["at"]
        clock.move(seconds=3.25)
        ledger.start_reading(reservation)
        assert last()["at"] == charged
        clock.move(days=1)
        ledger.commit(reservation, payload=b"noisy")
        assert last()["at"] == "2027-06-02T00:00:00.000000Z"
        clock.move(hours=1)
        ledger.reserve(request(key="next"))
        assert last()["at"] == "2027-06-02T13:00:03.250000Z"

    def test_rows_after_a_charge_say_the_day_of_a_clock_that_was_put_back(self, ledger, clock):
        clock.move(days=90)
        reservation = ledger.reserve(request())
        ahead = reservation.entry.at
        clock.move(days=-90, seconds=5)
        ledger.start_reading(reservation)
        row = next(ledger._journal.store.events([ledger.head().number])).fields()
        assert (row["at"], row["clock"]) == (ahead, "2027-06-01T00:00:00.000000Z")

    def test_a_release_passes_through_every_state_and_its_charges_add_up(self, ledger):
        reservation = ledger.reserve(request())
        assert reservation.entry.state is State.RESERVED
        ledger.start_reading(reservation)
        entry = ledger.commit(reservation, payload=b"noisy")
        assert entry.state is State.COMMITTED
        assert ledger.publish(entry).state is State.PUBLISHED
        assert entry.number == reservation.entry.number
        assert (entry.previous, entry.hash) == (reservation.entry.previous, reservation.entry.hash)
        assert [charge.name for charge in entry.charges] == [
            "release",
            "calendar-year/2027",
            "lifetime",
        ]
        assert all(c.before + c.amount == c.after <= c.cap for c in entry.charges)
        assert used(ledger) == {
            "release": 0,
            "calendar-year": TENTH,
            "lifetime": TENTH,
            "lifetime-delta": 0,
        }

    def test_a_thousand_retries_return_one_payload_and_one_charge(self, ledger):
        released(ledger, "k", b"the answer")
        answers = [ledger.reserve(request()) for _ in range(1_000)]
        assert {answer.payload for answer in answers} == {b"the answer"}
        assert used(ledger)["lifetime"] == TENTH

    def test_a_committed_answer_is_returned_before_it_is_published(self, ledger):
        reservation = ledger.reserve(request())
        ledger.start_reading(reservation)
        ledger.commit(reservation, payload=b"once")
        again = ledger.reserve(request())
        assert isinstance(again, StoredRelease)
        assert again.payload == b"once"
        assert ledger.publish(again.entry) == ledger.publish(again.entry)

    def test_another_client_key_is_another_charge(self, ledger):
        released(ledger, "a", b"1")
        released(ledger, "b", b"2")
        assert used(ledger)["lifetime"] == 2 * TENTH

    def test_a_burned_request_stays_charged_and_its_key_is_spent(self, ledger):
        reservation = ledger.reserve(request())
        ledger.start_reading(reservation)
        ledger.burn(reservation, incident="i-1")
        ledger.burn(reservation, incident="i-1")
        assert used(ledger)["lifetime"] == TENTH
        with pytest.raises(BurnedError, match="new request key"):
            ledger.reserve(request())
        with pytest.raises(BurnedError):
            ledger.commit(reservation, payload=b"late")

    def test_only_a_request_that_never_read_is_cancelled(self, ledger):
        reservation = ledger.reserve(request())
        ledger.cancel(reservation)
        assert used(ledger)["lifetime"] == 0
        again = ledger.reserve(request())
        assert again.entry.number != reservation.entry.number
        ledger.start_reading(again)
        with pytest.raises(PolicyError, match="is reading and cannot be cancelled"):
            ledger.cancel(again)
        assert used(ledger)["lifetime"] == TENTH

    def test_what_is_let_go_is_given_back_and_burned_once_it_was_reading(self, ledger):
        reservation = ledger.reserve(request())
        assert ledger.let_go(reservation, incident="i-1") is State.CANCELLED
        assert used(ledger)["lifetime"] == 0
        again = ledger.reserve(request())
        ledger.start_reading(again)
        assert ledger.let_go(again, incident="i-2") is State.BURNED
        assert ledger.let_go(again, incident="i-3") is State.BURNED
        assert used(ledger)["lifetime"] == TENTH
        with pytest.raises(BurnedError, match="new request key"):
            ledger.reserve(request())

    def test_nothing_is_committed_that_was_not_reading(self, ledger):
        reservation = ledger.reserve(request())
        with pytest.raises(PolicyError, match="cannot be committed"):
            ledger.commit(reservation, payload=b"x")
        with pytest.raises(PolicyError, match="cannot be burned"):
            ledger.burn(reservation, incident="i")
        with pytest.raises(PolicyError, match="cannot be read back"):
            ledger.stored(reservation.entry.number)

    def test_an_answer_is_committed_once(self, ledger):
        reservation = ledger.reserve(request())
        ledger.start_reading(reservation)
        ledger.commit(reservation, payload=b"first")
        with pytest.raises(PolicyError, match="cannot be committed"):
            ledger.commit(reservation, payload=b"second")
        assert ledger.stored(reservation.entry.number).payload == b"first"

    def test_a_request_in_progress_is_not_started_twice(self, ledger, folder, clock):
        reservation = ledger.reserve(request())
        other = self.open(folder, clock)
        for caller in (ledger, other):
            with pytest.raises(PolicyError, match=r"in progress.*in another terminal") as told:
                caller.reserve(request())
            assert "key" not in str(told.value)
        with pytest.raises(PolicyError, match="by another"):
            other.start_reading(reservation)
        other.close()

    def test_what_a_closed_ledger_was_reading_is_burned(self, ledger, folder, clock):
        first = self.open(folder, clock)
        first.start_reading(first.reserve(request()))
        first.close()
        with pytest.raises(BurnedError):
            ledger.reserve(request())
        assert used(ledger)["lifetime"] == TENTH

    def test_what_a_closed_ledger_only_reserved_is_given_back(self, ledger, folder, clock):
        first = self.open(folder, clock)
        first.reserve(request())
        first.close()
        assert isinstance(ledger.reserve(request()), Reservation)
        assert used(ledger)["lifetime"] == TENTH

    def test_a_cap_is_used_to_its_last_unit_and_not_beyond(self, ledger):
        third = NANO // 3
        for key in "abc":
            released(ledger, key, b"", nano=third)
        assert remaining(ledger)["calendar-year"] == 1
        released(ledger, "d", b"", nano=1)
        assert remaining(ledger)["calendar-year"] == 0
        with pytest.raises(BudgetExhaustedError):
            ledger.reserve(request("e", nano=1))

    def test_a_refusal_names_the_cap_and_is_recorded_at_no_charge(self, ledger):
        for key in "ab":
            released(ledger, key, b"", nano=450_000_000)
        with pytest.raises(BudgetExhaustedError) as caught:
            ledger.reserve(request("c", nano=500_000_000))
        assert str(caught.value).startswith(
            "Requested ε=0.5, remaining ε=0.1 (cap calendar-year), difference 0.4. "
        )
        error = caught.value
        assert (error.cap, error.requested) == ("calendar-year", Fraction(1, 2))
        assert (error.remaining, error.difference) == (Fraction(1, 10), Fraction(2, 5))
        assert used(ledger)["lifetime"] == 900_000_000
        refused = ledger.entries(LINEAGE)[-1]
        assert (refused.state, refused.charges) == (State.REFUSED, ())
        assert isinstance(ledger.reserve(request("c", nano=500_000_000 // 5)), Reservation)

    def test_every_cap_is_checked(self, ledger):
        with pytest.raises(BudgetExhaustedError, match="cap release"):
            ledger.reserve(request("r", nano=NANO // 2 + 1))
        with pytest.raises(BudgetExhaustedError, match=r"δ=0\.000002.*cap lifetime-delta"):
            ledger.reserve(request("d", atto=2 * ATTO // 10**6))
        ledger.amend_caps(LINEAGE, caps=replace(terms().caps, lifetime=TENTH))
        with pytest.raises(BudgetExhaustedError, match="cap lifetime"):
            ledger.reserve(request("l", nano=TENTH + 1))
        released(ledger, "k", b"", nano=TENTH, atto=ATTO // 10**6)
        assert set(remaining(ledger).values()) >= {0}

    def test_registering_again_neither_resets_nor_changes(self, ledger):
        released(ledger, "k", b"")
        ledger.register(terms())
        assert used(ledger)["lifetime"] == TENTH
        with pytest.raises(PolicyError, match=r"lifetime ε=4, now ε=9.*amend-caps"):
            ledger.register(terms(lifetime=9 * NANO))
        with pytest.raises(MismatchError, match="Expected measure 'pure'"):
            ledger.register(replace(terms(), measure=Measure.ZCDP))

    def test_terms_may_change_until_the_first_charge_and_never_after(self, ledger):
        other = replace(terms(lifetime=9 * NANO, year=2 * NANO), measure=Measure.ZCDP)
        ledger.register(other)
        ledger.register(terms(lifetime=NANO))
        with pytest.raises(BudgetExhaustedError):
            ledger.reserve(request("large", nano=5 * NANO))
        ledger.register(terms())  # a refusal is no charge
        ledger.cancel(ledger.reserve(request("given back")))
        ledger.verify_chain()
        with pytest.raises(PolicyError, match=r"release ε=0\.5, now none"):
            ledger.register(terms(release=None))
        with pytest.raises(MismatchError):
            ledger.register(other)

    @pytest.mark.parametrize(
        "other",
        [
            {"unit": Entity.EVENT},
            {"adjacency": Adjacency.SUBSTITUTE},
            {"measure": Measure.ZCDP},
        ],
    )
    def test_a_plan_of_another_unit_adjacency_or_measure_is_refused(self, ledger, other):
        with pytest.raises(MismatchError, match="for life"):
            ledger.reserve(replace(request(), **other))
        assert used(ledger)["lifetime"] == 0

    def test_an_unknown_lineage_is_refused(self, ledger):
        with pytest.raises(UnknownNameError, match="north-ehr"):
            ledger.reserve(replace(request(), lineage="north-ehx"))
        with pytest.raises(UnknownNameError):
            ledger.spent("nowhere")

    @pytest.mark.parametrize(
        "lineage", ["", "nörth", "no\u0308rth", "a b", "../x", "a\x00", "x" * 200]
    )
    def test_a_lineage_has_no_unicode_twin(self, lineage):
        with pytest.raises(InvalidParameterError, match="ASCII"):
            replace(terms(), lineage=lineage)

    @pytest.mark.parametrize(
        "change",
        [
            {"analyst": " "},
            {"analyst": "a\nb"},
            {"request_key": "k" * 300},
            {"plan_digest": "A" * 64},
            {"events_json": ""},
            {"events_json": "[" * 101 + "]" * 101},
            {"plan_json": "\ud800"},
            {"plan_json": "no plan"},
            {"plan_json": "[]"},
            {"plan_json": '{"study": {}}'},
            {"plan_json": '{"study":{},"dataset":{}}'},
            {"plan_json": '{"study":{"id":"a"},"study":{"id":"b"}}'},
            {"plan_json": f'{{"a":{"9" * 700}}}'},
            {"plan_json": '{"a":NaN}'},
            {"plan_json": '{"a":' + "[" * 990 + "]" * 990 + "}"},
            {"plan_json": '{"a":' + "[" * 10**6},
        ],
    )
    def test_a_request_that_cannot_be_written_down_is_refused(self, change):
        with pytest.raises(InvalidParameterError, match=next(iter(change))):
            replace(request(), **change)

    def test_lineages_do_not_share_a_budget(self, ledger):
        ledger.register(replace(terms(), lineage="south-ehr"))
        released(ledger, "k", b"")
        assert [s.used for s in ledger.spent("south-ehr").scopes] == [0, 0, 0, 0]

    def test_a_charge_below_what_its_events_cost_is_refused(self, ledger):
        with pytest.raises(ContractError, match=r"at least ε=0\.1"):
            ledger.reserve(replace(request(), amount=Amount(nano=TENTH - 1)))

    def test_a_charge_without_an_event_is_refused(self, ledger):
        with pytest.raises(ContractError, match="no event says for what"):
            ledger.reserve(replace(request(), events_json="0/0"))
        assert used(ledger)["lifetime"] == 0

    def test_a_key_does_not_change_its_question(self, ledger):
        released(ledger, "k", b"")
        with pytest.raises(ContractError, match="another charge"):
            ledger.reserve(request("k", nano=2 * TENTH))

    def test_caps_go_down_freely_and_up_with_a_reason_only(self, ledger):
        released(ledger, "k", b"", nano=3 * TENTH)
        low = Caps(lifetime=2 * TENTH, calendar_year=2 * TENTH, release=TENTH)
        ledger.amend_caps(LINEAGE, caps=low)
        assert remaining(ledger)["lifetime"] == 0
        with pytest.raises(BudgetExhaustedError, match="Nothing is left"):
            ledger.reserve(request("l", nano=1))
        with pytest.raises(InvalidParameterError, match="reason"):
            ledger.amend_caps(LINEAGE, caps=terms().caps)
        with pytest.raises(InvalidParameterError, match="reason"):
            ledger.amend_caps(LINEAGE, caps=replace(low, release=None), reason=" ")
        ledger.amend_caps(LINEAGE, caps=terms().caps, reason="ethics board, 3 May")
        assert remaining(ledger)["lifetime"] == 37 * TENTH

    def test_a_new_year_opens_only_when_clock_and_officer_agree(self, ledger, clock):
        released(ledger, "k", b"", nano=5 * TENTH)
        with pytest.raises(PolicyError, match="the clock shows 2027"):
            ledger.open_year(LINEAGE, year=2028, reason="new year")
        clock.move(days=365)
        with pytest.raises(PolicyError, match="open-year 2028"):
            ledger.reserve(request("l"))
        assert remaining(ledger)["calendar-year"] == 5 * TENTH
        ledger.open_year(LINEAGE, year=2028, reason="new year")
        assert remaining(ledger)["calendar-year"] == NANO
        assert remaining(ledger)["lifetime"] == 35 * TENTH
        with pytest.raises(PolicyError, match="after 2028"):
            ledger.open_year(LINEAGE, year=2028, reason="again")

    def test_a_clock_set_back_charges_the_open_year_and_keeps_time_in_order(self, ledger, clock):
        released(ledger, "a", b"")
        clock.move(days=-400)
        released(ledger, "b", b"")
        first, second = ledger.entries(LINEAGE)
        assert second.at >= first.at
        assert used(ledger)["calendar-year"] == 2 * TENTH

    def test_years_without_a_cap_need_no_officer(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(terms(year=None))
        clock.move(days=365)
        released(ledger, "k", b"")
        assert ledger.spent(LINEAGE).scopes[1].period == "2028"
        ledger.amend_caps(LINEAGE, caps=terms(year=TENTH).caps)
        assert remaining(ledger)["calendar-year"] == 0
        ledger.close()

    def test_a_year_that_a_clock_began_that_was_ahead_is_named_where_none_opens(
        self, folder, clock
    ):
        ledger = self.open(folder, clock)
        ledger.register(terms(year=None))
        clock.time = clock.time.replace(year=2099)
        ledger.reserve(request("ahead"))
        clock.time = clock.time.replace(year=2028)
        caps = terms(year=NANO).caps
        ledger.amend_caps(LINEAGE, caps=caps)
        with pytest.raises(PolicyError, match="budget of 2099 is open, which a clock") as refused:
            ledger.open_year(LINEAGE, year=2028, reason="new year")
        assert "rolling-365d" in refused.value.hint
        ledger.close()

    def test_everything_is_there_after_reopening(self, ledger, folder, clock):
        number = released(ledger, "k", b"answer")
        other = self.open(folder, clock)
        assert other.head() == ledger.head()
        assert other.entries(LINEAGE) == ledger.entries(LINEAGE)
        assert other.stored(number).payload == b"answer"
        other.verify_chain()
        other.close()

    def test_a_lowered_cap_holds_again_once_what_was_above_it_is_cancelled(self, ledger):
        ledger.amend_caps(LINEAGE, caps=Caps(lifetime=10 * TENTH), reason="start")
        held = ledger.reserve(request("first", nano=8 * TENTH))
        ledger.amend_caps(LINEAGE, caps=Caps(lifetime=5 * TENTH))
        ledger.cancel(held)
        assert remaining(ledger)["lifetime"] == 5 * TENTH
        with pytest.raises(BudgetExhaustedError):
            ledger.reserve(request("second", nano=6 * TENTH))
        ledger.verify_chain()
