"""Serve-site: one site's part in a run, from the proposal to its own certificate."""

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from confide.errors import BudgetExhaustedError, ContractError
from confide.files.federation.federation import read_federation
from confide.files.study import DeclaredStudy
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.site_round import SiteRound
from confide.plans.plan import Plan
from confide.plans.soundness.soundness import require_sound
from confide.release.approval import analyst_of
from confide.release.over_sites.site_gate import SiteGate
from confide.release.published import refuse_again
from confide.release.refusal import told_in_epsilon
from confide.release.site.incidents import log_incident, stored_already
from confide.release.site.seal import sealing
from confide.release.site.snapshot import Snapshot
from confide.report.release import Release
from confide.service.federation.meeting import (
    Meeting,
    join_latest,
    place_of,
    require_approved,
    round_of,
)
from confide.service.federation.telling import certify, tell_charged_before, told_that
from confide.service.opening import open_study
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.planning.preview import Preview, preview
from confide.service.releasing.deliver import (
    has_room,
    require_outside,
    require_verified,
    save_and_verify,
)
from confide.service.releasing.release import certified_here, require_checked
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPlan:
    """A site's plan over sites, which its operator looks at before approving it.

    Attributes:
        digest: What is approved.
        site: This member's name; "" of who is none.
        sites: Names of all.
        variance: Of the noise, as a multiple of that of one trusted curator.
        preview: What it would give, and what it takes of this site's caps.
    """

    digest: str
    site: str
    sites: tuple[str, ...]
    variance: float
    preview: Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A site's release of a sum over sites.

    Attributes:
        run: Which run.
        folder: Where the release is.
        report: The page in it.
        certificate: The certificate in it, signed by this site.
        id: Of the release, in this site's ledger.
        charged: Whether it was charged now.
        added: Names of the sites that are in the sum.
        loss: What it cost this site.
    """

    run: str
    folder: Path
    report: Path
    certificate: Path
    id: str
    charged: bool
    added: tuple[str, ...]
    loss: ToldLoss


def own_plan(study: Path, *, federation: Path) -> OwnPlan:
    """Return what a site would approve; charges nothing and reads no row.

    Raises:
        ContractError: If a file breaks its contract, or the plan charges less than it loses.
        UnsupportedError: If a statistic is not one that sites add.
    """
    members = read_federation(federation)
    site, declared = open_study(study)
    with site:
        plan, held = declared.plan_over(members), members.tolerance
        require_sound(plan)
        named = [each.name for each in members.sites if each.key == site.signer.name]
        return OwnPlan(
            digest=plan.digest(),
            site="".join(named),
            sites=tuple(each.name for each in members.sites),
            variance=members.sites_per_person**2 * held.sites / held.honest,
            preview=preview(plan, site=site),
        )


@sealing
def serve_site(
    study: Path,
    *,
    federation: Path,
    meeting: Meeting,
    approve: str,
    out: Path,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Served:
    """Take part in the latest run of a folder, and save this site's release of the sum.

    A plan that has its answer here is delivered from the ledger, at no charge and whatever is
    proposed: a run is the coordinator's choice, a charge the site's.

    Args:
        study: A study.yaml, as every member has it.
        federation: A federation.yaml, as every member has it.
        meeting: Where the run is.
        approve: Digest of the plan, as this site's operator saw it.
        out: Folder for the release.
        again: Take part in another run of what was charged before: another charge.
        progress: Told the name of each stage.

    Raises:
        ContractError: If the coordinator proposes another plan than was approved, ``out`` holds
            another release, without ``again`` the same was charged before, or another process of
            this site is at the run; nothing is charged.
        PolicyError: If a cap would be passed, or the run is of another time; nothing is charged.
        RoundAbortedError: If the run ended before this site's numbers were asked for, or nobody
            proposes one in time; nothing is charged.
        ReleaseFailedError: If it ended afterwards; the charge stays.
    """
    members = read_federation(federation)
    site, declared = open_study(study)
    with site:
        plan, me = declared.plan_over(members), place_of(site, members)
        require_outside(out, folder=site.folder)
        name = members.sites[me].name
        require_approved(
            plan,
            sums=plan,
            approve=approve,
            site=site,
            name=name,
            federation=members,
            meeting=meeting,
        )
        joined = join_latest(
            plan,
            sums=plan,
            site=site,
            name=name,
            federation=members,
            meeting=meeting,
            again=again,
            progress=progress,
        )
        board, held, run = joined.board, joined.held, joined.board.run
        who = analyst_of(site.ledger, plan, request=run) if held is None else held.analyst
        told = told_that(board, hub=members.coordinator.name, plan=plan, site=site, name=name)
        with joined.only, contextlib.nullcontext() if held else told:
            if not has_room(out, plan=plan, request=run):
                raise ContractError(
                    f"{out.name or out} holds something else; nothing was charged.",
                    hint="Choose another --out.",
                )
            if held is None and not again:
                _refuse_again(plan, board=board, site=site, name=name, analyst=who)
            if held is None:
                board.post(NoticeKind.ACCEPTED, {"digest": approve}, sender=name, key=site.signer)
            before = site.ledger.head().number
            among = round_of(
                plan, site=site, place=me, federation=members, board=board, meeting=meeting
            )
            made = _released(
                site,
                plan,
                among=among,
                run=run,
                analyst=who,
                again=again,
                stored=held is not None,
                progress=progress,
            )
        return _saved(
            site, declared, made, board=board, name=name, out=out, before=before, progress=progress
        )


def _refuse_again(plan: Plan, *, board: Board, site: Site, name: str, analyst: str) -> None:
    """Refuse a second charge that this site's operator did not ask for, and tell the others."""
    try:
        refuse_again(plan, ledger=site.ledger, analyst=analyst, request_key=board.run)
    except ContractError:
        tell_charged_before(board, plan=plan, site=site, name=name)
        raise


def _released(
    site: Site,
    plan: Plan,
    *,
    among: SiteRound,
    run: str,
    analyst: str,
    again: bool,
    stored: bool,
    progress: Callable[[str], None],
) -> Release:
    from confide.report.rehearsal import rehearse

    require_checked(site.declared, stored=stored)
    outlines = site.declared.outlines(plan)
    with Snapshot(state=site.engine().state, folder=site.folder) as snapshot:
        gate = SiteGate(
            ledger=site.ledger,
            engine=site.engine(),
            report_incident=functools.partial(log_incident, site.folder / "incidents.log"),
            require_consent=site.same_consent(),
            rehearse=rehearse,
        )
        try:
            taken = gate.take_part(
                plan,
                among=among,
                analyst=analyst,
                request_key=run,
                again=again,
                progress=snapshot.watched(progress),
            )
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        return certified_here(site, taken, snapshot=snapshot, outlines=outlines)


def _saved(
    site: Site,
    declared: DeclaredStudy,
    made: Release,
    *,
    board: Board,
    name: str,
    out: Path,
    before: int,
    progress: Callable[[str], None],
) -> Served:
    made = made.called(declared.labels)
    accounting = made.form.accounting
    with stored_already(accounting.entry):
        certify(board, made.certificate, site=site, name=name)
        checked = save_and_verify(made, out=out, key=site.signer.name, progress=progress)
    require_verified(checked)
    return Served(
        run=board.run,
        folder=out,
        report=out / "report.html",
        certificate=out / "certificate.json",
        id=made.certificate["id"],
        charged=accounting.entry > before,
        added=made.noisy.added,
        loss=told_loss(made.plan),
    )
