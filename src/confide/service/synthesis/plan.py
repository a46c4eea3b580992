"""Plan a synthesis: what it measures, how far tables may be off, what it costs; reads no row."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from confide.files.synth.synth import DeclaredSynthesis, read_synth
from confide.jobs.kinds import in_parts
from confide.jobs.synthesis.acceptance.check import PAIRS, SynthesisCheck
from confide.jobs.synthesis.acceptance.verdict import CONFIDENCE, off_by_rows
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.jobs.synthesis.deep.training import DeepTraining
from confide.jobs.synthesis.forecast import foreseen_error
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import LAST, Synthesis
from confide.plans.job import JobPlan, plan_job
from confide.release.approval import analyst_of
from confide.release.jobs.job_rounds import has_parts
from confide.release.published import has_answer, key_of_plan
from confide.service.dump import OMITTED
from confide.service.opening import initialise
from confide.service.planning.admission import Admission, told_admission
from confide.service.planning.caps import PlanCap, delta_beside, plan_caps
from confide.service.planning.job_preview import PlannedNoise, told_event, told_noise
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.site import Site
from confide.service.synthesis.agreed import NOT_YET, check_of, check_study
from confide.service.synthesis.baseline import PlannedBaseline, planned_baseline, warnings_of
from confide.service.synthesis.outside_bins import outside_bins
from confide.tables.expression import OrMissing
from confide.tables.relation import OTHER, domain
from confide.tables.schema import Dataset

UNSHARP = 0.15
"""Expected error of a pair from noise alone above which a plan warns."""
_STEP, _MOST_STEPS = 1.15, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedColumn:
    """A column of the synthetic table.

    Attributes:
        name: Its name.
        levels: How many.
        read: What it is: bins or labels, in short.
    """

    name: str
    levels: int
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCheck:
    """What checking the criteria takes.

    Attributes:
        loss: What it costs.
        noise: What is drawn.
        error_of_pairs: Half of the interval of the mean error of pairs, about; None where that is
            no criterion.
    """

    loss: ToldLoss
    noise: tuple[PlannedNoise, ...]
    error_of_pairs: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPreview:
    """What is known of a synthesis before it runs.

    Attributes:
        study: Its id.
        title: For people.
        dataset: Its id.
        digest: Of the plan.
        loss: What it costs.
        columns: Of the table.
        target: Column that is to be predicted; "" for general use.
        together: Columns that are measured together whatever is chosen.
        pairs: Most pairs that are chosen beside them.
        tables: How many tables carry the uncertainty.
        rows: Public planning number of rows.
        error_of_columns: Expected total-variation error of one column, from noise alone; None of
            a baseline, of which nobody knows it.
        error_of_pairs: The same of a pair that is measured.
        noise: What is drawn.
        caps: What it takes of each.
        epsilon_delta: The δ of every ε beside an amount in ρ; None where amounts are in ε.
        fits: Whether every cap allows it.
        begun: Whether it was charged, so that it costs nothing to run it, or to go on.
        released: Whether it was run to its end.
        approval: Whether the policy admits it.
        warnings: What to know before it is run.
        events: Names of the kinds of events of which OMOP tables are written.
        check: Of its criteria, which is charged when it is evaluated; None where there are none
            that need the data.  Caps count it beside the synthesis.
        baseline: Training of a generator; None of a table from marginals.
    """

    study: str
    title: str
    dataset: str
    digest: str
    loss: ToldLoss
    columns: tuple[PlannedColumn, ...]
    target: str
    together: tuple[tuple[str, ...], ...]
    pairs: int
    tables: int
    rows: int
    error_of_columns: float | None
    error_of_pairs: float | None
    noise: tuple[PlannedNoise, ...]
    caps: tuple[PlanCap, ...]
    epsilon_delta: str | None
    fits: bool
    begun: bool
    released: bool
    approval: Admission
    warnings: tuple[str, ...]
    events: tuple[str, ...] = ()
    check: Annotated["PlannedCheck | None", OMITTED] = None
    baseline: Annotated[PlannedBaseline | None, OMITTED] = None


def declared_synthesis(source: Path | Mapping[str, Any]) -> DeclaredSynthesis:
    """Return what a synth.yaml asks of a data set whose workspace has its keys.

    Raises:
        ContractError: If it or its data set breaks its contract.
    """
    found = read_synth(source)
    initialise(found.declared.base)
    return found


def plan_synthesis(source: Path | Mapping[str, Any]) -> SynthesisPreview:
    """Return everything that is known of a synthesis before it runs.

    Args:
        source: A synth.yaml, or its content.

    Raises:
        ContractError: If it breaks its contract, or cannot be learnt; the message says what would.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    declared = declared_synthesis(source)
    with Site(declared.declared) as site:
        return preview_synthesis(declared, site=site)


