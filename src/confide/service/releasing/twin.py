"""Rehearse: a study on a twin of its data set, without the data, the ledger or a key of the site.

The declaration is opened in a folder of its own that is gone afterwards: rows are made up from
dataset.yaml, a ledger without a past admits the plan, and the rest is the way of every release.  So
whatever breaks on the way breaks here first, for nothing.

*Privacy:* the source, the ledger, its keys and the list of who withdrew are not opened.  Noise is
drawn as for a release; of made-up rows it hides nothing.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from confide.budget.ledger import Caps
from confide.budget.policy.policy import (
    Basis,
    CapScope,
    Enforce,
    Limit,
    Policy,
    PolicyCap,
    Window,
    Workflow,
)
from confide.budget.stores.place import SQLitePlace
from confide.errors import ContractError, ReleaseFailedError, UnsupportedError
from confide.files.dataset import Checking, DeclaredDataset
from confide.files.public.private_places import WORKSPACE
from confide.files.study import read_study
from confide.jobs.twin.engine import TwinEngine
from confide.jobs.twin.rows import as_frames, patients_of, twin
from confide.plans.plan import Plan
from confide.privacy.measure import Mixed
from confide.report.rehearsed import Rehearsal, rehearsal_folder, rehearsed
from confide.report.release import Release
from confide.service.opening import initialise
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.releasing.deliver import require_outside
from confide.service.releasing.release import release
from confide.service.site import Site
from confide.tables.source import Source, SourceKind

if TYPE_CHECKING:
    from confide.rows.engine import Engine

MOST_ASKED = 1_000_000
"""Patients that may be asked for."""
_ROOM = 10**17  # 1e-9: more than any plan
_SHOWN = frozenset({"tables", "figures", "report", "write"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A rehearsal in its folder.

    Attributes:
        rehearsal: What it is, in a sentence.
        folder: Where it is; its name says what it is.
        report: The page in it.
        patients: Made-up patients of the twin.
        plan: Digest of the plan, which is that of the study.
        loss: What the study itself would cost.
        charged: Whether anything was charged, which nothing was.
    """

    rehearsal: str
    folder: Path
    report: Path
    patients: int
    plan: str
    loss: ToldLoss
    charged: bool = False


def rehearse_study(
    study: Path,
    *,
    out: Path,
    period: str | None = None,
    patients: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Rehearsed:
    """Run a study on a twin of its data set and save what it would publish, marked.

    Args:
        study: A study.yaml.
        out: Folder; "-rehearsal" is added to its name where it does not say so.
        period: Which run of a study that repeats.
        patients: Of the twin; None for what public numbers say.
        progress: Told the name of each stage.

    Raises:
        ContractError: If ``out`` holds something else, or a file breaks its contract.
        UnsupportedError: If the study fails on made-up rows.
    """
    declared = read_study(study, period=period)
    require_outside(out, folder=declared.declared.base / WORKSPACE)
    made = rehearse(declared.declared, declared.plan(), patients=patients, progress=progress)
    made, folder = made.called(declared.labels), rehearsal_folder(out)
    made.save(folder, progress=progress)
    return Rehearsed(
        rehearsal="Made-up rows: nothing was read or charged, and nothing may be published.",
        folder=folder,
        report=folder / "report.html",
        patients=made.patients,
        plan=made.plan.digest(),
        loss=told_loss(made.plan),
    )


def rehearse(
    declared: DeclaredDataset,
    plan: Plan,
    *,
    patients: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Rehearsal:
    """Return what a plan would publish, of made-up rows.

    Args:
        declared: Its data set; nothing but the declaration is looked at.
        plan: Of a study.
        patients: Of the twin; None for what public numbers say.
        progress: Told the name of each stage.

    Raises:
        ContractError: If there are too few or too many patients.
        UnsupportedError: If it fails on made-up rows.
    """
    if patients is not None and not 1 <= patients <= MOST_ASKED:
        raise ContractError(
            f"Expected 1 to {MOST_ASKED:,} made-up patients, got {patients:,}.",
            hint="Leave the number out for what public numbers say.",
        )
    many = min(patients or patients_of(plan), plan.dataset.population_at_most)
    progress("twin")

    def told(stage: str) -> None:
        if stage in _SHOWN:
            progress(stage)

    with tempfile.TemporaryDirectory(prefix="confide-twin-") as folder:
        made = _released(_alone(declared, base=Path(folder)), plan, patients=many, told=told)
    return rehearsed(made, patients=many)


def _released(
    alone: DeclaredDataset, plan: Plan, *, patients: int, told: Callable[[str], None]
) -> Release:
    """Return the release of a plan by a site that is alone with made-up rows."""
    with _TwinSite(alone, patients=patients) as site:
        try:
            return release(site, plan, analyst="rehearsal", progress=told)
        except ReleaseFailedError:
            raise UnsupportedError(
                "The study fails on made-up rows, so it would fail on the data; nothing was "
                "charged or read.",
                hint="This is a fault of the program; please report it.",
            ) from None


class _TwinSite(Site):
    """A site in a folder of its own, over made-up rows."""

    def __init__(self, declared: DeclaredDataset, *, patients: int) -> None:
        self._stated = declared.dataset
        stripped = replace(declared, dataset=as_frames(declared.dataset))
        super().__init__(stripped, frames=twin(declared.dataset, patients=patients))

    def engine(self) -> "Engine":
        """Return the engine over the twin."""
        return TwinEngine(super().engine())


def _alone(declared: DeclaredDataset, *, base: Path) -> DeclaredDataset:
    """Return a declaration of the same data set in a folder of its own, where everything fits."""
    initialise(base)
    policy = None if declared.policy is None else _without_limits(declared.policy)
    dataset, measure = declared.dataset, declared.measure
    delta = 10**18 if dataset.selection_delta else 0
    return replace(
        declared,
        base=base,
        source=Source(kind=SourceKind.FRAMES),
        ledger=SQLitePlace(),
        anchor=None,
        checked=Checking.AS_YOU_LIKE,
        orders=measure if isinstance(measure, Mixed) else None,
        policy=policy,
        caps=None if policy else Caps(lifetime=_ROOM, delta_lifetime_atto=delta),
    )


def _without_limits(policy: Policy) -> Policy:
    """Return a policy that leaves out the same patients, and refuses no study."""
    kept = tuple(
        cap for cap in policy.caps if cap.scope is CapScope.PATIENT and cap.enforce is Enforce.DROP
    )
    room = PolicyCap(
        id="rehearsal",
        basis=Basis.INTERNAL,
        priority=9,
        scope=CapScope.DATASET,
        window=Window.LIFETIME,
        limit=Limit(epsilon=Fraction(1_000_000)),
    )
    tiers = (replace(each, approvals=(), needed=0, ceiling=None) for each in policy.tiers)
    return replace(
        policy,
        version=1,
        effective="2000-01-01",
        caps=(*kept, room),
        tiers=tuple(tiers),
        workflow=Workflow(),
    )
