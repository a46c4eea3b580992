"""Run a synthesis: charge once, measure part by part, and leave a folder that verifies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confide.budget.growth import part_key
from confide.errors import ContractError
from confide.files.synth.synth import DeclaredSynthesis
from confide.jobs.kinds import in_parts, read_spec
from confide.jobs.synthesis.analyses import Analysis
from confide.jobs.synthesis.combine import CombinedEstimate
from confide.jobs.synthesis.deep.generated import BASELINE, BaselineData, refuse_intervals
from confide.plans.canonical import Json
from confide.plans.job import JobPlan
from confide.release.approval import analyst_of
from confide.release.jobs.job_certificate import JobRelease
from confide.release.published import key_of_plan
from confide.release.site.incidents import stored_already
from confide.release.site.seal import sealing
from confide.release.verify.verify import Verification, verify
from confide.service.dump import OMITTED
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.releasing.deliver import require_outside, require_room, require_verified
from confide.service.releasing.jobs import OpenData, run_in_parts
from confide.service.site import Site
from confide.service.synthesis.combining import AnyData, combine, data_of
from confide.service.synthesis.folder import LABEL, Format, arrow_table, write_tables
from confide.service.synthesis.outside_bins import outside_bins
from confide.service.synthesis.plan import declared_synthesis, job_plan

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesised:
    """A synthesis in its folder.

    Attributes:
        folder: Where it is.
        report: The page in it.
        table: The synthetic table to look at.
        tables: Those to infer from.
        certificate: The certificate in it.
        id: Of the release.
        charged: Whether it was charged now.
        rows: Of the synthetic table, as many as the released counts say.
        cliques: Columns that were measured together.
        loss: What it cost.
        verifies: Whether what was saved verifies, which it does.
        warehouse: Folder of OMOP tables; None where no events are named.
        baseline: What a table of a generator is; None of one from marginals.
        outside: Sentences on values that lie in no bin.
    """

    folder: Path
    report: Path
    table: Path
    tables: tuple[Path, ...]
    certificate: Path
    id: str
    charged: bool
    rows: int
    cliques: tuple[tuple[str, ...], ...]
    loss: ToldLoss
    verifies: bool
    warehouse: Path | None = None
    baseline: Annotated[str | None, OMITTED] = None
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticRelease:
    """What a synthesis gave: certified counts, and the tables that follow from them.

    Attributes:
        release: Files and certificate.
        data: Tables.
        tables: How many carry the uncertainty.
    """

    release: JobRelease
    data: AnyData
    tables: int

    @property
    def certificate(self) -> Json:
        """Signed JSON."""
        return self.release.certificate

    def table(self, *, rows: int | None = None) -> "pa.Table":
        """Return the synthetic table to look at."""
        return arrow_table(self.data.table(rows=rows), label=self._label)

    def refitted(self, number: int) -> "pa.Table":
        """Return one of the tables to infer from, from 1."""
        if isinstance(self.data, BaselineData):
            refuse_intervals()
        return arrow_table(self.data.refitted(number), label=self._label)

    def warehouse(self) -> "Mapping[str, pa.Table]":
        """Return the OMOP tables of the synthetic patients; ContractError without events."""
        if isinstance(self.data, BaselineData):
            raise ContractError("A generator names no events, so it has no OMOP tables.")
        found = self.data.warehouse()
        return {name: arrow_table(rows, label=self._label) for name, rows in found.items()}

    def combine(self, analysis: Analysis, *, level: float = 0.95) -> tuple[CombinedEstimate, ...]:
        """Return estimates with intervals; see :func:`confide.combine`."""
        return combine(self.data, analysis, tables=self.tables, level=level)

    def save(self, folder: str | Path, *, form: Format = Format.CSV) -> Path:
        """Write what ``confide synth run`` leaves; return the folder."""
        out = self.release.save(folder)
        write_tables(self.data, out, release=self.release, tables=self.tables, form=form)
        return out

    @property
    def _label(self) -> dict[str, str]:
        return {"confide": LABEL, "release": str(self.certificate["id"])}


@sealing
def synthesise(
    of: Site,
    declared: DeclaredSynthesis,
    *,
    request: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SyntheticRelease:
    """Charge a synthesis once, measure, certify.

    Raises what :func:`run_synthesis` does.
    """
    plan = job_plan(declared, site=of)
    release = released_synthesis(of, declared, plan=plan, request=request, progress=progress)
    with stored_already(int(release.certificate["accounting"]["entry"])):
        data = data_of(release.answer)
    return SyntheticRelease(release=release, data=data, tables=declared.tables)


def released_synthesis(
    of: OpenData,
    declared: DeclaredSynthesis,
    *,
    plan: JobPlan,
    request: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> JobRelease:
    """Charge a synthesis and measure it, or go on where it was stopped, or return what it gave.

    Raises what :func:`confide.release.jobs.job_rounds.release_in_parts` does.
    """
    job = declared.job
    runner = in_parts(job, plan=plan)
    return run_in_parts(of, job, plan=plan, runner=runner, request=request, progress=progress)


def run_synthesis(
    source: Path | Mapping[str, Any],
    *,
    out: Path,
    request: str | None = None,
    form: Format = Format.CSV,
    progress: Callable[[str], None] = lambda _: None,
) -> Synthesised:
    """Run a synthesis, save it to ``out`` and verify it there.

    Args:
        source: A synth.yaml, or its content.
        out: Folder for the release.
        request: Idempotency key; the plan's digest when None.
        form: Of the synthetic table to look at; those to infer from are Parquet.
        progress: Told the name of each stage.

    Raises:
        ContractError: If ``out`` holds another release, or it breaks its contract.
        PolicyError: If a cap would be passed.
        ReleaseFailedError: If anything fails after it was charged.
        VerificationError: If what was saved does not verify.
    """
    declared = declared_synthesis(source)
    with Site(declared.declared) as site:
        plan = job_plan(declared, site=site)
        require_outside(out, folder=site.folder)
        parts = in_parts(declared.job, plan=plan).parts
        named = name_of_last_part(plan, site=site, request=request, parts=parts)
        require_room(out, plan=plan, request=named)
        before = site.ledger.head().number
        release = released_synthesis(site, declared, plan=plan, request=request, progress=progress)
        entry = int(release.certificate["accounting"]["entry"])
        with stored_already(entry):
            release.save(out)
            made = data_of(release.answer)
            progress("rows")
            paths = write_tables(made, out, release=release, tables=declared.tables, form=form)
            progress("verify")
            checked = verified(release, folder=out, key=site.signer.name)
    require_verified(checked)
    return Synthesised(
        folder=out,
        report=paths.report,
        table=paths.table,
        tables=paths.tables,
        certificate=out / "certificate.json",
        id=release.certificate["id"],
        charged=entry > before,
        rows=made.rows,
        cliques=() if isinstance(made, BaselineData) else made.cliques,
        loss=told_loss(plan),
        verifies=True,
        warehouse=paths.warehouse,
        baseline=BASELINE if isinstance(made, BaselineData) else None,
        outside=outside_bins(made.spec, dataset=plan.dataset),
    )


def verified(release: JobRelease, *, folder: Path, key: str) -> Verification:
    """Return what the verification of a job's release in its folder found."""
    return verify(
        release.certificate,
        folder=folder,
        pinned_key=key,
        payload=release.answer.payload(),
        read_spec=read_spec,
    )


def name_of_last_part(plan: JobPlan, *, site: Site, request: str | None, parts: int) -> str | None:
    """Return what certificates of a job in parts call its request: that of its last part."""
    key = request or key_of_plan(plan)
    who = analyst_of(site.ledger, plan, request=request)
    opened = site.ledger.known(plan.digest(), analyst=who, request_key=key)
    return request if opened is None else part_key(opened.number, part=parts)
