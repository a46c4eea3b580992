"""Release and advance: charge, read, add noise, certify; the only use cases that spend."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from confide.budget.ledger import StoredRelease
from confide.errors import BudgetExhaustedError, ContractError
from confide.files.dataset import Checking, DeclaredDataset
from confide.noise.entropy import SystemEntropy
from confide.plans.plan import Plan
from confide.release.approval import analyst_of, authority_of
from confide.release.certificate.certificate import commitment_of
from confide.release.gate import Gate
from confide.release.growing import has_periods
from confide.release.patients import may_leave_out
from confide.release.published import has_answer, key_of_plan, refuse_again
from confide.release.refusal import told_in_epsilon
from confide.release.site.incidents import log_incident, stored_already
from confide.release.site.seal import sealing
from confide.release.site.snapshot import Snapshot
from confide.report.release import Release, certified
from confide.service.preparing.check import is_checked
from confide.service.site import Site

if TYPE_CHECKING:
    from confide.drawing.charts.outlines import Maps


@sealing
def release(
    site: Site,
    plan: Plan,
    *,
    request: str | None = None,
    analyst: str | None = None,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Charge, read, add noise, certify.

    Args:
        site: Whose data set and ledger.
        plan: What to release.
        request: Idempotency key: the same plan and key return the same release at no charge.
            The plan's digest when None, so that running a study twice costs once.
        analyst: Account that asks; who has approval, or the user's login, when None.
        again: Publish anew what was published or is under way, by anybody: another charge.
        progress: Told the name of each stage.

    Raises:
        PolicyError: If a cap would be passed, or nobody counted; nothing is charged.
        ContractError: If that is no plan, the source lacks what is named, or without ``again`` the
            same was asked before (:mod:`confide.release.published`); nothing is charged.
        ReleaseFailedError: If anything fails after reading began; the charge stays.
    """
    _require_plan(plan)
    who = analyst or analyst_of(site.ledger, plan, request=request)
    key = request or key_of_plan(plan)
    require_checked(
        site.declared, stored=has_answer(plan, ledger=site.ledger, analyst=who, request_key=key)
    )
    if not again:
        refuse_again(plan, ledger=site.ledger, analyst=who, request_key=key)
    outlines = site.declared.outlines(plan)
    with Snapshot(state=site.engine().state, folder=site.folder) as snapshot:
        try:
            told = snapshot.watched(progress)
            stored = gate(site).release(
                plan, analyst=who, request_key=key, again=again, progress=told
            )
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        return certified_here(site, stored, snapshot=snapshot, outlines=outlines)


def _require_plan(plan: object) -> None:
    if not isinstance(plan, Plan):
        raise ContractError(
            f"Expected a plan, got {type(plan).__name__}.",
            hint='ws.plan(…) makes one of statistics, ws.study("study.yaml").plan() of a file.',
        )


@sealing
def advance(
    site: Site,
    plan: Plan,
    *,
    request: str | None = None,
    analyst: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Publish the next periods of a growing release, which was charged when it was first run.

    As :func:`release`; of the plan, ``through`` and the snapshot alone may have changed.
    """
    _require_plan(plan)
    require_checked(site.declared, stored=has_periods(plan, ledger=site.ledger))
    outlines = site.declared.outlines(plan)
    with Snapshot(state=site.engine().state, folder=site.folder) as snapshot:
        stored = gate(site).advance(
            plan,
            analyst=analyst or analyst_of(site.ledger, plan, request=request),
            request_key=request or key_of_plan(plan),
            progress=snapshot.watched(progress),
        )
        return certified_here(site, stored, snapshot=snapshot, outlines=outlines)


def require_checked(declared: DeclaredDataset, *, stored: bool) -> None:
    """Refuse, free of charge, a source that nobody checked as it is, where that is required.

    It tells whether somebody ran `confide check`, and nothing of what was found.  What is stored
    is delivered all the same: no row is read for it.
    """
    if stored:
        return
    if declared.checked is Checking.REQUIRED and not is_checked(declared):
        raise ContractError(
            "dataset.yaml requires that the source be checked, and nobody checked it as it is now.",
            hint="The steward runs: confide check",
        )


def gate(site: Site) -> Gate:
    """Return the gate of a data set, with everything that it needs of the site."""
    from confide.report.rehearsal import rehearse

    of, ledger = site.declared.dataset, site.ledger
    return Gate(
        ledger=ledger,
        engine=site.engine(),
        entropy=SystemEntropy(),
        report_incident=functools.partial(log_incident, site.folder / "incidents.log"),
        require_consent=site.same_consent(),
        rehearse=rehearse,
        patients=site.patients() if may_leave_out(of, ledger=ledger) else None,
    )


def certified_here(
    site: Site, stored: StoredRelease, *, snapshot: Snapshot, outlines: "Maps"
) -> Release:
    """Return a stored answer with its certificate, signed by the site."""
    with stored_already(stored.entry.number):
        return certified(
            stored,
            issuer=site.declared.issuer(),
            outlines=outlines,
            labels=site.declared.labels,
            signer=site.signer,
            authority=authority_of(site.ledger, stored.entry),
            commitment=commitment_of(snapshot.opening(stored.entry)),
        )
