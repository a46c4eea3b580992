"""The docket: requests, decisions and endorsements that the rows of the chain add up to.

A pure fold, part of the book.  A decision that its rules do not allow, or that its person did not
sign, freezes the ledger like a charge past a cap.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from confide.budget.chain.chain import Event
from confide.budget.chain.readings import Moment
from confide.budget.chain.signatures import Require, Signature
from confide.budget.ledger import Entry
from confide.budget.policy.adoption import Adopted
from confide.budget.policy.policy import Person
from confide.budget.workflow.acts import act_message, signers_of
from confide.budget.workflow.filed import Submissions
from confide.budget.workflow.rules import (
    READER,
    PolicyClaim,
    Refused,
    admitted,
    audience_of,
    audience_problem,
    ceiling_problem,
    decision_problem,
    is_open,
    may_withhold,
    named_problem,
    person_of,
    standing,
)
from confide.budget.workflow.submission import (
    Asked,
    Decision,
    Submission,
    Verdict,
    asked_of,
    decision_message,
    in_its_place,
    request_message,
)
from confide.errors import LedgerFrozenError


@dataclass(slots=True)
class Docket:
    """Everything that people asked for and decided, over all lineages.

    Attributes:
        submissions: By number.
        endorsed: Keys that signed a policy, by lineage and its digest; with the number of the last
            row in which they did, and what the clock showed.
        withheld: Who decided that an answer is not delivered, and why, by the number of its entry.
    """

    submissions: Submissions = field(default_factory=Submissions)
    endorsed: dict[tuple[str, str], dict[str, tuple[int, str]]] = field(default_factory=dict)
    withheld: dict[int, Decision] = field(default_factory=dict)

    def of(self, lineage: str) -> Iterator[Submission]:
        """Yield the requests of a lineage, oldest first."""
        return (each for each in self.submissions.values() if each.asked.lineage == lineage)

    def endorsers(self, lineage: str, *, policy: str, days: int, now: Moment) -> frozenset[str]:
        """Return the keys that signed a policy to be adopted, no longer ago than so many days."""
        signed = self.endorsed.get((lineage, policy), {}).items()
        return frozenset(
            key
            for key, (number, given) in signed
            if not now.is_past(number=number, given=given, days=days)
        )

    def admit(
        self,
        claim: PolicyClaim,
        *,
        lineage: str,
        adopted: Adopted | None,
        charged_under: Callable[[int], Entry | None],
        now: Moment,
    ) -> int | Refused:
        """Return the request that admits a charge, 0 where none is needed, or why it is refused."""
        about = self.submissions.about(lineage, plan_digest=claim.plan_digest)
        unused = (each for each in about if charged_under(each.number) is None)
        return admitted(claim, adopted=adopted, unused=unused, now=now)

    def charge(self, number: int, *, entry: int) -> None:
        """Note that a request was used."""
        if number:
            self.submissions[number] = replace(self.submissions[number], entry=entry)

    def submit(
        self,
        fields: Mapping[str, Any],
        *,
        number: int,
        digest: str,
        adopted: Adopted,
        require: Require,
    ) -> None:
        """Take in a new request."""
        asked = asked_of(dict(fields))
        person = _person(adopted, fields["key"])
        problem = submission_problem(asked, person=person, adopted=adopted)
        if problem is not None:
            raise LedgerFrozenError(f"Row {number}: {problem.message}")
        message = request_message(asked, requester=person.name, policy=adopted.digest)
        message = in_its_place(message, fields, number=number)
        require(_signature(person, message=message, fields=fields, number=number))
        self.submissions[number] = Submission(
            number=number,
            hash=digest,
            at=fields["at"],
            requester=person.name,
            asked=asked,
            policy=adopted.digest,
            version=adopted.policy.version,
        )

    def decide(
        self,
        fields: Mapping[str, Any],
        *,
        number: int,
        adopted: Adopted,
        entry: Entry | None,
        now: Moment,
        require: Require,
    ) -> None:
        """Take in a decision about a request."""
        submission = self.submissions[int(fields["request"])]
        person, verdict = _person(adopted, fields["key"]), Verdict(fields["verdict"])
        role, reason = fields["role"], fields["reason"]
        problem = decision_problem(
            submission,
            policy=adopted.policy,
            person=person,
            role=role,
            verdict=verdict,
            stands=standing(submission, adopted=adopted, now=now, entry=entry),
            now=now,
        )
        if problem:
            raise LedgerFrozenError(f"Row {number}: {problem}.")
        message = decision_message(
            about=submission.hash,
            place=len(submission.decisions),
            verdict=verdict,
            person=person.name,
            role=role,
            reason=reason,
        )
        message = in_its_place(message, fields, number=number)
        require(_signature(person, message=message, fields=fields, number=number))
        made = _decision(person, verdict=verdict, fields=fields, number=number, now=now)
        self.submissions[submission.number] = replace(
            submission, decisions=(*submission.decisions, made)
        )

    def withhold(
        self,
        fields: Mapping[str, Any],
        *,
        number: int,
        adopted: Adopted,
        entry: Entry,
        now: Moment,
        require: Require,
    ) -> None:
        """Take in a decision not to deliver an answer."""
        person = _person(adopted, fields["key"])
        if may_withhold(adopted.policy, person) != fields["role"] or not fields["role"]:
            raise LedgerFrozenError(f"Row {number}: {person.name} may not withhold.")
        message = withhold_message(
            entry, person=person, role=fields["role"], reason=fields["reason"]
        )
        message = in_its_place(message, fields, number=number)
        require(_signature(person, message=message, fields=fields, number=number))
        self.withheld[entry.number] = _decision(
            person, verdict=Verdict.WITHHOLD, fields=fields, number=number, now=now
        )

    def endorse(
        self, fields: Mapping[str, Any], event: Event, *, adopted: Adopted, now: Moment
    ) -> None:
        """Take in a signature under a policy that is to be adopted."""
        lineage, digest = fields["lineage"], fields["policy-sha256"]
        message = act_message(fields["kind"], fields, number=event.number, previous=event.previous)
        keys = signers_of(fields, message=message)
        if fields["replaces"] != adopted.digest or not keys:
            raise LedgerFrozenError(f"Row {event.number} signs no policy that may take force.")
        for key in keys:
            person = _person(adopted, key)
            known = self.endorsed.setdefault((lineage, digest), {})
            known[person.key] = (event.number, now.reading)

    def askers(
        self,
        lineage: str,
        *,
        adopted: Adopted | None,
        charged_under: Callable[[int], Entry | None],
        now: Moment,
    ) -> frozenset[str]:
        """Return who has a request open, under which a charge may still be made."""
        return frozenset(
            each.requester
            for each in self.of(lineage)
            if is_open(each, adopted=adopted, now=now, entry=charged_under(each.number))
        )

    def forget_endorsements(self, lineage: str) -> None:
        """Let signatures lapse: they were about the version that has now been replaced."""
        self.endorsed = {key: keys for key, keys in self.endorsed.items() if key[0] != lineage}


def submission_problem(asked: Asked, *, person: Person, adopted: Adopted) -> Refused | None:
    """Return why somebody may not submit a request; None if they may."""
    if not set(person.roles) - {READER}:
        return Refused(
            message=f"{person.name} has no role in which to ask.",
            hint="The policy gives roles in workflow: {people: [...]}.",
        )
    if hashlib.sha256(asked.plan_json.encode()).hexdigest() != asked.plan_digest:
        return Refused(
            message="The plan that those who decide would see is not the one of its digest.",
            hint="Submit the file itself: confide request submit STUDY.yaml --key YOURS.key",
        )
    if not asked.tier:
        return Refused(
            message="The study names no tier, so nobody knows who decides.",
            hint="Write tier: under study: in study.yaml, or under synthesis: in synth.yaml.",
        )
    named = named_problem(
        adopted.policy, tier=asked.tier, project=asked.project, release=asked.release
    )
    nano = 0 if asked.amount is None else asked.amount.alone
    audience = audience_of(asked.plan_json)
    return (
        named
        or audience_problem(adopted.policy, tier=asked.tier, audience=audience)
        or ceiling_problem(adopted, tier=asked.tier, nano=nano)
    )


def withhold_message(entry: Entry, *, person: Person, role: str, reason: str) -> bytes:
    """Return what somebody signs who withholds an answer."""
    return decision_message(
        about=entry.hash,
        place=0,
        verdict=Verdict.WITHHOLD,
        person=person.name,
        role=role,
        reason=reason,
    )


def _decision(
    person: Person, *, verdict: Verdict, fields: Mapping[str, Any], number: int, now: Moment
) -> Decision:
    """Return what a row decides."""
    return Decision(
        person=person.name,
        role=fields["role"],
        verdict=verdict,
        reason=fields["reason"],
        at=now.at,
        clock=now.reading,
        number=number,
    )


def _person(adopted: Adopted, key: str) -> Person:
    person = person_of(adopted.policy, key)
    if person is None:
        raise LedgerFrozenError("Somebody decided whom the policy does not name.")
    return person


def _signature(
    person: Person, *, message: bytes, fields: Mapping[str, Any], number: int
) -> Signature:
    """Return what must hold for a row to be a person's word."""
    return Signature(
        key=person.key.removeprefix("ed25519:"),
        message=message,
        signature=str(fields["signature"]),
        wrong=f"Row {number} is not signed by {person.name}.",
    )
