"""The desk of a ledger: where people adopt policies, confirm days, ask and decide.

Each call is one transaction of the journal with one row of the chain.  What it checks, the book
checks again when it takes in the row, so that nobody can write past the rules.

*Privacy:* reads no data.  Nothing here gives back what was spent, but for the days that an officer
confirms, after which rolling windows let go of what they no longer hold.
"""

from confide.budget.accounts.required_terms import require_policy_terms
from confide.budget.chain.chain import Signer
from confide.budget.consent_desk import ConsentDesk
from confide.budget.journal import Journal
from confide.budget.ledger import Entry
from confide.budget.lengths import require_reason
from confide.budget.policy.adoption import Adopted, adopted
from confide.budget.policy.policy import Person, Policy
from confide.budget.refusals import exhausted, require_day, uncapped, undecided
from confide.budget.requester import requester
from confide.budget.workflow.acts import SIGNED, Officers, act_message, signatures
from confide.budget.workflow.docket import submission_problem, withhold_message
from confide.budget.workflow.rules import (
    PolicyClaim,
    Refused,
    decision_problem,
    may_withhold,
    missing,
    person_of,
    standing,
    tier_of,
)
from confide.budget.workflow.submission import (
    HEAD,
    Asked,
    Standing,
    Submission,
    Verdict,
    decision_message,
    in_its_place,
    request_message,
)
from confide.errors import PolicyError, UnknownNameError


