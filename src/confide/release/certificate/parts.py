"""Parts that certificates of every kind share, and what all parts are.

Who makes a certificate builds these, so what a part lacks is an error of types or of the model;
what is signed and written is their dump.  Numbers are texts, so that no reader rounds them; what is
not known is absent, never null.
"""

from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from confide.plans.canonical import Json
from confide.privacy.adjacency import Adjacency
from confide.privacy.individual import CapWindow
from confide.privacy.unit import Entity
from confide.release.certificate.signed_words import SignedText

_Word = TypeVar("_Word")

Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
LedgerId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Key: TypeAlias = Annotated[str, StringConstraints(pattern=r"^ed25519:[0-9a-f]{64}$")]
Decimal: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?$", max_length=60)
]
Exact: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+|/[0-9]+)?$", max_length=130)
]
"""A decimal or a ratio, such as 5000/833."""
Bytes64: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
Commit: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Audience: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(public|registered|internal)$")]
Noun: TypeAlias = dict[str, Any]
"""A noun of a plan in canonical JSON (:func:`confide.plans.canonical.encode`)."""
AsWord: TypeAlias = Annotated[_Word, Field(strict=False)]
"""A choice, which JSON holds as its word."""


def _kebab(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class CertificatePart(BaseModel):
    """An object without other members than those named; built by name, read by alias."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=_kebab,
        validate_by_alias=True,
        validate_by_name=True,
    )

    @classmethod
    def read(cls, value: Json) -> Self:
        """Return the part that JSON holds.

        Raises:
            ValueError: If it does not have this form.
        """
        return cls.model_validate(value, by_alias=True, by_name=False)

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in JSON."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON; what is not known is absent."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class IssuerPart(CertificatePart):
    """Who issues."""

    organisation: str
    contact: str
    key: Key


class SupersededPart(CertificatePart):
    """The release that this one replaces."""

    id: str
    payload_sha256: Sha256


class StudyPart(CertificatePart):
    """What a study says of itself."""

    study: str
    title: str
    purpose: str
    audience: Audience
    period: str
    region: str | None = None
    licence: str | None = None
    supersedes: SupersededPart | None = None


class PolicyPart(CertificatePart):
    """The policy in force."""

    id: str
    version: int
    sha256: Sha256


class DecisionPart(CertificatePart):
    """One decision on the request."""

    role: str
    decision: Literal["approved", "rejected"]
    at: str
    why: str | None = None


class AuthorityPart(CertificatePart):
    """Under what the release was allowed."""

    analyst: str
    request: str
    policy: PolicyPart | None = None
    legal_basis: list[str] | None = None
    decisions: list[DecisionPart] | None = None


class FactPart(CertificatePart):
    """A fact taken as public."""

    name: str
    value: str
    source: str


class CommitmentPart(CertificatePart):
    """A hiding commitment to the snapshot."""

    scheme: str
    value: Sha256


class DataPart(CertificatePart):
    """Which data."""

    dataset: str
    lineage: str
    snapshot: str
    facts_taken_as_public: list[FactPart]
    commitment: CommitmentPart | None = None


class LossPart(CertificatePart):
    """Parameters of a loss, of those that its measure has."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None


class SpendPart(LossPart):
    """A loss in one measure."""

    measure: Literal["pure", "approx", "zcdp"]


class EquivalentPart(CertificatePart):
    """The same loss in another measure."""

    measure: Literal["zcdp", "approx", "rdp", "odds"]
    via: str
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    factor: str | None = None
    per_order: str | None = None


class GroupPart(LossPart):
    """The loss of several privacy units together."""

    size: int
    measure: Literal["pure", "approx", "zcdp", "none"]


class PatientCapPart(CertificatePart):
    """A cap that is kept by leaving patients out."""

    cap: str
    window: AsWord[CapWindow]
    limit: Decimal
    enforced: Literal["by leaving patients out"]


class PatientsPart(CertificatePart):
    """That patients may be left out, and up to what; never who was, nor how many."""

    caps: list[PatientCapPart]
    in_words: SignedText


class WhomPart(CertificatePart):
    """Whom a promise protects, against what, and who is trusted."""

    unit: AsWord[Entity]
    adjacency: AsWord[Adjacency]
    trust: Literal["central", "sites"]


class PromisePart(WhomPart):
    """What is promised, in numbers."""

    spend: SpendPart
    equivalent: SpendPart
    membership_advantage: Decimal
    groups: list[GroupPart]
    patients: PatientsPart | None = None


class ExplainedPart(PromisePart):
    """What is promised, in other measures and in words as well."""

    equivalents: list[EquivalentPart]
    not_protected: list[SignedText]
    in_words: SignedText


class ChargePart(CertificatePart):
    """What one cap was charged."""

    scope: str
    amount: Decimal
    before: Decimal
    after: Decimal
    cap: Decimal
    id: str | None = None
    order: int | None = None
    epsilon: Decimal | None = None


class AccountingPart(CertificatePart):
    """The ledger's row."""

    entry: int
    previous: Sha256
    hash: Sha256
    composition: str
    payload_sha256: Sha256
    charges: list[ChargePart]
    continues: int | None = None
    ledger: LedgerId | None = None


class MovedPart(CertificatePart):
    """How far one privacy unit moves what is hidden."""

    l1: Exact
    l2_squared: Exact
    because: str


class FilePart(CertificatePart):
    """One published file."""

    path: str
    sha256: Sha256


class SoftwarePart(CertificatePart):
    """What made the release."""

    name: str
    version: str
    source_sha256: Sha256
    python: str
    lock_sha256: Sha256
    libraries: dict[str, str]
    checks: list[str]
    commit: Commit | None = None


class SignaturePart(CertificatePart):
    """Over everything else."""

    alg: Literal["Ed25519"]
    key: Key
    over: str
    value: Bytes64


class StatedPart(CertificatePart):
    """What is the ledger's or the issuer's word; all else follows, and is rebuilt."""

    id: str
    issued: str
    issuer: IssuerPart
    authority: AuthorityPart
    accounting: AccountingPart
    software: SoftwarePart
