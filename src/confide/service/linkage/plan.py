"""Plan a linkage: what it tells, how far that is off, what it costs; reads no row."""

from dataclasses import dataclass
from pathlib import Path

from confide.files.linkage.linkage import DeclaredLinkage, read_linkage_file
from confide.jobs.linkage.numbers import warning
from confide.jobs.linkage.scoring import try_model
from confide.jobs.linkage.spec import off_by
from confide.plans.job import JobPlan, plan_job
from confide.release.approval import analyst_of
from confide.release.published import has_answer, key_of_plan
from confide.service.opening import initialise
from confide.service.planning.caps import PlanCap, delta_beside, plan_caps
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNumbers:
    """One thing that is told of a linkage.

    Attributes:
        name: Of it.
        l1: How far all records of one person move it, in persons or scores of 0 to 1.
        off: Standard deviation of the noise of each number, in the same unit.
        because: Why no further.
    """

    name: str
    l1: float
    off: float
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkagePreview:
    """What is known of a linkage before it runs.

    Attributes:
        study: Its id.
        title: For people.
        dataset: Its id.
        first: Table whose persons are counted.
        second: Table with which they are linked.
        digest: Of the plan.
        loss: What it costs.
        told: What it tells.
        caps: What it takes of each.
        epsilon_delta: The δ of every ε beside an amount in ρ; None where amounts are in ε.
        fits: Whether every cap allows it.
        released: Whether it was run, so that it costs nothing to run it again.
        warning: What to know before spending; "" for nothing.
    """

    study: str
    title: str
    dataset: str
    first: str
    second: str
    digest: str
    loss: ToldLoss
    told: tuple[PlannedNumbers, ...]
    caps: tuple[PlanCap, ...]
    epsilon_delta: str | None
    fits: bool
    released: bool
    warning: str


def declared_linkage(file: Path) -> DeclaredLinkage:
    """Return what a linkage.yaml asks, once its model was tried on two made-up rows.

    Raises:
        ContractError: If it or its data set breaks its contract, or Splink refuses the model.
        MissingExtraError: If Splink is not installed.
    """
    found = read_linkage_file(file)
    try_model(found.job.model, fields=found.job.fields)
    initialise(found.declared.base)
    return found


def linkage_plan(declared: DeclaredLinkage) -> JobPlan:
    """Return the priced plan of a linkage."""
    return plan_job(declared.job, study=declared.study, dataset=declared.declared.dataset)


def plan_linkage(file: Path) -> LinkagePreview:
    """Return everything that is known of a linkage before it runs.

    Raises:
        ContractError: If linkage.yaml breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    declared = declared_linkage(file)
    with Site(declared.declared) as site:
        plan, job, ledger = linkage_plan(declared), declared.job, site.ledger
        who, key = analyst_of(ledger, plan), key_of_plan(plan)
        done = has_answer(plan, ledger=ledger, analyst=who, request_key=key)
        spent = ledger.spent(plan.lineage, project=plan.study.project, analyst=who)
        caps = plan_caps(spent, planned=plan, free=done)
        told = []
        for ask, event in zip(job.asks, plan.events, strict=True):
            off = off_by(job, ask, adjacency=plan.adjacency)
            steps = job.steps_of(ask)
            told.append(
                PlannedNumbers(name=event.name, l1=event.l1 / steps, off=off, because=event.because)
            )
        return LinkagePreview(
            study=plan.study.id,
            title=plan.study.title,
            dataset=plan.dataset.id,
            first=job.first,
            second=job.second,
            digest=plan.digest(),
            loss=told_loss(plan),
            told=tuple(told),
            caps=caps,
            epsilon_delta=delta_beside(plan.dataset),
            fits=all(cap.fits for cap in caps),
            released=done,
            warning=warning(job, adjacency=plan.adjacency),
        )
