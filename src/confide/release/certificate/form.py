"""The form of a certificate: which members it has, and what kind of value each is.

The JSON Schema of the documentation is generated from these models, and the verifier refuses what
does not have the form (:mod:`.form_check`).  Numbers are texts, so that no reader rounds them; what
is not known is absent, never null.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
)

from confide.release.certificate.signed_words import SignedText

VERSION = "1"

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


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Part(BaseModel):
    """An object without other members than those named."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=_kebab, validate_by_alias=True
    )


class IssuerPart(_Part):
    """Who issues."""

    organisation: str
    contact: str
    key: Key


class SupersededPart(_Part):
    """The release that this one replaces."""

    id: str
    payload_sha256: Sha256


class ReleasePart(_Part):
    """What the release is for."""

    study: str
    title: str
    purpose: str
    product: Literal["statistics"]
    audience: Literal["public", "registered", "internal"]
    period: str
    cadence: Literal["once", "repeated"]
    region: str | None = None
    licence: str | None = None
    supersedes: SupersededPart | None = None


class PolicyPart(_Part):
    """The policy in force."""

    id: str
    version: int
    sha256: Sha256


class DecisionPart(_Part):
    """One decision on the request."""

    role: str
    decision: Literal["approved", "rejected"]
    at: str
    why: str | None = None


class AuthorityPart(_Part):
    """Under what the release was allowed."""

    analyst: str
    request: str
    policy: PolicyPart | None = None
    legal_basis: list[str] | None = None
    decisions: list[DecisionPart] | None = None


class FactPart(_Part):
    """A fact taken as public."""

    name: str
    value: str
    source: str


class CommitmentPart(_Part):
    """A hiding commitment to the snapshot."""

    scheme: str
    value: Sha256


class DataPart(_Part):
    """Which data."""

    dataset: str
    lineage: str
    snapshot: str
    facts_taken_as_public: list[FactPart]
    commitment: CommitmentPart | None = None


class SpendPart(_Part):
    """A loss in one measure."""

    measure: Literal["pure", "approx", "zcdp"]
    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None


class EquivalentPart(_Part):
    """The same loss in another measure."""

    measure: Literal["zcdp", "approx", "rdp", "odds"]
    via: str
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    factor: str | None = None
    per_order: str | None = None


class GroupPart(_Part):
    """The loss of several privacy units together."""

    size: int
    measure: Literal["pure", "approx", "zcdp", "none"]
    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None


class BoundPart(_Part):
    """What one privacy unit may contribute, and to which measurements."""

    bound: str
    measurements: list[str]
    left_out: SignedText | None = None
    stops: SignedText | None = None


class PatientCapPart(_Part):
    """A cap that is kept by leaving patients out."""

    cap: str
    window: Literal["release", "calendar-year", "rolling-365d", "lifetime"]
    limit: Decimal
    enforced: Literal["by leaving patients out"]


class PatientsPart(_Part):
    """That patients may be left out, and up to what; never who was, nor how many."""

    caps: list[PatientCapPart]
    in_words: SignedText


class GuaranteePart(_Part):
    """What is promised."""

    unit: Literal["patient", "event", "edge"]
    adjacency: Literal["add-remove", "substitute"]
    trust: Literal["central"]
    spend: SpendPart
    equivalent: SpendPart
    membership_advantage: Decimal
    groups: list[GroupPart]
    contribution_bounds: list[BoundPart]
    equivalents: list[EquivalentPart]
    not_protected: list[SignedText]
    in_words: SignedText
    patients: PatientsPart | None = None


class PlanPart(_Part):
    """Which plan."""

    sha256: Sha256
    measurements: int


class ChargePart(_Part):
    """What one cap was charged."""

    scope: str
    amount: Decimal
    before: Decimal
    after: Decimal
    cap: Decimal
    id: str | None = None


class AccountingPart(_Part):
    """The ledger's row."""

    entry: int
    previous: Sha256
    hash: Sha256
    composition: str
    payload_sha256: Sha256
    charges: list[ChargePart]
    continues: int | None = None
    ledger: LedgerId | None = None


class SensitivityPart(_Part):
    """How far one privacy unit moves a measurement."""

    l1: Exact
    l2_squared: Exact
    linf: Exact
    unit: str
    because: str
    reach: Exact | None = None
    set_reach: Exact | None = None


class LawPart(_Part):
    """The noise, by family and scale."""

    family: Literal["discrete-laplace", "discrete-gaussian", "exponential-mechanism"]
    because: str
    scale: Exact | None = None
    scale_squared: Exact | None = None
    threshold: Exact | None = None


class AmountPart(_Part):
    """What a measurement was charged."""

    epsilon: Decimal | None = None
    rho: Decimal | None = None
    delta: Decimal | None = None


class MechanismPart(_Part):
    """One measurement."""

    name: str
    query: str
    query_sha256: Sha256
    sensitivity: SensitivityPart
    bounds: dict[str, Any]
    noise: dict[str, Any]
    law: LawPart
    sampler: str
    charge: AmountPart
    error: dict[str, str]
    tuning: str
    post_processing: list[str]


class ErrorPart(_Part):
    """How wrong a column is, as far as public facts tell."""

    bias: str
    median: str | None = None
    p95: str | None = None
    unit: str | None = None


class ColumnPart(_Part):
    """One column of a table."""

    name: str
    kind: Literal["key", "noisy", "derived", "public"]
    error: ErrorPart | None = None


class OutputPart(_Part):
    """One published file."""

    path: str
    sha256: Sha256
    columns: list[ColumnPart] | None = None
    published: bool | None = None


class LimitsPart(_Part):
    """What the numbers are fit for."""

    fit_for: list[str]
    not_fit_for: list[str]


class HazardPart(_Part):
    """Where the release stands on a hazard."""

    id: str
    status: Literal["handled", "accepted", "not-applicable", "open"]
    because: str


class CellPart(_Part):
    """What a house rule does to a cell of a true count."""

    true_count: Exact
    withheld: Decimal
    mistake: Decimal


class ExpectedPart(_Part):
    """The mistakes of a house rule in one measurement."""

    name: str
    cells: list[CellPart]


class SmallCellsPart(_Part):
    """The house rule for small cells."""

    rule: Literal["cms", "opensafely", "uk-llc", "acro"]
    least: Exact
    round_to: Exact
    source: str
    applied_to: str
    noisy_file: Literal["published", "withheld"]
    expected: list[ExpectedPart]


class SoftwarePart(_Part):
    """What made the release."""

    name: str
    version: str
    source_sha256: Sha256
    python: str
    lock_sha256: Sha256
    libraries: dict[str, str]
    checks: list[str]
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None


class SignaturePart(_Part):
    """Over everything else."""

    alg: Literal["Ed25519"]
    key: Key
    over: str
    value: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]


class CertificateForm(_Part):
    """A certificate of statistics."""

    certificate: Literal["1"]
    id: str
    issued: str
    issuer: IssuerPart
    release: ReleasePart
    authority: AuthorityPart
    data: DataPart
    guarantee: GuaranteePart
    plan: PlanPart
    accounting: AccountingPart
    mechanisms: list[MechanismPart] = Field(min_length=1)
    outputs: list[OutputPart] = Field(min_length=1)
    limits: LimitsPart
    hazards: list[HazardPart]
    small_cells: SmallCellsPart | None = None
    software: SoftwarePart
    signature: SignaturePart