class Desk:
    """What people do with a ledger; every backend has one, as ``ledger.desk``."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.consent = ConsentDesk(journal)

    def policy(self, lineage: str) -> Adopted | None:
        """Return the policy in force; None where caps of dataset.yaml hold, or nothing does."""
        with self._journal.transaction():
            account = self._journal.book.accounts.get(lineage)
            return None if account is None else account.policy

    def version(self, lineage: str, *, digest: str) -> Adopted:
        """Return a policy that was adopted, in force or replaced."""
        with self._journal.transaction():
            versions = self._journal.book.account(lineage).versions
            if digest not in versions:
                raise UnknownNameError("policy", digest, known=versions)
            return versions[digest]

    def adopt(
        self, lineage: str, *, policy: Policy, reason: str = "", officers: Officers = ()
    ) -> None:
        """Let a version of a policy hold from now on; the same one again changes nothing.

        Its people then have a say in what concerns the whole ledger.  So where other lineages have
        policies that name people, and this one has none, ``officers`` are keys of theirs.

        Raises:
            MismatchError: If unit, adjacency or measure are not those of the lineage.
            PolicyError: If it is not the next version, its day has not come, or it allows more than
                before without the reason or the signatures that this needs.
        """
        with self._journal.transaction():
            book = self._journal.book
            account = book.account(lineage)
            require_policy_terms(account.terms, policy=policy)
            new = adopted(policy)
            if account.policy is not None and account.policy.digest == new.digest:
                return
            today = self._journal.now().date().isoformat()
            if today < policy.effective:
                raise PolicyError(
                    f"Version {policy.version} is effective from {policy.effective}, and the clock "
                    f"shows {today}.",
                    hint="Adopt it on that day; the present one holds until then.",
                )
            moment = self._journal.moment()
            found = book.adoption_problem(account, new, reason=reason, now=moment)
            if found is not None:
                raise PolicyError(found.message, hint=found.hint)
            self._journal.append(
                "policy-adopted", officers, lineage=lineage, reason=reason, **new.to_fields()
            )
            self._journal.store.write_counters(self._journal.book)

    def follow(self, lineage: str, *, policy: Policy) -> None:
        """Adopt a first policy before the first charge; later ones wait for an officer.

        Where lost rows let policies hold, the newest of them alone is such a first one.

        Raises:
            PolicyError: If another one is in force, or caps under which something was charged.
        """
        present = self.policy(lineage)
        if present is None:
            with self._journal.transaction():
                charged = self._journal.book.is_charged(lineage)
                account = self._journal.book.account(lineage)
                if account.awaited.versions and account.awaited.newest != policy.digest():
                    raise uncapped(account)
            if not charged:
                self.adopt(lineage, policy=policy, reason="first version, before any charge")
                return
        if present is None or present.digest != policy.digest():
            holds = "nothing but caps" if present is None else f"version {present.policy.version}"
            raise PolicyError(
                f"Policy {policy.id!r}, version {policy.version}, as written is not in force for "
                f"lineage {lineage!r}: {holds} is.",
                hint="Put the file back as it was adopted; or count `version` up, and let an "
                "officer adopt it: confide ledger adopt --reason ...",
            )

    def endorse(self, lineage: str, *, policy: Policy, signer: Signer) -> Person:
        """Sign a version of a policy that is to take the place of the one in force."""
        with self._journal.transaction():
            present = self._present(lineage)
            person = self._person(present, signer)
            digest = policy.digest()
            kind, book = "policy-endorsed", self._journal.book
            fields = {"lineage": lineage, "policy-sha256": digest, "replaces": present.digest}
            message = act_message(kind, fields, number=book.number + 1, previous=book.hash)
            self._journal.append(kind, **fields, **{SIGNED: signatures(message, by=(signer,))})
            return person

    def confirm_day(self, lineage: str, *, day: str, reason: str, officers: Officers = ()) -> None:
        """Record that today is ``day``; what left a rolling window by then may be spent again.

        An officer's act: ``officers`` are the keys of those who do it.

        Raises:
            PolicyError: If the clock shows another day, or it is not after the last one.
        """
        require_reason(reason, what="confirming a day")
        with self._journal.transaction():
            account = self._journal.book.account(lineage)
            today = self._journal.now().date().isoformat()
            last = account.rolling.days[-1] if account.rolling.days else ""
            require_day(day, today=today, last=last)
            said = {"lineage": lineage, "day": day, "reason": reason}
            self._journal.append("day-confirmed", officers, **said)
            self._journal.store.write_counters(self._journal.book)

    def note_access(
        self, lineage: str, *, patient: str, officer: str, reason: str, officers: Officers = ()
    ) -> None:
        """Record that an officer looks at one patient's spends; before they are shown.

        Args:
            lineage: Of the data.
            patient: Keyed hash of the person id; never the id.
            officer: Login of who looks.
            reason: Why.
            officers: Keys of those who look; needed where the policy in force names people.
        """
        require_reason(reason, what="looking at a patient's spends")
        with self._journal.transaction():
            self._journal.book.account(lineage)
            said = {"lineage": lineage, "patient": patient, "officer": officer, "reason": reason}
            self._journal.append("patient-shown", officers, **said)

    def submit(self, asked: Asked, *, signer: Signer) -> Submission:
        """Ask for approval of a plan; signed by whoever asks.

        Raises:
            BudgetExhaustedError: If it would pass a cap as it stands; nobody could run it.
            PolicyError: If no policy is in force, it does not name the signer, or the study's tier,
                project or planned release do not fit it.
        """
        with self._journal.transaction():
            present = self._present(asked.lineage)
            person = self._person(present, signer)
            refused = submission_problem(asked, person=person, adopted=present)
            if refused is not None:
                raise PolicyError(refused.message, hint=refused.hint)
            self._require_room(asked, person=person)
            if asked.revises:
                self._submission(asked.revises)
            message = request_message(asked, requester=person.name, policy=present.digest)
            event = self._journal.append(
                "submitted", **asked.to_fields(), **self._signed(message, by=signer)
            )
            return self._journal.book.docket.submissions[event.number]

    def decide(
        self, number: int, *, verdict: Verdict, signer: Signer, role: str = "", reason: str = ""
    ) -> Submission:
        """Approve a request, reject it or ask for changes; signed by whoever decides.

        Args:
            number: Of the request.
            verdict: Not ``WITHHOLD``: that is about an answer.
            signer: The person's own key.
            role: In which they decide; may be left out when the tier asks for one of theirs only.
            reason: Why; needed but for an approval.

        Raises:
            PolicyError: If they may not decide so.
        """
        if verdict is not Verdict.APPROVE:
            require_reason(reason, what=verdict.value)
        with self._journal.transaction():
            submission = self._submission(number)
            present = self._present(submission.asked.lineage)
            person = self._person(present, signer)
            role = role or self._only_role(submission, present, person)
            found = decision_problem(
                submission,
                policy=present.policy,
                person=person,
                role=role,
                verdict=verdict,
                stands=self._stands(submission),
                now=self._journal.moment(),
            )
            if found:
                raise undecided(found)
            message = decision_message(
                about=submission.hash,
                place=len(submission.decisions),
                verdict=verdict,
                person=person.name,
                role=role,
                reason=reason,
            )
            self._journal.append(
                "decided",
                lineage=submission.asked.lineage,
                request=str(number),
                verdict=verdict.value,
                role=role,
                reason=reason,
                **self._signed(message, by=signer),
            )
            return self._journal.book.docket.submissions[number]

    def withhold(self, entry: int, *, signer: Signer, reason: str) -> Entry:
        """Decide that an answer is not delivered; it stays stored, and charged.

        Raises:
            PolicyError: If there is no answer, or the signer may not withhold it.
        """
        require_reason(reason, what="withholding")
        with self._journal.transaction():
            held = self._journal.held(entry).entry
            present = self._present(held.lineage)
            person = self._person(present, signer)
            role = may_withhold(present.policy, person)
            if not role:
                raise undecided(f"{person.name} has no role in which answers are withheld")
            if not held.payload_sha256 or held.withheld:
                why = "is withheld already" if held.withheld else "has no answer"
                raise PolicyError(f"Entry {entry} {why}.", hint="See: confide ledger show")
            message = withhold_message(held, person=person, role=role, reason=reason)
            self._journal.append(
                "withheld",
                lineage=held.lineage,
                entry=str(entry),
                role=role,
                reason=reason,
                **self._signed(message, by=signer),
            )
            return self._journal.held(entry).entry

    def submissions(self, lineage: str) -> tuple[Submission, ...]:
        """Return the requests of a lineage, oldest first."""
        with self._journal.transaction():
            return tuple(self._journal.book.docket.of(lineage))

    def stands(self, number: int) -> tuple[Standing, tuple[str, ...]]:
        """Return where a request stands now, and the roles that may still approve."""
        with self._journal.transaction():
            submission = self._submission(number)
            stands = self._stands(submission)
            present = self._journal.book.account(submission.asked.lineage).policy
            if present is None or stands not in {Standing.SUBMITTED, Standing.EXPIRED}:
                return stands, ()
            return stands, missing(submission, policy=present.policy, now=self._journal.moment())

    def lapsed(self) -> int:
        """Return the row before which no approval counts: rows that are lost may have used it."""
        with self._journal.transaction():
            return self._journal.book.readings.lapsed

    def requester(self, lineage: str, *, claim: PolicyClaim, request_key: str) -> str:
        """Return for whom a plan is run; the claim's analyst where nobody else has approval."""
        with self._journal.transaction():
            now, book = self._journal.moment(), self._journal.book
            return requester(book, lineage, claim=claim, request_key=request_key, now=now)

    def admission(self, lineage: str, *, claim: PolicyClaim) -> int | Refused:
        """Return the request that would admit a charge now, 0 where none is needed, or why not."""
        with self._journal.transaction():
            now = self._journal.moment()
            return self._journal.book.admit(claim, lineage=lineage, now=now)

    def _require_room(self, asked: Asked, *, person: Person) -> None:
        """Refuse to ask for what the caps, as they stand, would refuse whoever approved it."""
        account = self._journal.book.account(asked.lineage)
        when = account.occasion(year=account.year, analyst=person.name, project=asked.project)
        if asked.amount is not None:
            refusal = exhausted(account, asked.amount, when=when)
            if refusal is not None:
                raise refusal

    def _signed(self, message: bytes, *, by: Signer) -> dict[str, str]:
        """Return a person's signature of the next row, in its place."""
        book = self._journal.book
        place = {HEAD: book.hash}
        signature = by.sign(in_its_place(message, place, number=book.number + 1))
        return {**place, "key": by.public_key.hex(), "signature": signature.hex()}

    def _present(self, lineage: str) -> Adopted:
        present = self._journal.book.account(lineage).policy
        if present is None:
            raise PolicyError(
                f"No policy was adopted for lineage {lineage!r}, so nobody has a role.",
                hint="Run: confide ledger adopt --reason ...",
            )
        return present

    def _person(self, present: Adopted, signer: Signer) -> Person:
        person = person_of(present.policy, signer.public_key.hex())
        if person is None:
            raise PolicyError(
                f"Policy {present.policy.id!r}, version {present.policy.version}, names nobody "
                "with this key.",
                hint="Add the person with their public key to workflow: {people: [...]}, and adopt "
                "the next version.",
            )
        return person

    def _submission(self, number: int) -> Submission:
        found = self._journal.book.docket.submissions.get(number)
        if found is None:
            raise UnknownNameError(
                "request", str(number), known=map(str, self._journal.book.docket.submissions)
            )
        return found

    def _only_role(self, submission: Submission, present: Adopted, person: Person) -> str:
        """Return the one role in which a person decides about a tier."""
        tier = tier_of(present.policy, submission.asked.tier)
        asked = () if tier is None else tier.approvals
        roles = [role for role in person.roles if role in asked]
        if len(roles) > 1:
            raise PolicyError(
                f"{person.name} may decide as {' or '.join(roles)}.", hint="Say which: --role ..."
            )
        return roles[0] if roles else ""

    def _stands(self, submission: Submission) -> Standing:
        book = self._journal.book
        return standing(
            submission,
            adopted=book.account(submission.asked.lineage).policy,
            now=self._journal.moment(),
            entry=book.charged_under(submission.number),
        )
