"""Caps that leave patients out, as `confide plan` and `confide ledger show` tell of them.

*Privacy:* made of the plan and of what everybody was charged, which rows of the ledger tell alone.
"""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from confide.cli.output import say, table

if TYPE_CHECKING:
    from confide.budget.ledger import Ledger
    from confide.plans.plan import Plan
    from confide.tables.schema import Dataset

_WINDOWS = {"rolling-365d": "any 365 days", "release": "one release"}


def told_refusal(plan: "Plan", *, ledger: "Ledger | None") -> dict[str, str] | None:
    """Return why nobody could be counted, in the words in which a run is refused; None if not.

    Args:
        plan: What would be released.
        ledger: Holds what everybody was charged; None where it cannot be opened.

    Raises:
        ContractError: If patients cannot be left out of such a plan.
    """
    from confide.release.left_out import cap_uses, refusal
    from confide.release.refusal import told_in_epsilon

    found = refusal(plan, uses=cap_uses(plan.dataset, ledger=ledger))
    if found is None:
        return None
    told = told_in_epsilon(found, plan=plan)
    return {"cap": told.cap, "message": str(told), "available": told.available}


def show_left_out(body: dict[str, Any]) -> None:
    """Print what a plan promises of those who are left out, and whether that is everybody."""
    for promise in body["patients"]:
        say(promise, style="yellow")
    if body["refusal"] is not None:
        say(body["refusal"]["message"], style="red")


def patient_caps_body(dataset: "Dataset", *, ledger: "Ledger") -> list[dict[str, Any]]:
    """Return each cap of the policy in force that leaves patients out, and its public use.

    Amounts are in ε or ρ, as text: ``limit`` as the policy says it, ``kept-to`` up to which a
    patient's own charges add up, ``everybody`` that every patient was charged at least, and
    ``left`` of ``kept-to`` at most.
    """
    from confide.budget.per_patient.caps import patient_caps
    from confide.privacy.amount import NANO, decimal_text
    from confide.privacy.individual import FEMTO
    from confide.release.left_out import cap_uses
    from confide.release.refusal import beside_units

    caps = patient_caps(ledger.desk.policy(dataset.lineage))
    found = []
    for use in cap_uses(replace(dataset, patients=caps), ledger=ledger):
        held = {
            "limit": use.cap.nano * (FEMTO // NANO),
            "kept-to": use.bound,
            "everybody": use.everybody,
            "left": use.left,
        }
        beside = {
            name: beside_units(femto // (FEMTO // NANO), dataset=dataset)
            for name, femto in held.items()
        }
        found.append(
            {
                "cap": use.cap.id,
                "letter": dataset.measure.letter,
                "window": use.cap.window.value,
                **{name: decimal_text(femto, per_one=FEMTO) for name, femto in held.items()},
                "epsilon": {name: epsilon for name, epsilon in beside.items() if epsilon},
            }
        )
    return found


def show_patient_caps(caps: list[dict[str, Any]]) -> None:
    """Print the caps that leave patients out; nothing where there is none."""
    if not caps:
        return
    table(
        ("cap", "over", "limit", "everybody was charged at least", "left at most"),
        [
            (
                cap["cap"],
                _WINDOWS.get(cap["window"], cap["window"].replace("-", " ")),
                f"{cap['letter']} {_amount(cap, 'limit')}",
                _amount(cap, "everybody"),
                _amount(cap, "left"),
            )
            for cap in caps
        ],
        title="Caps of each patient: whoever has reached one is left out",
        right=(2, 3, 4),
    )
    for cap in caps:
        if cap["kept-to"] != cap["limit"]:
            kept = _amount(cap, "kept-to")
            say(f"  {cap['cap']}: under substitution the charges of a patient add up to {kept}.")


def _amount(cap: dict[str, Any], name: str) -> str:
    """Return an amount of a cap: limits and what is left rounded down, what was charged up."""
    from confide.drawing.numbers import limit_of, used_of

    exact = Fraction(cap[name])
    charged = name == "everybody"
    shown = used_of(exact, cap=Fraction(cap["limit"])) if charged else limit_of(exact)
    beside = cap["epsilon"].get(name)
    return f"{float(shown):.4g}" + (f" (ε {beside})" if beside else "")