def job_plan(declared: DeclaredSynthesis, *, site: Site) -> JobPlan:
    """Return the priced plan of a synthesis."""
    dataset = declared.asked_of(site.declared.dataset)
    return plan_job(declared.job, study=declared.study, dataset=dataset, delta=declared.delta)


def preview_synthesis(declared: DeclaredSynthesis, *, site: Site) -> SynthesisPreview:
    """Return what is known of a synthesis, of a data set that is open."""
    plan, job, ledger = job_plan(declared, site=site), declared.job, site.ledger
    who, key = analyst_of(ledger, plan), key_of_plan(plan)
    runner = in_parts(job, plan=plan)
    begun = has_answer(plan, ledger=ledger, analyst=who, request_key=key)
    done = has_parts(plan, runner=runner, ledger=ledger, analyst=who, request_key=key)
    spent = ledger.spent(plan.lineage, project=plan.study.project, analyst=who)
    checked = _check_plan(declared, site=site)
    caps = plan_caps(spent, planned=_both(plan, checked), free=begun)
    found = SynthesisPreview(
        study=plan.study.id,
        title=plan.study.title,
        dataset=plan.dataset.id,
        digest=plan.digest(),
        loss=told_loss(plan),
        columns=(),
        target=job.target,
        together=(),
        pairs=0,
        tables=declared.tables,
        rows=job.rows,
        error_of_columns=None,
        error_of_pairs=None,
        noise=(),
        caps=caps,
        epsilon_delta=delta_beside(plan.dataset),
        fits=all(cap.fits for cap in caps),
        begun=begun,
        released=done,
        approval=told_admission(plan, site=site, spent=spent, analyst=who),
        warnings=(),
        check=None if checked is None else _planned_check(checked, declared=declared),
    )
    if isinstance(runner, DeepTraining):
        return _of_generator(found, runner.spec, plan=plan)
    if isinstance(runner, Measuring):
        return _of_marginals(found, runner.spec, plan=plan)
    return found


def _of_marginals(found: SynthesisPreview, job: Synthesis, *, plan: JobPlan) -> SynthesisPreview:
    """Return a preview with what is measured."""
    one, two = foreseen_error(job, dataset=plan.dataset)
    return replace(
        found,
        columns=_columns(job.foreseen, finding=_found_words(job), dataset=plan.dataset),
        together=tuple(tuple(job.columns[v] for v in each) for each in job.required),
        pairs=job.rounds,
        error_of_columns=one,
        error_of_pairs=two,
        noise=_noise(plan, job=job),
        warnings=(
            *outside_bins(job, dataset=plan.dataset),
            *_warnings(job, two=two, dataset=plan.dataset),
        ),
        events=tuple(kind.name for kind in job.kinds),
    )


def _of_generator(
    found: SynthesisPreview, job: DeepSynthesis, *, plan: JobPlan
) -> SynthesisPreview:
    """Return a preview with how a generator is trained."""
    (event,) = plan.events
    noise = PlannedNoise(
        name=event.name,
        uses=event.count,
        mechanism=told_noise(job.noise),
        off=None,
        because=event.because,
    )
    return replace(
        found,
        columns=_columns(job, finding={}, dataset=plan.dataset),
        noise=(noise,),
        warnings=(*warnings_of(job, plan=plan), *outside_bins(job, dataset=plan.dataset)),
        baseline=planned_baseline(job, plan=plan),
    )


def _check_plan(declared: DeclaredSynthesis, *, site: Site) -> JobPlan | None:
    """Return the priced plan of the check of criteria, of a release that is not there yet."""
    if not declared.check:
        return None
    return plan_of_check(declared, check_of(declared, release=NOT_YET), site=site)


def plan_of_check(declared: DeclaredSynthesis, check: SynthesisCheck, *, site: Site) -> JobPlan:
    """Return the priced plan of a check of a synthesis' criteria."""
    dataset = declared.asked_of(site.declared.dataset)
    return plan_job(check, study=check_study(declared), dataset=dataset)


