"""Preview of a job, whatever its kind: what it reads and draws, and what it costs; all for free.

*Privacy:* made of public facts and the ledger; reads no row.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confide.noise.mechanism import AddedNoise
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.release.approval import analyst_of
from confide.release.certificate.facts import condition_text, expression_text
from confide.release.published import key_of_plan
from confide.service.planning.admission import Admission, told_admission
from confide.service.planning.caps import PlanCap, delta_beside, plan_caps
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.site import Site
from confide.tables.conditions.conditions import shown
from confide.tables.expression import BinOf, Expression, OrMissing
from confide.tables.filter import Everything
from confide.tables.relation import domain
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNoise:
    """What is drawn.

    Attributes:
        name: Of the step.
        uses: How often, at most.
        mechanism: Its noise.
        off: Mean absolute error that it adds to a cell, in its unit; None of a choice.
        because: Why a patient moves it so far.
    """

    name: str
    uses: int
    mechanism: str
    off: float | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPreview:
    """What is known of a job before it runs.

    Attributes:
        study: Its id.
        title: For people.
        kind: Of the job.
        dataset: Its id.
        digest: Of the plan.
        loss: What it costs.
        table: Whose rows it reads, and which of them.
        reads: What it reads of each, in words.
        rows_per_patient: How many rows of one patient count.
        settings: The other settings, as the plan has them.
        noise: What is drawn.
        caps: What it takes of each.
        epsilon_delta: The δ of every ε beside an amount in ρ; None where amounts are in ε.
        fits: Whether every cap allows it.
        charged_as: The entry under which it was charged; None while it was not.
        approval: Whether the policy admits it.
    """

    study: str
    title: str
    kind: str
    dataset: str
    digest: str
    loss: ToldLoss
    table: str
    reads: tuple[str, ...]
    rows_per_patient: int
    settings: Mapping[str, Any]
    noise: tuple[PlannedNoise, ...]
    caps: tuple[PlanCap, ...]
    epsilon_delta: str | None
    fits: bool
    charged_as: int | None
    approval: Admission


def job_preview(plan: JobPlan, *, site: Site, analyst: str | None = None) -> JobPreview:
    """Return what follows from the plan of a job and the ledger alone, without the source.

    Args:
        plan: What is asked.
        site: Whose ledger is looked at.
        analyst: Who is charged; who has approval, or the user's login, when None.
    """
    ledger, dataset, reads = site.ledger, plan.dataset, plan.reads
    who = analyst_of(ledger, plan) if analyst is None else analyst
    spent = ledger.spent(dataset.lineage, project=plan.study.project, analyst=who)
    known = ledger.known(plan.digest(), analyst=who, request_key=key_of_plan(plan))
    caps = plan_caps(spent, planned=plan, free=known is not None)
    where = reads.relation.where
    such = "" if where == Everything() else f" where {condition_text(where, dataset=dataset)}"
    return JobPreview(
        study=plan.study.id,
        title=plan.study.title,
        kind=plan.kind,
        dataset=dataset.id,
        digest=plan.digest(),
        loss=told_loss(plan),
        table=f"{reads.relation.table}{such}",
        reads=tuple(_read(each, dataset=dataset) for each in reads.reads),
        rows_per_patient=reads.bounds.max_rows,
        settings={k: v for k, v in json.loads(plan.spec).items() if k not in {"is", "reads"}},
        noise=tuple(told_event(each) for each in plan.events),
        caps=caps,
        epsilon_delta=delta_beside(dataset),
        fits=all(cap.fits for cap in caps),
        charged_as=None if known is None else known.number,
        approval=told_admission(plan, site=site, spent=spent, analyst=who),
    )


def _read(of: Expression, *, dataset: Dataset) -> str:
    """Return what is read in words, with the edges of bins."""
    text = expression_text(of, dataset=dataset)
    inner = of.of if isinstance(of, OrMissing) else of
    if not isinstance(inner, BinOf):
        return text
    inside = domain(inner.of, dataset=dataset)
    return f"{text}: {', '.join(shown(edge, of=inside) for edge in inner.edges)}"


def told_event(event: JobEvent) -> PlannedNoise:
    """Return what a job draws, for people."""
    noise = event.noise
    return PlannedNoise(
        name=event.name,
        uses=event.count,
        mechanism=told_noise(noise),
        off=None if isinstance(noise, SetSelection) else _added(noise).mean_absolute(),
        because=event.because,
    )


def _added(noise: AddedNoise | KeyThreshold) -> AddedNoise:
    return noise.noise() if isinstance(noise, KeyThreshold) else noise


def told_noise(noise: AddedNoise | SetSelection | KeyThreshold) -> str:
    """Return the law of a noise in short."""
    if isinstance(noise, SetSelection):
        return f"exponential mechanism among {noise.candidates}, ε = {float(noise.epsilon):.3g}"
    if isinstance(noise, KeyThreshold):
        return (
            f"{told_noise(noise.noise())}, above a threshold of {noise.threshold():,}, "
            f"δ = {float(noise.delta):.3g}"
        )
    return f"{type(noise).__name__}, standard deviation {noise.standard_deviation():.3g}"
