"""A plan where the ledger cannot be opened: read-only folders, volumes whose files others may read.

Everything but the ledger's word follows from public files; what is left of each cap, and whether
this was released or approved, is said to be unknown.

*Privacy:* reads neither the ledger, nor a key, nor the data.
"""

import os
import stat
from pathlib import Path

from confide.drawing.words import load_words
from confide.files.dataset import DeclaredDataset
from confide.files.public.private_places import WORKSPACE
from confide.files.study import DeclaredStudy
from confide.plans.plan import Plan
from confide.plans.pricing.allocate import forecasts
from confide.release.site.keys import ORDER, SIGNING
from confide.report.policy.policy_planned import unlike_planned
from confide.report.wording.guarantee import patient_promises
from confide.service.planning.caps import delta_beside, file_caps
from confide.service.planning.growth import told_growth
from confide.service.planning.left_out import told_refusal
from confide.service.planning.loss import told_loss
from confide.service.planning.outlook import measured_by, outlooks
from confide.service.planning.preview import Preview

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def why_alone(base: Path) -> str:
    """Return why the workspace of a folder cannot be opened by this user; "" if it may be."""
    inside = base / WORKSPACE
    if not os.access(base, os.X_OK) or not inside.exists():
        return "" if os.access(base, os.W_OK | os.X_OK) else "the folder is read-only"
    if not os.access(inside, os.R_OK | os.W_OK | os.X_OK):
        return f"{WORKSPACE} cannot be read and written by you"
    for name in (SIGNING, ORDER, "ledger.sqlite"):
        place = inside / name
        if place.exists() and place.stat().st_mode & _OTHERS:
            return f"{WORKSPACE}/{name} is open to others, so it is not used"
    return ""


def preview_alone(study: DeclaredStudy, planned: Plan, *, why: str) -> Preview:
    """Return what is known of a plan without its ledger."""
    caps = file_caps(study.declared, planned=planned)
    refused = told_refusal(planned, ledger=None)
    is_open = refused is None and all(cap.fits is None for cap in caps)
    return Preview(
        study=planned.study.id,
        title=planned.study.title,
        period=planned.study.period,
        dataset=planned.dataset.id,
        digest=planned.digest(),
        loss=told_loss(planned),
        measurements=measured_by(planned),
        statistics=outlooks(forecasts(planned)),
        caps=caps,
        epsilon_delta=delta_beside(planned.dataset),
        patients=tuple(patient_promises(planned.dataset, words=load_words("en"))),
        refusal=refused,
        fits=None if is_open else False,
        released_as=None,
        withheld_as=None,
        approval=None,
        unlike_planned=_unlike(study.declared, planned=planned),
        grows_from=None,
        grows=told_growth(planned),
        published_before=None,
        unknown=f"The ledger was not opened ({why}). Not known: what is left of each cap, "
        "whether this was released or approved, what earlier releases answer, and whether the "
        "source holds what the study names.",
    )


def _unlike(declared: DeclaredDataset, *, planned: Plan) -> tuple[str, ...]:
    """Say in what a study differs from a planned release of the policy as its file says it."""
    if declared.policy is None:
        return ()
    return tuple(unlike_planned(planned, policy=declared.policy, words=load_words("en")))
