"""A job: training or exchange that reads rows in its own code, planned and priced like a study.

A statistic hands the gate a vector to hide; a job reads bounded rows itself and adds its own noise,
so its plan states what it draws: events, each a mechanism, how far one privacy unit moves what it
hides, and how often it is used.  The loss follows from the events alone, so that ledger and
verifier compute it without knowing the job.

*Privacy:* events compose by addition: ε under ``pure`` where every event has a pure loss, ρ under
``zcdp`` [BS16, lem. 1.7].  Under ``pure`` Gaussian events have an ε at the plan's δ alone, and that
δ is charged beside it [CKS20, cor. 13].  Events on Poisson samples have an ε at that δ as well, by
Rényi divergences of whole orders (:mod:`confide.privacy.accounting.sampled_gaussian`); under
``zcdp`` they are charged as δ-approximate ρ-zCDP by the lemma there, or ε²/2 [BS16, sec. 8] where
that is less, or at δ = 0 as if nobody were left out of a sample.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
"""

import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, assert_never

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.canonical import Json, canonical_bytes, decode, digest, encode
from confide.plans.plan import Study, charged_loss
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.sampled_gaussian import (
    SampledSteps,
    sampled_epsilon,
    sampled_rho,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import PrivacyUnit
from confide.tables.records import Records
from confide.tables.schema import Dataset

JobNoise: TypeAlias = DiscreteGaussian | DiscreteLaplace
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MOST = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """One use of noise in a job, or the same use many times.

    Attributes:
        name: Of what is hidden: "votes", "gradients".
        noise: The mechanism; of one scale in every use.
        l1: Most that one privacy unit moves one use, in the L1 norm.
        l2_squared: The same in the squared L2 norm.
        count: Number of uses; fixed beforehand, and an upper bound of them.
        because: Why the bound holds, in one sentence; shown to approvers and readers.
        rate: Probability with which each patient is in the Poisson sample of a use.
    """

    name: str
    noise: JobNoise
    l1: int
    l2_squared: int
    count: int
    because: str
    rate: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        for field in ("l1", "l2_squared", "count"):
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidParameterError(f"Expected {field} ≥ 1, got {field}={value}.")
        if self.count > _MOST:
            raise InvalidParameterError(f"Expected count ≤ 1e9, got {self.count}.")
        if not isinstance(self.rate, Fraction) or not 0 < self.rate <= 1:
            raise InvalidParameterError(f"Expected an exact rate in (0, 1], got {self.rate}.")
        if self.rate < 1 and not isinstance(self.noise, DiscreteGaussian):
            raise UnsupportedError(
                "Only Gaussian noise is accounted for on samples.", hint="Write rate=1."
            )


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
    def loss(self) -> PrivacyLoss:
        """The whole job's loss to any one privacy unit, as charged."""
        return charged_loss(self.nano, atto=self.atto, measure=self.dataset.measure)

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
    nano, atto = charged(_least_loss(events, measure=dataset.measure, delta=delta))
    return JobPlan(
        study=study,
        dataset=dataset,
        kind=job.kind,
        spec=spec_of(job),
        reads=job.reads,
        events=events,
        nano=nano,
        atto=atto,
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


def charged(loss: PrivacyLoss) -> tuple[int, int]:
    """Return a loss in 1e-9 of ε or ρ and 1e-18 of δ, both rounded up."""
    match loss:
        case PureDP(epsilon=amount):
            delta = Fraction(0)
        case ApproxDP(epsilon=amount, delta=delta) | ZeroConcentratedDP(rho=amount, delta=delta):
            pass
        case _:
            assert_never(loss)
    return math.ceil(amount * NANO), math.ceil(delta * ATTO)


def job_loss(
    events: tuple[JobEvent, ...], *, measure: Measure, delta: Fraction = Fraction(0)
) -> PrivacyLoss:
    """Return the loss of all events together, in a ledger's measure.

    Raises:
        UnsupportedError: If an event has no loss without a δ, and ``delta`` is 0.

    Example:
        Two hundred noisy counts of votes, of which one patient moves two by one each:

        >>> votes = JobEvent(name="votes", noise=DiscreteGaussian(sigma_squared=Fraction(1600)),
        ...                  l1=2, l2_squared=2, count=200, because="two shards")
        >>> job_loss((votes,), measure=Measure.ZCDP).rho
        Fraction(1, 8)
    """
    if measure is Measure.PURE and all(isinstance(e.noise, DiscreteLaplace) for e in events):
        return PureDP(epsilon=sum((_epsilon(event) for event in events), Fraction(0)))
    sampled = tuple(_steps(event) for event in events if event.rate < 1)
    unsampled = [_rho(event) for event in events if event.rate == 1 or not delta]
    rho = sum(unsampled, Fraction(0))
    match measure:
        case Measure.ZCDP if sampled and delta:
            simple = sampled_epsilon(sampled, delta=delta) ** 2 / 2
            least = min(simple, sampled_rho(sampled, delta=delta))
            return ZeroConcentratedDP(rho=rho + least, delta=delta)
        case Measure.ZCDP:
            return ZeroConcentratedDP(rho=rho)
        case Measure.PURE if sampled and delta:
            return ApproxDP(epsilon=sampled_epsilon(sampled, delta=delta, rho=rho), delta=delta)
        case Measure.PURE if delta:
            epsilon = Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta))
            return ApproxDP(epsilon=epsilon, delta=delta)
        case Measure.PURE:
            raise UnsupportedError(
                "Gaussian noise has no pure loss.",
                hint="Plan the job with a δ, which is charged beside ε; or account in zcdp.",
            )
        case _:
            assert_never(measure)


