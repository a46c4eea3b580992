"""The form of the certificate of a job: instead of measurements it lists what the job drew."""

from typing import Final, Literal

from pydantic import ConfigDict, Field

from confide.release.certificate.form import FederationPart
from confide.release.certificate.parts import (
    CertificatePart,
    DataPart,
    Exact,
    ExplainedPart,
    FilePart,
    MovedPart,
    Noun,
    Sha256,
    SignaturePart,
    StatedPart,
    StudyPart,
)

JOB_VERSION: Final = "job-1"


class JobReleasePart(StudyPart):
    """What the job is for."""

    product: str
    cadence: Literal["once", "repeated"]


class JobGuaranteePart(ExplainedPart):
    """What is promised."""

    contribution_bounds: Noun


class JobPlanPart(CertificatePart):
    """Which plan, and the settings of the job."""

    sha256: Sha256
    kind: str
    spec: Noun


class EventPart(CertificatePart):
    """What was drawn."""

    name: str
    noise: Noun
    sensitivity: MovedPart
    uses: Exact
    reach: Exact | None = None
    poisson_sampling_rate: Exact | None = None
    sampler: str


class JobDerivedPart(CertificatePart):
    """What follows from the stored answer and the commitment."""

    certificate: Literal["job-1"]
    release: JobReleasePart
    data: DataPart
    guarantee: JobGuaranteePart
    plan: JobPlanPart
    reads: Noun
    events: list[EventPart] = Field(min_length=1)
    outputs: list[FilePart]
    federation: FederationPart | None = None


class JobForm(JobDerivedPart, StatedPart):
    """A certificate of a job."""

    model_config = ConfigDict(title=f"Certificate of a job, version {JOB_VERSION}")

    signature: SignaturePart
