"""Every kind of job, listed once, and how its settings are read back, for verifiers."""

import json
from collections.abc import Mapping

from confide.errors import ConfideError, ContractError
from confide.jobs.federated.training.fedavg import FedAvg
from confide.jobs.federated.training.spec import DPSGDOverSites
from confide.jobs.kind import JobKind
from confide.jobs.learning.dp_sgd import DPSGD
from confide.jobs.learning.pate.job import Pate
from confide.jobs.linkage.spec import Linkage
from confide.jobs.synthesis.acceptance.check import SynthesisCheck
from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.jobs.synthesis.spec import Synthesis
from confide.plans.canonical import Json, decode
from confide.plans.job import Job, JobPlan
from confide.release.jobs.job_rounds import InParts
from confide.statistics import NAMES


def registered(*kinds: JobKind) -> tuple[JobKind, ...]:
    """Return kinds of which no two have one name.

    Raises:
        ContractError: If two have.
    """
    if len({kind.name for kind in kinds}) != len(kinds):
        raise ContractError("Two kinds of jobs have one name.")
    return kinds


KINDS = registered(
    JobKind(spec=DPSGD, runner="confide.jobs.learning.module_training:ModuleTraining"),
    JobKind(spec=DPSGDOverSites, runner="confide.jobs.federated.training.rounds:TrainingRounds"),
    JobKind(spec=FedAvg, runner="confide.jobs.federated.training.rounds:AveragingRounds"),
    JobKind(spec=Pate, runner="confide.jobs.learning.pate.job:Pate"),
    JobKind(spec=Synthesis, runner="confide.jobs.synthesis.measuring:Measuring"),
    JobKind(
        spec=Linkage,
        runner="confide.jobs.linkage.spec:Linkage",
        numbers="confide.jobs.linkage.numbers:told_rows",
    ),
    JobKind(spec=DeepSynthesis, runner="confide.jobs.synthesis.deep.training:DeepTraining"),
    JobKind(spec=SynthesisCheck, runner="confide.jobs.synthesis.acceptance.compared:CheckRunner"),
)
"""In the order in which they are told."""


def in_parts(job: Job, *, plan: JobPlan) -> InParts:
    """Return what runs a job in parts, of a kind that needs nothing but its plan.

    Raises:
        MissingExtraError: If an optional library is needed and not there.
    """
    kind = next(each for each in KINDS if each.name == job.kind)
    found: InParts = kind.runs(job, plan=plan)
    return found


def tells_numbers(kind: str) -> bool:
    """Return whether what a job of a kind releases can be told as rows of numbers."""
    return any(each.name == kind and each.numbers for each in KINDS)


def told_numbers(plan: JobPlan, files: Mapping[str, bytes]) -> tuple[tuple[str, ...], ...]:
    """Return heads and rows of what a job released, of a kind that tells numbers.

    Args:
        plan: Of the job.
        files: Contents by name.

    Raises:
        ContractError: If the plan's settings cannot be read.
        VerificationError: If the files are not of this job.
    """
    job = read_spec(plan.kind, plan.spec)
    if job is None:
        raise ContractError(f"The settings of a {plan.kind} cannot be read.")
    kind = next(each for each in KINDS if each.name == plan.kind)
    return kind.told(files, job=job, dataset=plan.dataset)


def read_spec(kind: str, text: str) -> Job | None:
    """Return the job that canonical JSON text describes; None where it is not known, or broken.

    Args:
        kind: Of the job.
        text: Its settings, as a plan holds them.
    """
    known = next((each.spec for each in KINDS if each.name == kind), None)
    if known is None:
        return None
    try:
        value: Json = json.loads(text)
        job: Job = decode(known, value, names=NAMES)
    except (ValueError, RecursionError, ConfideError):
        return None
    return job