def _steps(event: JobEvent) -> SampledSteps:
    if not isinstance(event.noise, DiscreteGaussian):
        raise UnsupportedError("Only Gaussian noise is accounted for on samples.")
    multiplier_squared = event.noise.sigma_squared / event.l2_squared
    return SampledSteps(rate=event.rate, multiplier_squared=multiplier_squared, count=event.count)


def _epsilon(event: JobEvent) -> Fraction:
    match event.noise:
        case DiscreteLaplace(scale=scale):
            return event.count * event.l1 / scale
        case DiscreteGaussian():
            raise UnsupportedError("Gaussian noise has no pure loss.")
        case _:
            assert_never(event.noise)


def _rho(event: JobEvent) -> Fraction:
    match event.noise:
        case DiscreteLaplace(scale=scale):
            return event.count * (event.l1 / scale) ** 2 / 2
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return event.count * event.l2_squared / (2 * sigma_squared)
        case _:
            assert_never(event.noise)


def require_sound_job(plan: JobPlan, *, job: Job) -> None:
    """Refuse a plan that is not the job's, or costs more than it says.

    Raises:
        ContractError: Before anything is read or charged.
    """
    same = (plan.kind, plan.spec, plan.reads, plan.events) == (
        job.kind,
        spec_of(job),
        job.reads,
        job.events(plan.dataset),
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
    loss = job_loss(plan.events, measure=plan.dataset.measure, delta=Fraction(plan.atto, ATTO))
    nano, atto = charged(loss)
    return nano > plan.nano or atto > plan.atto


def job_events_json(plan: JobPlan) -> str:
    """Return the canonical JSON text that the ledger stores beside the charge of a job."""
    body = {
        "measure": plan.dataset.measure.value,
        "delta": str(Fraction(plan.atto, ATTO)),
        "job": [encode(event) for event in plan.events],
    }
    return canonical_bytes(body).decode()


def is_job_events(text: str) -> bool:
    """Return whether stored events are those of a job."""
    try:
        stored = json.loads(text)
    except ValueError:
        return False
    return isinstance(stored, dict) and "job" in stored


def recompute_job(text: str) -> tuple[int, int]:
    """Return the loss of stored events of a job, in 1e-9 and 1e-18, by the theorems alone.

    Raises:
        ContractError: If the text is not one that :func:`job_events_json` wrote.
        UnsupportedError: If an event has no loss in the measure.
    """
    try:
        stored: Json = json.loads(text)
        events = tuple(read_event(event) for event in stored["job"])
        delta, measure = Fraction(stored["delta"]), Measure(stored["measure"])
    except (KeyError, TypeError, ValueError, AttributeError) as broken:
        if isinstance(broken, ContractError):
            raise
        raise ContractError("The stored events of a job cannot be read.") from None
    if not events:
        raise ContractError("The stored events of a job cannot be read.")
    return charged(job_loss(events, measure=measure, delta=delta))


def read_event(value: Json) -> JobEvent:
    """Return the event that its canonical JSON stands for.

    Raises:
        ContractError: If it is none.
    """
    event: JobEvent = decode(JobEvent, value, names={})
    return event
