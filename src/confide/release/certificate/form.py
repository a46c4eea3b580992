"""The form of a certificate of statistics: which members it has, and what kind of value each is.

The JSON Schema of the documentation is generated from these models, a certificate is made of them,
and the verifier refuses what does not have the form (:mod:`.form_check`).
"""

import enum
from typing import Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from confide.plans.house_rule import HouseRule, NoisyFile
from confide.release.certificate.parts import (
    AsWord,
    CertificatePart,
    DataPart,
    Decimal,
    Exact,
    ExplainedPart,
    FilePart,
    Key,
    MovedPart,
    Noun,
    Sha256,
    SignaturePart,
    StatedPart,
    StudyPart,
)
from confide.release.certificate.signed_words import SignedText

FormVersion: TypeAlias = Literal["1", "2"]
VERSION: Final = "2"
FIRST_VERSION: Final = "1"
"""Of certificates that say neither ε of the release by itself nor why it has its noise."""


class HazardStatus(enum.Enum):
    """Where a release stands on a hazard."""

    HANDLED = "handled"
    ACCEPTED = "accepted"
    NOT_APPLICABLE = "not-applicable"
    OPEN = "open"


class ReleasePart(StudyPart):
    """What the release is for."""

    product: Literal["statistics"]
    cadence: Literal["once", "repeated"]


class BoundPart(CertificatePart):
    """What one privacy unit may contribute, and to which measurements."""

    bound: str
    measurements: list[str]
    left_out: SignedText | None = None
    stops: SignedText | None = None


class ByItselfPart(CertificatePart):
    """The loss of the release alone, where the laws of its noise say more than its charge."""

    epsilon: Exact
    delta: Exact
    via: str
    in_words: SignedText


class GuaranteePart(ExplainedPart):
    """What is promised."""

    contribution_bounds: list[BoundPart]
    by_itself: ByItselfPart | None = None
    noise_because: SignedText | None = None


class PlanPart(CertificatePart):
    """Which plan."""

    sha256: Sha256
    measurements: int


class SensitivityPart(MovedPart):
    """How far one privacy unit moves a measurement."""

    linf: Exact
    unit: str
    reach: Exact | None = None
    set_reach: Exact | None = None


class LawPart(CertificatePart):
    """The noise, by family and scale."""

    family: Literal[
        "discrete-laplace", "discrete-gaussian", "polya-difference", "exponential-mechanism"
    ]
    because: str
    scale: Exact | None = None
    scale_squared: Exact | None = None
    threshold: Exact | None = None
    shape: Exact | None = None


class AmountPart(CertificatePart):
    """What a measurement was charged."""

    epsilon: Decimal | None = None
    rho: Decimal | None = None
    delta: Decimal | None = None


class MechanismPart(CertificatePart):
    """One measurement."""

    name: str
    query: str
    query_sha256: Sha256
    sensitivity: SensitivityPart
    bounds: Noun
    noise: Noun
    law: LawPart
    sampler: str
    charge: AmountPart
    error: dict[str, str]
    tuning: str
    post_processing: list[str]


class ErrorPart(CertificatePart):
    """How wrong a column is, as far as public facts tell."""

    bias: str
    median: str | None = None
    p95: str | None = None
    unit: str | None = None


class ColumnPart(CertificatePart):
    """One column of a table."""

    name: str
    kind: Literal["key", "noisy", "derived", "public"]
    error: ErrorPart | None = None


class OutputPart(FilePart):
    """One published file."""

    columns: list[ColumnPart] | None = None
    published: bool | None = None


class LimitsPart(CertificatePart):
    """What the numbers are fit for."""

    fit_for: list[str]
    not_fit_for: list[str]


class HazardPart(CertificatePart):
    """Where the release stands on a hazard."""

    id: str
    status: AsWord[HazardStatus]
    because: str


class CellPart(CertificatePart):
    """What a house rule does to a cell of a true count."""

    true_count: Exact
    withheld: Decimal
    mistake: Decimal


class ExpectedPart(CertificatePart):
    """The mistakes of a house rule in one measurement."""

    name: str
    cells: list[CellPart]


class SmallCellsPart(CertificatePart):
    """The house rule for small cells."""

    rule: AsWord[HouseRule]
    least: Exact
    round_to: Exact
    source: str
    applied_to: str
    noisy_file: AsWord[NoisyFile]
    expected: list[ExpectedPart]


class MemberPart(CertificatePart):
    """A member of a federation, with the key that all others pin."""

    name: str
    key: Key


class SiteLossPart(CertificatePart):
    """What is lost to whom, or of whom."""

    to: str
    rho: Decimal | None = None
    epsilon: Decimal


class FederationPart(CertificatePart):
    """The sites whose sums were added, none of which was seen, and what that withstands."""

    coordinator: MemberPart
    sites: list[MemberPart] = Field(min_length=3)
    added: list[str] = Field(min_length=2)
    drops: int
    colluders: int
    threshold: int
    sites_per_person: int
    noise: str
    security: str
    losses: list[SiteLossPart]
    in_words: SignedText


class DerivedPart(CertificatePart):
    """What follows from payload, charges and commitment."""

    certificate: FormVersion
    release: ReleasePart
    data: DataPart
    guarantee: GuaranteePart
    plan: PlanPart
    mechanisms: list[MechanismPart] = Field(min_length=1)
    outputs: list[OutputPart] = Field(min_length=1)
    limits: LimitsPart
    hazards: list[HazardPart]
    small_cells: SmallCellsPart | None = None
    federation: FederationPart | None = None


class CertificateForm(DerivedPart, StatedPart):
    """A certificate of statistics."""

    model_config = ConfigDict(title=f"Certificate of a release, version {VERSION}")

    signature: SignaturePart
