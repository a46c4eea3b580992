"""The authority of a release: under which policy and legal basis, and who decided."""

from dataclasses import dataclass

from confide.plans.canonical import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyNamed:
    """The version of a policy that was in force.

    Attributes:
        id: Name of the policy.
        version: Counts up from 1.
        sha256: Its digest.
    """

    id: str
    version: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundDecision:
    """One decision on a request, bound to its plan.

    Attributes:
        role: In which it was taken.
        decision: "approved" or "rejected".
        at: UTC, RFC 3339.
        why: As written; may be empty.
    """

    role: str
    decision: str
    at: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """Under what a release was allowed; empty where no policy is in force.

    Attributes:
        policy: None where there is none.
        legal_basis: As declared for the site: "GDPR 6(1)(e)".
        decisions: In the order they were taken.
    """

    policy: PolicyNamed | None = None
    legal_basis: tuple[str, ...] = ()
    decisions: tuple[BoundDecision, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what a certificate says of it; what is not known is absent."""
        body: dict[str, Json] = {}
        if self.policy is not None:
            body["policy"] = {
                "id": self.policy.id,
                "version": self.policy.version,
                "sha256": self.policy.sha256,
            }
        if self.legal_basis:
            body["legal-basis"] = list(self.legal_basis)
        if self.decisions:
            body["decisions"] = [
                {"role": each.role, "decision": each.decision, "at": each.at}
                | ({"why": each.why} if each.why else {})
                for each in self.decisions
            ]
        return body


NO_AUTHORITY = Authority()
"""Where no policy is in force."""
