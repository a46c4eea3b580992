"""What no ledger lets anybody do without an officer's key, whatever it is stored in."""

import abc
import re
from dataclasses import replace
from pathlib import Path

import pytest

from confide.budget.ledger import Ledger, Reservation
from confide.budget.policy.policy import Basis, Limit, Person, Workflow
from confide.budget.workflow import acts
from confide.budget.workflow.acts import WORDS, WhoseWord
from confide.budget.workflow.submission import Standing, Verdict
from confide.errors import (
    ApprovalMissingError,
    BudgetExhaustedError,
    LedgerFrozenError,
    PolicyError,
)
from confide.privacy.amount import Amount
from confide.privacy.measure import Measure
from ledger_policies import (
    ADA,
    BO,
    CY,
    DI,
    LIFE,
    PEOPLE,
    TIERS,
    approved,
    asked_by,
    asks,
    cap,
    uncapped,
    with_people,
)
from ledgers import LINEAGE, TENTH, HandClock, SiteKey, amount_of

YEAR = cap("year", "patient", "calendar-year", "0.3")
ROLLING = cap("rolling", "patient", "rolling-365d", "0.3")
LAW = replace(cap("law", "release", "release", "0.4"), basis=Basis.LEGAL)
CAPS = (LIFE, YEAR, ROLLING, LAW)

OTHERS = {
    "registered": WhoseWord.TERMS,
    "caps-amended": WhoseWord.TERMS,
    "reserved": WhoseWord.LEDGER,
    "refused": WhoseWord.LEDGER,
    "reading": WhoseWord.LEDGER,
    "committed": WhoseWord.LEDGER,
    "published": WhoseWord.LEDGER,
    "burned": WhoseWord.LEDGER,
    "cancelled": WhoseWord.LEDGER,
    "submitted": WhoseWord.PERSON,
    "decided": WhoseWord.PERSON,
    "withheld": WhoseWord.PERSON,
    "policy-endorsed": WhoseWord.PERSON,
    "policy-adopted": WhoseWord.ENDORSED,
    "consent-withdrawn": WhoseWord.PATIENT,  # taking a patient out waits for nobody
}
"""Rows that are no officer's act; whoever adds one here says why it needs no officer."""


def dearer(events_json: str, *, measure: Measure) -> Amount:
    """An accountant that was corrected: everything cost more than was charged."""
    charged = amount_of(events_json, measure=measure)
    return Amount(nano=2 * charged.nano, atto=charged.atto)


def spend(ledger: Ledger, key: str = "k", *, nano: int = 3 * TENTH, tier: str = "open", **others):
    reservation = ledger.reserve(asked_by("ada", key, nano=nano, tier=tier, **others))
    assert isinstance(reservation, Reservation)
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=b"answer"))


def left(ledger: Ledger) -> dict[str, int]:
    return {use.cap_id: use.remaining for use in ledger.spent(LINEAGE).scopes}


class Copyist(SiteKey):
    """Shows the officer's public key, and signs with what the officer signed elsewhere."""

    def __init__(self, of: SiteKey, signature: bytes) -> None:
        super().__init__(b"F" * 32)
        self._of, self._signature = of, signature

    @property
    def public_key(self) -> bytes:
        return self._of.public_key

    def sign(self, message: bytes, /) -> bytes:
        del message
        return self._signature


class Recorder(SiteKey):
    """An officer whose signatures somebody copies."""

    def __init__(self) -> None:
        super().__init__(b"C" * 32)
        self.signed: list[bytes] = []

    def sign(self, message: bytes, /) -> bytes:
        self.signed.append(super().sign(message))
        return self.signed[-1]


