"""A plan where the ledger cannot be opened: read-only folders, volumes whose files others may read.

Everything but the ledger's word follows from public files; what is left of each cap, and whether
this was released or approved, is said to be unknown.

*Privacy:* reads neither the ledger, nor a key, nor the data.
"""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confide.budget.counters import HeldCap
    from confide.files.dataset import DeclaredDataset
    from confide.files.study import DeclaredStudy
    from confide.plans.plan import Plan

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def why_alone(base: Path) -> str:
    """Return why the workspace of a folder cannot be opened by this user; "" if it may be."""
    from confide.files.private_places import WORKSPACE
    from confide.release.keys import ORDER, SIGNING

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


def plan_alone(study: "DeclaredStudy", planned: "Plan", *, why: str) -> dict[str, Any]:
    """Return what is known of a plan without its ledger."""
    from confide.cli.deliver import loss_body
    from confide.cli.left_out import told_refusal
    from confide.cli.plan_body import growth_body, measurement_body, statistics_body
    from confide.drawing.words import load_words
    from confide.plans.allocate import forecasts
    from confide.report.guarantee import patient_promises

    caps = _caps(study.declared, planned=planned)
    refused = told_refusal(planned, ledger=None)
    is_open = refused is None and all(cap["fits"] is None for cap in caps)
    return {
        "study": planned.study.id,
        "title": planned.study.title,
        "period": planned.study.period,
        "dataset": planned.dataset.id,
        "digest": planned.digest(),
        "loss": loss_body(planned),
        "measurements": [measurement_body(each, planned=planned) for each in planned.measurements],
        "statistics": statistics_body(forecasts(planned)),
        "caps": caps,
        "patients": patient_promises(planned.dataset, words=load_words("en")),
        "refusal": refused,
        "fits": None if is_open else False,
        "released-as": None,
        "withheld-as": None,
        "approval": None,
        "unlike-planned": _unlike(study.declared, planned=planned),
        "grows-from": None,
        "grows": growth_body(planned),
        "published-before": None,
        "unknown": f"The ledger was not opened ({why}). Not known: what is left of each cap, "
        "whether this was released or approved, what earlier releases answer, and whether the "
        "source holds what the study names.",
    }


def _unlike(declared: "DeclaredDataset", *, planned: "Plan") -> list[str]:
    """Say in what a study differs from a planned release of the policy as its file says it."""
    from confide.drawing.words import load_words
    from confide.report.policy_planned import unlike_planned

    if declared.policy is None:
        return []
    return unlike_planned(planned, policy=declared.policy, words=load_words("en"))


def _caps(declared: "DeclaredDataset", *, planned: "Plan") -> list[dict[str, Any]]:
    """Return the caps as files say them; a cap that this alone would pass does not fit."""
    from confide.budget.file_caps import caps_of_file
    from confide.budget.policy.adoption import adopted

    held: tuple[HeldCap, ...] = ()
    if declared.policy is not None:
        held = adopted(declared.policy).held()
    elif declared.caps is not None:
        held = caps_of_file(declared.caps)
    return [_cap(each, planned=planned) for each in held if each.units or planned.atto]


def _cap(each: "HeldCap", *, planned: "Plan") -> dict[str, Any]:
    from confide.budget.ledger import Scope
    from confide.privacy.amount import ATTO, NANO, decimal_text

    delta = each.kind == Scope.LIFETIME_DELTA.value
    this, per_one = (planned.atto, ATTO) if delta else (planned.nano, NANO)
    name = each.kind.replace("/", " ").replace("-", " ")
    return {
        "cap": f"{each.id} ({name})" if each.id else name,
        "letter": "δ" if delta else planned.dataset.measure.letter,
        "limit": decimal_text(each.units, per_one=per_one),
        "spent": None,
        "this": decimal_text(this, per_one=per_one),
        "free-after": None,
        "fits": False if this > each.units else None,
    }
