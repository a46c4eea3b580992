"""A job: training or exchange that reads rows in its own code, planned and priced like a study.

A statistic hands the gate a vector to hide; a job reads bounded rows itself and adds its own noise,
so its plan states what it draws: events, each a mechanism, how far one privacy unit moves what it
hides, and how often it is used.  The loss follows from the events alone, so that ledger and
verifier compute it without knowing the job.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from confide.errors import ContractError
from confide.plans.canonical import Json, canonical_bytes, digest, encode
from confide.plans.events import JobEvent, job_events_json, total_loss
from confide.plans.plan import Study
from confide.plans.sites.federation import Federation
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, Amount
from confide.privacy.loss import PrivacyLoss, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import PrivacyUnit
from confide.tables.records import Records
from confide.tables.schema import Dataset

_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Job(Protocol):
    """What trains or exchanges: a frozen dataclass of exact public settings.

    Its canonical JSON stands in the plan, so every field is in the digest.
    """

    @property
    def kind(self) -> str:
        """Name of the kind: "dp-sgd", "pate"."""

    @property
    def reads(self) -> Records:
        """The bounded rows that it reads."""

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return what it draws; raises ContractError if the job does not suit the data set."""


@runtime_checkable
class JobOverSites(Protocol):
    """A job whose noisy vectors sites add up."""

    @property
    def federation(self) -> Federation:
        """The sites."""

    @property
    def protects_sites(self) -> bool:
        """Whether each site is protected with all its rows, and so each of its patients."""


def federation_of(job: Job) -> Federation | None:
    """Return the sites that run a job together; None of one that runs at one site."""
    return job.federation if isinstance(job, JobOverSites) else None


def _protects_sites(job: Job) -> bool:
    return isinstance(job, JobOverSites) and job.protects_sites


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A job, complete and priced, fixed before any row is read.

    Attributes:
        study: Why.
        dataset: Every public fact that it relies on.
        kind: Of the job.
        spec: The job's canonical JSON, as text.
        reads: The rows that it reads.
        events: What it draws.
        nano: Charge in 1e-9 of the measure's unit (ε or ρ).
        atto: Charge in 1e-18 of δ; 0 where no event needs it.
        version: Of this format; a field is never removed or redefined.
        federation: Sites that run it together; None of one site's own.
        protects_sites: Whether the loss is that of a site with all its rows, and so of each of its
            patients.
    """

    study: Study
    dataset: Dataset
    kind: str
    spec: str
    reads: Records
    events: tuple[JobEvent, ...]
    nano: int
    atto: int = 0
    version: int = 1
    federation: Federation | None = None
    protects_sites: bool = False

    def __post_init__(self) -> None:
        if not _KIND.fullmatch(self.kind):
            raise ContractError(f"Expected a kind of lower-case letters, got {self.kind[:40]!r}.")
        if not self.events:
            raise ContractError("The job draws no noise.", hint="State its events.")
        sampled = any(event.rate < 1 for event in self.events)
        if sampled and self.adjacency is not Adjacency.ADD_REMOVE:
            raise ContractError(
                "A job on Poisson samples is accounted for patients who are added or removed; of "
                "one who is replaced no bound is proved here.",
                hint="Write adjacency: add-remove, or rate 1: every patient in every step.",
            )

    @property
    def lineage(self) -> str:
        """What budgets follow."""
        return self.dataset.lineage

    @property
    def unit(self) -> PrivacyUnit:
        """Whose records are protected."""
        return self.dataset.unit

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are neighbours."""
        return self.dataset.adjacency

    @property
    def amount(self) -> Amount:
        """Both."""
        return Amount(nano=self.nano, atto=self.atto)

    @property
    def loss(self) -> PrivacyLoss:
        """The whole job's loss to any one privacy unit, as charged."""
        return self.amount.loss(self.dataset.measure)

    @property
    def events_json(self) -> str:
        """Canonical JSON of the events, which the ledger stores beside the charge."""
        delta = Fraction(self.atto, ATTO)
        return job_events_json(self.events, measure=self.dataset.measure, delta=delta)

    def to_json(self) -> Json:
        """Return the plan as JSON; :func:`confide.statistics.read_job` reads it back."""
        return encode(self)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON of every field."""
        return digest(self.to_json())


def plan_job(job: Job, *, study: Study, dataset: Dataset, delta: Fraction = Fraction(0)) -> JobPlan:
    """Return the priced plan of a job; reads and charges nothing.

    Args:
        job: What is to be run.
        study: Why.
        dataset: Public facts.
        delta: Charged where an event has no loss without one; 0 refuses such events.

    Raises:
        ContractError: If the job does not suit the data set.
        UnsupportedError: If an event needs a δ and none is given.
    """
    events = job.events(dataset)
    cost = Amount.of(_least_loss(events, measure=dataset.measure, delta=delta))
    return JobPlan(
        study=study,
        dataset=dataset,
        kind=job.kind,
        spec=spec_of(job),
        reads=job.reads,
        events=events,
        nano=cost.nano,
        atto=cost.atto,
        federation=federation_of(job),
        protects_sites=_protects_sites(job),
    )


def _least_loss(events: tuple[JobEvent, ...], *, measure: Measure, delta: Fraction) -> PrivacyLoss:
    """Return the least charge; under zCDP it may be the one without δ."""
    loss = job_loss(events, measure=measure, delta=delta)
    if isinstance(loss, ZeroConcentratedDP) and loss.delta:
        whole = job_loss(events, measure=measure)
        return whole if isinstance(whole, ZeroConcentratedDP) and whole.rho <= loss.rho else loss
    return loss


def spec_of(job: Job) -> str:
    """Return the canonical JSON text of a job's settings."""
    return canonical_bytes(encode(job)).decode()


def job_loss(
    events: tuple[JobEvent, ...], *, measure: Measure, delta: Fraction = Fraction(0)
) -> PrivacyLoss:
    """Return the loss of all events of a job together; arguments and errors of ``total_loss``."""
    return total_loss(tuple(each.event for each in events), measure=measure, delta=delta)


def require_sound_job(plan: JobPlan, *, job: Job) -> None:
    """Refuse a plan that is not the job's, or costs more than it says.

    Raises:
        ContractError: Before anything is read or charged.
    """
    stated = (
        plan.kind,
        plan.spec,
        plan.reads,
        plan.events,
        plan.federation,
        plan.protects_sites,
    )
    same = stated == (
        job.kind,
        spec_of(job),
        job.reads,
        job.events(plan.dataset),
        federation_of(job),
        _protects_sites(job),
    )
    if not same:
        raise ContractError(
            "The plan is not the one of this job.",
            hint="Plan the job again; a plan is not edited by hand.",
        )
    if job_underpriced(plan):
        raise ContractError(
            "The plan charges less than the job loses.",
            hint="Plan the job again; a plan is not edited by hand.",
        )


def job_underpriced(plan: JobPlan) -> bool:
    """Return whether the events of a plan lose more than it charges."""
    delta = Fraction(plan.atto, ATTO)
    loss = job_loss(plan.events, measure=plan.dataset.measure, delta=delta)
    return not plan.amount.covers(Amount.of(loss))
