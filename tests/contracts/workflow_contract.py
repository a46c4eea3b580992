"""What every ledger does with requests and decisions, whatever it is stored in."""

import abc
from dataclasses import replace
from pathlib import Path

import pytest

from confide.budget.ledger import Ledger, Reservation
from confide.budget.workflow.submission import Standing, Verdict
from confide.errors import (
    ApprovalMissingError,
    InvalidParameterError,
    LedgerFrozenError,
    PolicyError,
    UnknownNameError,
)
from ledger_policies import (
    ADA,
    BO,
    CY,
    DI,
    LIFE,
    PEOPLE,
    PLAN,
    approved,
    asked_by,
    asks,
    cap,
    policy,
    uncapped,
    with_people,
)
from ledgers import LINEAGE, TENTH, HandClock, SiteKey


def asked(key="k", *, nano=TENTH, analyst="ada", tier="critical", **others):
    return asked_by(analyst, key, nano=nano, tier=tier, **others)


def run(ledger, request):
    reservation = ledger.reserve(request)
    assert isinstance(reservation, Reservation)
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=b"answer"))


def stands(ledger, submission):
    return ledger.desk.stands(submission.number)[0]


class WorkflowContract(abc.ABC):
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
        ledger.desk.adopt(LINEAGE, policy=with_people())
        yield ledger
        ledger.close()

    def test_a_request_passes_from_submitted_to_published(self, ledger):
        with pytest.raises(ApprovalMissingError, match="nobody was asked") as caught:
            ledger.reserve(asked())
        assert caught.value.missing == ("steward", "privacy-officer", "ethics-board")
        submission = ledger.desk.submit(asks(note="for the board"), signer=ADA)
        assert stands(ledger, submission) is Standing.SUBMITTED
        ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)
        with pytest.raises(ApprovalMissingError, match="privacy-officer, ethics-board") as caught:
            ledger.reserve(asked())
        assert caught.value.missing == ("privacy-officer", "ethics-board")
        ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=DI)
        assert stands(ledger, submission) is Standing.APPROVED
        reservation = ledger.reserve(asked())
        assert reservation.entry.submission == submission.number
        assert stands(ledger, submission) is Standing.CHARGED
        ledger.start_reading(reservation)
        entry = ledger.commit(reservation, payload=b"answer")
        assert stands(ledger, submission) is Standing.RUN
        ledger.publish(entry)
        assert stands(ledger, submission) is Standing.PUBLISHED
        assert len(ledger.entries(LINEAGE)) == 1  # a missing approval leaves no entry
        ledger.verify_chain()

    def test_a_tier_without_approvals_and_a_policy_without_tiers_need_none(self, ledger):
        assert run(ledger, asked(tier="open")).submission == 0

    def test_a_study_without_a_tier_is_refused_where_tiers_have_approvals(self, ledger):
        for tier, told in (("", "names no tier"), ("routin", "no tier 'routin'")):
            with pytest.raises(PolicyError, match=told):
                ledger.reserve(asked(tier=tier))

    def test_a_planned_release_has_the_tier_and_project_of_the_plan(self, ledger):
        for wrong in ({"tier": "open"}, {"project": "other"}):
            with pytest.raises(PolicyError, match="is planned with"):
                ledger.reserve(asked(**({"planned": "rare-q1", "project": "rare"} | wrong)))
        with pytest.raises(PolicyError, match="plans no release"):
            ledger.reserve(asked(planned="rare-q9"))

    def test_one_approved_request_admits_one_charge(self, ledger):
        approved(ledger, "routine", BO)
        run(ledger, asked("first", tier="routine"))
        with pytest.raises(ApprovalMissingError, match="nobody was asked"):
            ledger.reserve(asked("fresh noise", tier="routine"))
        assert ledger.reserve(asked("first", tier="routine")).payload == b"answer"

    def test_a_charge_that_was_given_back_leaves_its_approval(self, ledger):
        approved(ledger, "routine", BO)
        ledger.cancel(ledger.reserve(asked(tier="routine")))
        assert run(ledger, asked(tier="routine")).submission

    def test_a_burned_request_used_its_approval(self, ledger):
        submission = approved(ledger, "routine", BO)
        reservation = ledger.reserve(asked(tier="routine"))
        ledger.start_reading(reservation)
        ledger.burn(reservation, incident="i")
        assert stands(ledger, submission) is Standing.BURNED
        with pytest.raises(ApprovalMissingError):
            ledger.reserve(asked("again", tier="routine"))

    def test_an_approval_is_of_one_plan(self, ledger):
        approved(ledger, "routine", BO)
        with pytest.raises(ApprovalMissingError, match="nobody was asked"):
            ledger.reserve(replace(asked(tier="routine"), plan_digest="b" * 64))

    def test_an_approval_is_of_one_requester(self, ledger):
        approved(ledger, "routine", BO)
        with pytest.raises(PolicyError, match="approved for ada, and bob asks"):
            ledger.reserve(asked(analyst="bob", tier="routine"))

    def test_an_approval_is_of_one_tier(self, ledger):
        approved(ledger, "routine", BO)
        with pytest.raises(ApprovalMissingError):
            ledger.reserve(asked(tier="critical"))

    def test_an_approval_expires(self, ledger, clock):
        submission = approved(ledger, "routine", BO)
        clock.move(days=30, seconds=1)
        assert stands(ledger, submission) is Standing.EXPIRED
        with pytest.raises(ApprovalMissingError, match="has expired"):
            ledger.reserve(asked(tier="routine"))
        ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)
        assert run(ledger, asked(tier="routine")).submission == submission.number

    def test_a_row_that_tells_its_day_alone_ends_an_approval_as_the_end_of_it(self, ledger, clock):
        approved(ledger, "routine", BO)
        reading = ledger.reserve(asked(tier="routine"))
        submission = approved(ledger, "routine", BO)
        clock.move(days=30, hours=1)
        ledger.start_reading(reading)
        clock.move(days=-30)
        assert stands(ledger, submission) is Standing.EXPIRED

    def test_an_approval_lapses_with_the_policy_under_which_it_was_given(self, ledger):
        submission = approved(ledger, "routine", BO)
        tighter = with_people(cap("dataset-life", "dataset", "lifetime", "3"), version=2)
        ledger.desk.endorse(LINEAGE, policy=tighter, signer=CY)
        ledger.desk.adopt(LINEAGE, policy=tighter)
        assert stands(ledger, submission) is Standing.LAPSED
        with pytest.raises(PolicyError, match="is lapsed"):
            ledger.reserve(asked(tier="routine"))
        with pytest.raises(PolicyError, match="is lapsed"):
            ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)

    def test_whoever_asks_does_not_approve(self, ledger):
        submission = ledger.desk.submit(asks("routine"), signer=BO)
        with pytest.raises(PolicyError, match="whoever asks does not approve; another person"):
            ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)
        ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=CY)
        run(ledger, asked(analyst="bo", tier="routine"))

    def test_one_person_fills_one_role(self, ledger):
        submission = ledger.desk.submit(asks(), signer=ADA)
        number = submission.number
        with pytest.raises(PolicyError, match="privacy-officer or steward"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=CY)
        ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=CY, role="steward")
        with pytest.raises(PolicyError, match="one person fills one role; another has to"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=CY, role="privacy-officer")
        with pytest.raises(PolicyError, match="steward has approved already"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=BO)

    def test_without_separation_of_duties_one_person_may_do_it_all(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        ledger.desk.adopt(LINEAGE, policy=with_people(separation_of_duties=False))
        number = ledger.desk.submit(asks(), signer=CY).number
        for role in ("steward", "privacy-officer"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=CY, role=role)
        run(ledger, asked(analyst="cy"))
        ledger.close()

    def test_only_those_whom_the_policy_names_ask_and_decide(self, ledger):
        stranger = SiteKey(b"X" * 32)
        with pytest.raises(PolicyError, match="names nobody with this key"):
            ledger.desk.submit(asks(), signer=stranger)
        with pytest.raises(PolicyError, match="no role in which to ask"):
            ledger.desk.submit(asks(), signer=SiteKey(b"E" * 32))
        number = ledger.desk.submit(asks("routine"), signer=ADA).number
        with pytest.raises(PolicyError, match="names nobody with this key"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=stranger)
        for signer, role in ((DI, ""), (DI, "steward"), (DI, "ethics-board")):
            with pytest.raises(PolicyError, match="di does not decide about tier routine"):
                ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=signer, role=role)

    def test_a_rejected_or_returned_request_is_over_and_another_may_follow(self, ledger):
        for verdict, told in (
            (Verdict.REJECT, Standing.REJECTED),
            (Verdict.ASK_CHANGES, Standing.CHANGES_ASKED),
        ):
            number = ledger.desk.submit(asks("routine"), signer=ADA).number
            with pytest.raises(InvalidParameterError, match="reason"):
                ledger.desk.decide(number, verdict=verdict, signer=BO)
            ledger.desk.decide(number, verdict=verdict, signer=BO, reason="wider bins, please")
            assert ledger.desk.stands(number) == (told, ())
            with pytest.raises(PolicyError, match=f"is {told.value}"):
                ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=BO)
            with pytest.raises(PolicyError, match=f"is {told.value}"):
                ledger.reserve(asked(tier="routine"))
        second = approved(ledger, "routine", BO, revises=number)
        assert second.asked.revises == number
        run(ledger, asked(tier="routine"))
        with pytest.raises(UnknownNameError):
            ledger.desk.submit(asks("routine", revises=999), signer=ADA)

    def test_an_approved_request_may_still_be_rejected_before_it_is_charged(self, ledger):
        submission = approved(ledger, "routine", BO)
        ledger.desk.decide(submission.number, verdict=Verdict.REJECT, signer=CY, reason="new facts")
        with pytest.raises(PolicyError, match="is rejected"):
            ledger.reserve(asked(tier="routine"))

    def test_an_answer_that_is_withheld_is_not_delivered_and_stays_charged(self, ledger):
        submission = approved(ledger, "routine", BO)
        entry = run(ledger, asked(tier="routine"))
        before = ledger.spent(LINEAGE)
        with pytest.raises(PolicyError, match="ada has no role"):
            ledger.desk.withhold(entry.number, signer=ADA, reason="no")
        with pytest.raises(InvalidParameterError, match="reason"):
            ledger.desk.withhold(entry.number, signer=CY, reason="")
        assert ledger.desk.withhold(entry.number, signer=CY, reason="wrong bins").withheld
        for deliver in (
            lambda: ledger.reserve(asked(tier="routine")),
            lambda: ledger.stored(entry.number),
            lambda: ledger.publish(entry),
        ):
            with pytest.raises(PolicyError, match="is withheld"):
                deliver()
        with pytest.raises(PolicyError, match="withheld already"):
            ledger.desk.withhold(entry.number, signer=CY, reason="again")
        assert ledger.spent(LINEAGE) == before
        assert stands(ledger, submission) is Standing.WITHHELD
        ledger.verify_chain()

    def test_what_was_not_answered_cannot_be_withheld(self, ledger):
        reservation = ledger.reserve(asked(tier="open"))
        with pytest.raises(PolicyError, match="has no answer"):
            ledger.desk.withhold(reservation.entry.number, signer=BO, reason="early")

    def test_requests_and_decisions_are_there_after_reopening(self, ledger, folder, clock):
        approved(ledger, "critical", BO, CY)
        entry = run(ledger, asked())
        ledger.desk.withhold(entry.number, signer=BO, reason="r")
        other = self.open(folder, clock)
        assert other.desk.submissions(LINEAGE) == ledger.desk.submissions(LINEAGE)
        assert other.entries(LINEAGE)[-1].withheld
        other.verify_chain()
        other.close()

    def test_a_decision_that_its_person_did_not_sign_is_never_taken_in(self, ledger):
        number = ledger.desk.submit(asks("routine"), signer=ADA).number

        class Forger(SiteKey):
            """Shows the steward's public key and signs with another."""

            @property
            def public_key(self):
                return BO.public_key

        with pytest.raises(LedgerFrozenError, match="not signed by bo"):
            ledger.desk.decide(number, verdict=Verdict.APPROVE, signer=Forger(b"F" * 32))

    def test_nobody_decides_where_there_is_no_policy_with_people(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        with pytest.raises(PolicyError, match="No policy was adopted"):
            ledger.desk.submit(asks(), signer=ADA)
        ledger.desk.adopt(LINEAGE, policy=policy(LIFE))
        with pytest.raises(PolicyError, match="names nobody"):
            ledger.desk.submit(asks(), signer=ADA)
        assert run(ledger, asked(tier="")).submission == 0
        assert {person.name for person in PEOPLE} >= {"ada"}
        assert asked().plan_digest == PLAN
        ledger.close()
