"""Reuse: a release made of published ones; nothing is read or charged.

*Privacy:* the ledger is read, the source is never opened, and nothing is charged or recorded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.errors import VerificationError
from confide.plans.plan import Plan
from confide.plans.reuse import Same
from confide.release.reused import certified_reuse, offers
from confide.release.verify.verify import verify
from confide.report.release import ReusedRelease
from confide.report.reused import reused_release
from confide.service.opening import open_study
from confide.service.releasing.deliver import require_outside
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Reused:
    """A release made of published ones, in its folder.

    Attributes:
        folder: Where it is.
        report: The page in it.
        certificate: The certificate in it.
        id: Of the release.
        charged: Whether anything was charged, which nothing is.
        snapshot: Of the data set.
        entries: Of the ledger, of which it is made.
        unread: Entries that measured the same as each statistic and are not averaged in.
        otherwise: Entries that measured the value of each in other groups, rows or bounds.
        verifies: Whether what was saved verifies, which it does.
        signer: Whose key signed.
    """

    folder: Path
    report: Path
    certificate: Path
    id: str
    charged: bool
    snapshot: str
    entries: tuple[int, ...]
    unread: Mapping[str, tuple[int, ...]]
    otherwise: Mapping[str, tuple[int, ...]]
    verifies: bool
    signer: str


def reuse(site: Site, plan: Plan) -> ReusedRelease:
    """Return a release made of published ones.

    Raises:
        ContractError: If they do not answer the whole plan.
    """
    by = site.declared.issuer()
    found = certified_reuse(site.ledger, plan, issuer=by, signer=site.signer)
    return reused_release(
        *found, outlines=site.declared.outlines(plan), labels=site.declared.labels
    )


def reuse_study(
    study: Path,
    *,
    out: Path,
    period: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Reused:
    """Answer a study from published releases, save it to ``out`` and verify it there.

    Raises:
        ContractError: If they do not answer all of it, or ``out`` holds something else.
        VerificationError: If what was saved does not verify.
    """
    site, declared = open_study(study, period=period)
    with site:
        require_outside(out, folder=site.folder)
        plan = declared.plan()
        made = reuse(site, plan).called(declared.labels)
        passed_over = _passed_over(plan, site=site)
        made.save(out, progress=progress)
        progress("verify")
        checked = verify(made.certificate, folder=out, pinned_key=site.signer.name)
    if checked.failed:
        raise VerificationError(f"What was saved does not verify: {checked.failed}.")
    return Reused(
        folder=out,
        report=out / "report.html",
        certificate=out / "certificate.json",
        id=made.certificate["id"],
        charged=False,
        snapshot=plan.dataset.snapshot,
        entries=tuple(source.entry for source in made.reused.sources),
        unread={name: tuple(each.unread) for name, each in passed_over.items()},
        otherwise={name: tuple(each.otherwise) for name, each in passed_over.items()},
        verifies=True,
        signer=checked.signer,
    )


def _passed_over(plan: Plan, *, site: Site) -> dict[str, Same]:
    """Return the answers that are read as they stand, with the entries that they pass over."""
    answers = offers(site.ledger, plan).items()
    return {name: each for name, each in answers if isinstance(each, Same)}
