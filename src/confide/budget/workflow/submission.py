"""A request for a release as the chain holds it: what is asked, by whom, and what was decided.

::

    draft ──► previewed ──► submitted ──► approved ──► charged ──► run ──► published
    (files)   (confide plan)    │            │                      └──► withheld
                                ├─► changes asked (a new request revises it)
                                ├─► rejected
                                └─► expired, or lapsed with its policy

Whoever asks or decides signs with their own Ed25519 key, whose public half stands in the policy's
``workflow: {people}``.  A signature covers what is said, the number of its row and the hash of the
row before, so it fits one place in one chain.

*Privacy:* made of plans, names and dates; nothing here has seen a row.
"""

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confide.budget.chain.chain import canonical, is_valid
from confide.privacy.amount import Amount, InLanes

_REQUEST = b"confide request 1\n"  # a signature of one kind is a signature of no other
_DECISION = b"confide decision 1\n"
_PLACE = b"confide place 1\n"
HEAD = "head"
"""Field of a row that says of which head its signature is: the hash of the row before it."""


class Verdict(enum.Enum):
    """What somebody decides."""

    APPROVE = "approve"
    ASK_CHANGES = "ask-changes"
    REJECT = "reject"
    WITHHOLD = "withhold"


class Standing(enum.Enum):
    """Where a request stands."""

    SUBMITTED = "submitted"
    CHANGES_ASKED = "changes-asked"
    REJECTED = "rejected"
    LAPSED = "lapsed"
    EXPIRED = "expired"
    APPROVED = "approved"
    CHARGED = "charged"
    RUN = "run"
    BURNED = "burned"
    PUBLISHED = "published"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One signed decision.

    Attributes:
        person: Name in the policy.
        role: In which it was made.
        verdict: What.
        reason: Why; "" only of an approval.
        at: Ledger time.
        clock: What the clock showed, which is less where it had been ahead before.
        number: Of its row.
    """

    person: str
    role: str
    verdict: Verdict
    reason: str
    at: str
    clock: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody asks to be allowed to run.

    Attributes:
        lineage: Of the data.
        plan_digest: Of the plan; approvals bind to it.
        plan_json: The plan, for those who decide.
        tier: Importance that the study claims.
        project: To which it belongs; "" to none.
        release: Planned release of the policy that it is; "" for none.
        note: For those who decide.
        revises: Request that it takes the place of; 0 for none.
        amount: What it would cost.
    """

    lineage: str
    plan_digest: str
    plan_json: str
    tier: str
    project: str = ""
    release: str = ""
    note: str = ""
    revises: int = 0
    amount: Amount | None = None

    def to_fields(self) -> dict[str, str]:
        """Return it as it stands in the chain."""
        fields = {
            "lineage": self.lineage,
            "plan-digest": self.plan_digest,
            "plan": self.plan_json,
            "tier": self.tier,
            "project": self.project,
            "release": self.release,
            "note": self.note,
            "revises": str(self.revises),
        }
        if self.amount is not None:
            fields["nano"] = str(self.amount.nano)
            fields["delta-atto"] = str(self.amount.atto)
            if self.amount.lanes is not None:
                fields["lanes"] = canonical(self.amount.lanes.to_fields())
        return fields


def asked_of(fields: dict[str, Any]) -> Asked:
    """Return what :meth:`Asked.to_fields` wrote."""
    return Asked(
        lineage=fields["lineage"],
        plan_digest=fields["plan-digest"],
        plan_json=fields["plan"],
        tier=fields["tier"],
        project=fields["project"],
        release=fields["release"],
        note=fields["note"],
        revises=int(fields["revises"]),
        amount=_amount_of(fields),
    )


def _amount_of(fields: dict[str, Any]) -> Amount | None:
    if "nano" not in fields:
        return None
    lanes = InLanes.of_fields(json.loads(fields["lanes"])) if "lanes" in fields else None
    return Amount(nano=int(fields["nano"]), atto=int(fields["delta-atto"]), lanes=lanes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One request.

    Attributes:
        number: Of its row.
        hash: Of its row; decisions sign it.
        at: Ledger time.
        requester: Name in the policy.
        asked: What.
        policy: Digest of the version under which it was submitted.
        version: Of that policy.
        decisions: In order.
        entry: Entry that was charged under it; 0 while none is.
    """

    number: int
    hash: str
    at: str
    requester: str
    asked: Asked
    policy: str
    version: int
    decisions: tuple[Decision, ...] = ()
    entry: int = 0


def request_message(asked: Asked, *, requester: str, policy: str) -> bytes:
    """Return what a requester signs."""
    body = {**asked.to_fields(), "requester": requester, "policy-sha256": policy}
    return _REQUEST + canonical(body).encode()


def decision_message(
    *, about: str, place: int, verdict: Verdict, person: str, role: str, reason: str
) -> bytes:
    """Return what somebody who decides signs.

    Args:
        about: Hash of the row that it is about: a request, or the entry of an answer.
        place: How many decisions about it came before.
        verdict: What is decided.
        person: Who.
        role: As what.
        reason: Why.
    """
    body = {
        "about": about,
        "place": str(place),
        "verdict": verdict.value,
        "person": person,
        "role": role,
        "reason": reason,
    }
    return _DECISION + canonical(body).encode()


def in_its_place(message: bytes, fields: Mapping[str, Any], *, number: int) -> bytes:
    """Return what is signed by somebody who sees the head that a row names, and no other.

    So a signature serves in one row: neither a second time, nor after an older ledger was put back.
    """
    place = {"number": str(number), HEAD: fields[HEAD]}
    return _PLACE + canonical(place).encode() + b"\n" + message


def is_signature(key: str, *, message: bytes, signature: str) -> bool:
    """Return whether an Ed25519 signature, in hex, is by a public key, in hex."""
    return is_valid(key.removeprefix("ed25519:"), message=message, signature=signature)
