"""The form of the certificate of a release made of earlier ones, in which nothing is charged."""

from typing import Literal

from pydantic import ConfigDict

from confide.release.certificate.form import FIRST_VERSION
from confide.release.certificate.parts import (
    CertificatePart,
    DataPart,
    FilePart,
    IssuerPart,
    Noun,
    PromisePart,
    Sha256,
    SignaturePart,
    SoftwarePart,
    StudyPart,
    WhomPart,
)


class ReusedReleasePart(StudyPart):
    """What the release is for."""

    product: Literal["post-processing"]


class SourceGuaranteePart(PromisePart):
    """What was promised of an earlier release."""

    entry: int


class ReusedGuaranteePart(WhomPart):
    """That nothing is lost beyond what the earlier releases cost."""

    spend: Literal["0"]
    because: str
    of_sources: list[SourceGuaranteePart]


class SourcePart(CertificatePart):
    """The ledger's row of an earlier release."""

    entry: int
    hash: Sha256
    released: str
    payload_sha256: Sha256


class TermPart(CertificatePart):
    """An earlier measurement of which an answer is made."""

    question: str
    entry: int
    measurement: str
    query_sha256: Sha256
    noise: Noun
    cells_in_a_sum: int | None = None


class AnswerPart(CertificatePart):
    """Of what the numbers of one statistic are made."""

    statistic: str
    from_: list[TermPart]


class ReusedStatedPart(CertificatePart):
    """What is the ledger's or the issuer's word; all else follows, and is rebuilt."""

    issuer: IssuerPart
    software: SoftwarePart
    sources: list[SourcePart]


class ReusedDerivedPart(CertificatePart):
    """What follows from the folder's files alone."""

    certificate: Literal["1"]
    id: str
    release: ReusedReleasePart
    data: DataPart
    guarantee: ReusedGuaranteePart
    answers: list[AnswerPart]
    outputs: list[FilePart]


class ReusedForm(ReusedDerivedPart, ReusedStatedPart):
    """A certificate of a release made of earlier ones."""

    model_config = ConfigDict(
        title=f"Certificate of a release made of earlier ones, version {FIRST_VERSION}"
    )

    signature: SignaturePart