def _both(plan: JobPlan, checked: JobPlan | None) -> JobPlan:
    """Return what the synthesis and its check take together, for caps."""
    if checked is None:
        return plan
    events = (*plan.events, *checked.events)
    return replace(plan, events=events, nano=plan.nano + checked.nano)


def _planned_check(plan: JobPlan, *, declared: DeclaredSynthesis) -> PlannedCheck:
    check = check_of(declared, release=NOT_YET)
    off = None
    if check.criteria.pairs:
        noise = check.noise(PAIRS, adjacency=plan.adjacency)
        rows = declared.job.rows
        off = noise.half_width(CONFIDENCE) / (2 * check.pairs * rows)
        off += off_by_rows(check, adjacency=plan.adjacency, rows=rows)
    drawn = tuple(told_event(event) for event in plan.events)
    return PlannedCheck(loss=told_loss(plan), noise=drawn, error_of_pairs=off)


def _less_noise(job: Synthesis, *, dataset: Dataset) -> float:
    """Return by what factor less noise brings a pair's error to what is not warned of."""
    factor = 1.0
    for _ in range(_MOST_STEPS):
        factor *= _STEP
        grown = Fraction(factor).limit_denominator(1000)
        more = replace(job, rho=job.rho * grown**2, epsilon=job.epsilon * grown)
        if foreseen_error(more, dataset=dataset)[1] <= UNSHARP:
            break
    return factor


def _columns(
    job: AnySynthesis, *, finding: Mapping[str, str], dataset: Dataset
) -> tuple[PlannedColumn, ...]:
    found = []
    for name, of in zip(job.columns, job.reads.reads, strict=True):
        within = domain(of, dataset=dataset)
        keys = within.keys
        read = f"{within.lower} to {within.upper}"
        if keys:
            read = ", ".join(keys) if len(keys) <= 4 else f"{keys[0]}, {keys[1]}, … {keys[-1]}"
        read = finding.get(name, read)
        found.append(PlannedColumn(name=name, levels=within.size(), read=read))
    return tuple(found)


def _found_words(job: Synthesis) -> dict[str, str]:
    """Return of each column whose levels are found how many there may be, in words."""
    bins = {each.column: f"at most {each.bins} bins, which are found" for each in job.charged}
    return bins | {
        each.column: f"at most {each.most} categories, which are found, and {OTHER!r}"
        for each in job.categories
    }


def _noise(plan: JobPlan, *, job: Synthesis) -> tuple[PlannedNoise, ...]:
    """Return the noise of each part; of the last tables that of each of as many as there may be."""
    found = []
    for event in plan.events:
        told = told_event(event)
        if event.name == LAST:
            uses = job.most_tables
            noise = job.noise(job.shares.tables, tables=uses, adjacency=plan.dataset.adjacency)
            told = replace(told, uses=uses, mechanism=told_noise(noise), off=noise.mean_absolute())
        found.append(told)
    return tuple(found)


def _warnings(job: Synthesis, *, two: float, dataset: Dataset) -> "list[str]":
    found = []
    if two > UNSHARP:
        factor = _less_noise(job, dataset=dataset)
        told = job.amount_times(factor, dataset=dataset)
        rows = math.ceil(job.rows * factor)
        found.append(
            f"A pair would be off by about {two:.2f} (total variation) from noise alone: with "
            f"{told}, or {rows:,} rows, it would be at most {UNSHARP:g}."
        )
    if job.place_of_target is None and not job.together and len(job.columns) > 2:
        found.append(
            "No target and no columns together are named: which pairs are measured is chosen "
            "privately, and intervals hold for those pairs alone."
        )
    for name, of in zip(job.columns, job.reads.reads, strict=True):
        if name in _found_words(job):
            continue
        if isinstance(of, OrMissing) and domain(of.of, dataset=dataset).size() == 1:
            found.append(
                f"Column {name!r} has one value, or none: leave it out, and add it to the rows, "
                "unless it is of interest whether it is missing."
            )
    for kind in job.kinds:
        several = max((len(codes.codes) for codes in kind.codes), default=1)
        if several > 1:
            found.append(
                f"Rows of {kind.name!r} take one of {several} codes evenly by chance: where it "
                "matters which, write each: and the column, so that every label is a kind."
            )
    if job.reads.bounds.max_rows > 1:
        found.append(
            f"Rows of one patient are drawn one by one, up to {job.reads.bounds.max_rows} a "
            "patient: the synthetic table does not say which rows are of one patient."
        )
    return found