class OfficersContract(abc.ABC):
    """Subclass it, say how to open the ledger, and call the class Test…"""

    @abc.abstractmethod
    def open(self, folder: Path, clock: HandClock, **others: object) -> Ledger:
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
        ledger.desk.adopt(LINEAGE, policy=with_people(*CAPS))
        yield ledger
        ledger.close()

    # --- no act of an officer goes without a signature ---

    def test_no_act_of_an_officer_goes_without_a_signature(self, ledger, folder, clock):
        """Every kind of act, by nobody, by people who are no officers, and by one who is."""
        spend(ledger)
        clock.move(days=365)

        def unfreeze(by):
            frozen = self.open(folder, clock, recompute=dearer)
            try:
                frozen.unfreeze("the accountant was corrected", officers=by)
            finally:
                frozen.close()

        desk = ledger.desk
        day = clock.now().date().isoformat()
        seen = {"patient": "ab", "officer": "cy", "reason": "asked"}
        does = {
            "year-opened": lambda by: ledger.open_year(
                LINEAGE, year=2028, reason="new year", officers=by
            ),
            "day-confirmed": lambda by: desk.confirm_day(
                LINEAGE, day=day, reason="monthly", officers=by
            ),
            "patient-shown": lambda by: desk.note_access(LINEAGE, **seen, officers=by),
            "consent-lists-lost": lambda by: desk.consent.note_lists_lost(
                LINEAGE, tag="e" * 64, by="cy", reason="the disk burned", officers=by
            ),
            "unfrozen": unfreeze,
            "key-rotated": lambda by: ledger.rotate_key(
                SiteKey(b"N" * 32), reason="yearly", officers=by
            ),
        }
        assert {kind for kind, word in WORDS.items() if word is WhoseWord.OFFICER} == does.keys()
        for kind, act in does.items():
            head, before = ledger.head(), left(ledger)
            for nobody in ((), (ADA,), (BO,), (DI, BO), (SiteKey(b"X" * 32),)):
                with pytest.raises(ApprovalMissingError, match="one of cy must sign"):
                    act(nobody)
            assert (ledger.head(), left(ledger)) == (head, before)
            act((BO, CY))
            assert [event.fields()["kind"] for event in ledger.chain().events][-1] == kind

    def test_every_row_is_somebodys_word_and_an_officers_act_unless_it_says_why_not(self):
        found = {kind: word for kind, word in WORDS.items() if word is not WhoseWord.OFFICER}
        assert found == OTHERS
        budget = Path(acts.__file__).parents[1]
        written = {
            kind
            for path in budget.rglob("*.py")
            for kind in re.findall(r'\.append\(\s*"([a-z]+-?[a-z]+)"', path.read_text("utf-8"))
        }
        assert written >= {"year-opened", "unfrozen", "policy-adopted"}
        assert written <= WORDS.keys()

    def test_a_row_of_an_act_without_its_signature_freezes_whoever_writes_it(
        self, ledger, monkeypatch, clock
    ):
        """Somebody with the site's key writes past the desk."""
        clock.move(days=365)
        from confide.budget.journal import Journal

        monkeypatch.setattr(Journal, "_signed", lambda *_, **__: {})
        with pytest.raises(LedgerFrozenError, match="no officer of policy"):
            ledger.open_year(LINEAGE, year=2028, reason="new year")

    def test_a_signature_is_of_one_act_in_one_place(self, ledger, clock):
        officer = Recorder()
        clock.move(days=1)
        first = clock.now().date().isoformat()
        ledger.desk.confirm_day(LINEAGE, day=first, reason="monthly", officers=(officer,))
        copied = Copyist(CY, officer.signed[-1])
        clock.move(days=1)
        second = clock.now().date().isoformat()
        with pytest.raises(LedgerFrozenError, match="no officer of policy"):
            ledger.desk.confirm_day(LINEAGE, day=second, reason="monthly", officers=(copied,))

    def test_a_signature_is_of_what_its_row_says(self, ledger, clock):
        """The officer signed for this very place, and somebody wrote another reason."""
        clock.move(days=1)
        head, day = ledger.head(), clock.now().date().isoformat()
        signed = {"lineage": LINEAGE, "day": day, "reason": "I looked at two clocks"}
        place = {"number": head.number + 1, "previous": head.hash}
        copied = Copyist(CY, CY.sign(acts.act_message("day-confirmed", signed, **place)))
        with pytest.raises(LedgerFrozenError, match="no officer of policy"):
            ledger.desk.confirm_day(LINEAGE, day=day, reason="monthly", officers=(copied,))

    def test_a_clock_put_forward_opens_no_year_for_somebody_with_a_shell(self, ledger, clock):
        spend(ledger)
        clock.move(days=365)
        for attempt in (
            lambda: spend(ledger, "fresh"),
            lambda: ledger.open_year(LINEAGE, year=2028, reason="happy new year"),
            lambda: ledger.desk.confirm_day(
                LINEAGE, day=clock.now().date().isoformat(), reason="monthly", officers=(ADA,)
            ),
        ):
            with pytest.raises(PolicyError):
                attempt()
        assert (left(ledger)["year"], left(ledger)["rolling"]) == (0, 0)

    def test_a_policy_without_people_takes_a_reason_as_before(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        ledger.desk.adopt(LINEAGE, policy=replace(with_people(*CAPS), workflow=Workflow()))
        clock.move(days=365)
        ledger.open_year(LINEAGE, year=2028, reason="new year")
        ledger.rotate_key(SiteKey(b"N" * 32), reason="yearly")
        ledger.close()

    def test_where_nobody_is_privacy_officer_whoever_may_approve_acts(self, folder, clock):
        people = tuple(person for person in PEOPLE if person.name != "cy")
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        ledger.desk.adopt(
            LINEAGE, policy=replace(with_people(*CAPS), workflow=Workflow(people=people))
        )
        clock.move(days=365)
        for nobody in ((), (ADA,), (CY,), (SiteKey(b"E" * 32),)):
            with pytest.raises(ApprovalMissingError, match="one of bo, di must sign"):
                ledger.open_year(LINEAGE, year=2028, reason="new year", officers=nobody)
        ledger.open_year(LINEAGE, year=2028, reason="new year", officers=(DI,))
        ledger.close()

    def test_a_policy_that_names_people_names_one_who_may_approve(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        alone = Workflow(people=(PEOPLE[0], PEOPLE[4]))
        with pytest.raises(PolicyError, match="none of them may approve"):
            ledger.desk.adopt(LINEAGE, policy=replace(with_people(), tiers=(), workflow=alone))
        ledger.close()

    # --- what the law says ---

    def relaxed(self, *, version: int = 2, **others):
        caps = (LIFE, YEAR, ROLLING, replace(LAW, limit=Limit(epsilon=LAW.limit.epsilon * 2)))
        return replace(with_people(*caps, version=version), **others)

    def adopts(self, ledger, new, *signers):
        for signer in signers:
            ledger.desk.endorse(LINEAGE, policy=new, signer=signer)
        ledger.desk.adopt(LINEAGE, policy=new, reason="the law changed")

    def test_an_analyst_and_one_officer_do_not_relax_what_the_law_says(self, ledger):
        new = self.relaxed()
        for signer, have in ((ADA, "nobody"), (SiteKey(b"E" * 32), "nobody"), (CY, "cy")):
            with pytest.raises(PolicyError, match=f"law is raised.*signed by {have} of"):
                self.adopts(ledger, new, signer)
        self.adopts(ledger, new, BO)
        assert ledger.desk.policy(LINEAGE).policy == new

    def test_two_people_without_an_officer_do_not_relax_what_the_law_says(self, ledger):
        with pytest.raises(PolicyError, match="signed by bo, di of"):
            self.adopts(ledger, self.relaxed(), BO, DI)

    def test_one_key_is_one_person_whatever_the_policy_calls_it(self, folder, clock):
        """A policy that an earlier version took: the officer stands in it under two names."""
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        twin = Person(name="cy2", roles=("steward", "ethics-board"), key=PEOPLE[2].key)
        twice = Workflow(people=(*PEOPLE, twin))
        ledger.desk.adopt(LINEAGE, policy=replace(with_people(*CAPS), workflow=twice))
        new = self.relaxed(workflow=twice)
        with pytest.raises(PolicyError, match="2 people"):
            self.adopts(ledger, new, CY)
        self.adopts(ledger, new, BO)
        assert ledger.desk.policy(LINEAGE).policy == new
        ledger.close()

    def test_the_policy_in_force_says_who_signs_and_not_the_one_to_be_adopted(self, ledger):
        """The new version asks for nobody, and makes the analyst an officer."""
        people = (*PEOPLE[1:], replace(PEOPLE[0], roles=("privacy-officer", "steward")))
        new = self.relaxed(tiers=(), releases=(), workflow=Workflow(people=people))
        with pytest.raises(PolicyError, match="signed by nobody of"):
            self.adopts(ledger, new, ADA)
        with pytest.raises(PolicyError, match="signed by cy of"):
            self.adopts(ledger, new, CY)

    def test_as_many_sign_as_the_strictest_tier_in_force_asks_for(self, folder, clock):
        ledger = self.open(folder, clock)
        ledger.register(uncapped())
        strict = (replace(TIERS[0], needed=3), *TIERS[1:])
        second = SiteKey(b"S" * 32)
        steward = Person(name="em", roles=("steward",), key=second.public_key.hex())
        workflow = Workflow(people=(*PEOPLE, steward))
        in_force = replace(with_people(*CAPS), tiers=strict, workflow=workflow)
        ledger.desk.adopt(LINEAGE, policy=in_force)
        new = self.relaxed(tiers=strict, workflow=workflow)
        with pytest.raises(PolicyError, match="3 of steward, privacy-officer, ethics-board"):
            self.adopts(ledger, new, CY, BO)
        with pytest.raises(PolicyError, match="signed by bo, cy, em of"):  # of two roles
            self.adopts(ledger, new, second)
        self.adopts(ledger, new, DI)
        ledger.close()

    def test_who_asks_signs_no_relaxation(self, ledger):
        """The steward has a request open; once it is sent back, their word counts again."""
        new = self.relaxed()
        number = ledger.desk.submit(asks("routine"), signer=BO).number
        with pytest.raises(PolicyError, match="signed by cy of"):
            self.adopts(ledger, new, BO, CY)
        ledger.desk.decide(number, verdict=Verdict.REJECT, signer=CY, reason="not now")
        self.adopts(ledger, new)

    def test_who_asked_under_an_earlier_version_signs_again(self, ledger):
        """Nobody can close a request that lapsed, so it is not open."""
        ledger.desk.submit(asks("routine"), signer=BO)
        self.adopts(ledger, with_people(*CAPS, version=2), CY)
        self.adopts(ledger, replace(self.relaxed(), version=3), BO, CY)

    def test_who_asked_where_nobody_decides_signs(self, ledger):
        """Nobody can close a request in a tier without approvals, and it admits nothing."""
        ledger.desk.submit(asks("open"), signer=BO)
        self.adopts(ledger, self.relaxed(), BO, CY)

    def test_one_officer_does_not_name_friends_who_then_sign(self, ledger):
        friend = Person(
            name="friend",
            roles=("steward", "ethics-board"),
            key=SiteKey(b"G" * 32).public_key.hex(),
        )
        new = replace(with_people(*CAPS, version=2), workflow=Workflow(people=(*PEOPLE, friend)))
        with pytest.raises(PolicyError, match="who decides is changed"):
            self.adopts(ledger, new, CY)
        self.adopts(ledger, new, DI)

    def test_a_cap_that_is_no_longer_the_laws_is_relaxed_like_one(self, ledger):
        house = replace(LAW, basis=Basis.INTERNAL)
        new = with_people(LIFE, YEAR, ROLLING, house, version=2)
        with pytest.raises(PolicyError, match="no longer said to be the law's"):
            self.adopts(ledger, new, CY)
        self.adopts(ledger, new, BO)

    def test_a_signature_under_a_version_is_of_one_place(self, ledger):
        officer, new = Recorder(), with_people(*CAPS, version=2, expires_after_days=10)
        ledger.desk.endorse(LINEAGE, policy=new, signer=officer)
        with pytest.raises(LedgerFrozenError, match="signs no policy"):
            ledger.desk.endorse(LINEAGE, policy=new, signer=Copyist(CY, officer.signed[-1]))

    # --- how long an approval holds ---

    def stands(self, ledger, submission):
        return ledger.desk.stands(submission.number)[0]

    def test_a_row_from_the_future_makes_no_approval_immortal(self, ledger, clock):
        clock.move(days=26_000)
        ledger.desk.submit(asks("routine", note="stamped 2098"), signer=ADA)
        clock.move(days=-26_000)
        submission = approved(ledger, "routine", BO)
        assert self.stands(ledger, submission) is Standing.APPROVED
        clock.move(days=31)
        assert self.stands(ledger, submission) is Standing.EXPIRED
        with pytest.raises(ApprovalMissingError, match="has expired"):
            spend(ledger, nano=TENTH, tier="routine")

    def test_a_row_from_the_future_ends_the_approvals_before_it(self, ledger, clock):
        submission = approved(ledger, "routine", BO)
        clock.move(days=26_000)
        ledger.desk.submit(asks("routine", note="stamped 2098"), signer=ADA)
        clock.move(days=-26_000)
        assert self.stands(ledger, submission) is Standing.EXPIRED
        ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)
        spend(ledger, nano=TENTH, tier="routine")
        ledger.verify_chain()

    def test_an_approval_given_in_the_future_does_not_hold_today(self, ledger, clock):
        clock.move(days=26_000)
        submission = approved(ledger, "routine", BO)
        clock.move(days=-26_000)
        assert self.stands(ledger, submission) is Standing.EXPIRED
        with pytest.raises(ApprovalMissingError, match="has expired"):
            spend(ledger, nano=TENTH, tier="routine")

    def test_a_clock_put_back_does_not_renew_what_the_chain_has_seen_expire(self, ledger, clock):
        submission = approved(ledger, "routine", BO)
        clock.move(days=40)
        ledger.desk.submit(asks("critical", note="a month later"), signer=ADA)
        clock.move(days=-39)
        assert self.stands(ledger, submission) is Standing.EXPIRED
        with pytest.raises(ApprovalMissingError, match="has expired"):
            spend(ledger, nano=TENTH, tier="routine")

    # --- tiers and requests ---

    def bounded(self, ledger):
        bounded = replace(
            TIERS[2], ceiling=Limit(epsilon=LAW.limit.epsilon / 4), audience=("internal",)
        )
        new = replace(with_people(*CAPS, version=2), tiers=(*TIERS[:2], bounded))
        self.adopts(ledger, new, CY, BO)

    def test_a_tier_takes_no_release_past_its_ceiling_or_for_others(self, ledger):
        self.bounded(ledger)
        inside = '{"dataset":{},"study":{"audience":"internal","id":"s"}}'
        public = '{"dataset":{},"study":{"id":"s"}}'
        with pytest.raises(PolicyError, match="audience internal; the study is for public"):
            spend(ledger, nano=TENTH, plan_json=public)
        with pytest.raises(PolicyError, match=r"up to ε=0\.1; this one costs ε=0\.100000001"):
            spend(ledger, nano=TENTH + 1, plan_json=inside)
        with pytest.raises(PolicyError, match="none that it names"):
            spend(ledger, nano=TENTH, plan_json="{}")
        spend(ledger, nano=TENTH, plan_json=inside)
        spend_again = asks("open", note="x")
        with pytest.raises(PolicyError, match="audience internal"):
            ledger.desk.submit(spend_again, signer=ADA)
        ledger.verify_chain()

    def test_taking_a_ceiling_away_is_a_change_of_who_decides(self, ledger):
        self.bounded(ledger)
        new = with_people(*CAPS, version=3)
        with pytest.raises(PolicyError, match="who decides is changed"):
            self.adopts(ledger, new, CY)

    def test_what_no_cap_admits_is_refused_when_it_is_asked_for(self, ledger):
        head = ledger.head()
        dear = replace(asks("routine"), amount=Amount(nano=3 * TENTH + 1, atto=0))
        with pytest.raises(BudgetExhaustedError, match="cap year"):
            ledger.desk.submit(dear, signer=ADA)
        assert ledger.head() == head
        fits = replace(dear, amount=Amount(nano=3 * TENTH, atto=0))
        ledger.desk.submit(fits, signer=ADA)
        ledger.verify_chain()
