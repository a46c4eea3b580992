"""Caps that leave patients out, as `confide plan` and `confide ledger show` tell of them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.cli.output import say, table

if TYPE_CHECKING:
    from confide.service.planning.left_out import PatientCap
    from confide.service.planning.preview import Preview

_WINDOWS = {"rolling-365d": "any 365 days", "release": "one release"}


def show_left_out(seen: "Preview") -> None:
    """Print what a plan promises of those who are left out, and whether that is everybody."""
    for promise in seen.patients:
        say(promise, style="yellow")
    if seen.refusal is not None:
        say(seen.refusal.message, style="red")


def show_patient_caps(caps: "Sequence[PatientCap]") -> None:
    """Print the caps that leave patients out; nothing where there is none."""
    if not caps:
        return
    table(
        ("cap", "over", "limit", "everybody was charged at least", "left at most"),
        [
            (
                cap.cap,
                _WINDOWS.get(cap.window, cap.window.replace("-", " ")),
                f"{cap.letter} {_left(cap, 'limit', cap.limit)}",
                _charged(cap),
                _left(cap, "left", cap.left),
            )
            for cap in caps
        ],
        title="Caps of each patient: whoever has reached one is left out",
        right=(2, 3, 4),
    )
    for cap in caps:
        if cap.kept_to != cap.limit:
            kept = _left(cap, "kept-to", cap.kept_to)
            say(f"  {cap.cap}: under substitution the charges of a patient add up to {kept}.")


def _left(cap: "PatientCap", name: str, amount: str) -> str:
    """Return a limit, or what is left of it, rounded down."""
    from confide.drawing.numbers import limit_of

    return f"{float(limit_of(Fraction(amount))):.4g}{_beside(cap, name)}"


def _charged(cap: "PatientCap") -> str:
    """Return what everybody was charged, rounded up."""
    from confide.drawing.numbers import used_of

    shown = used_of(Fraction(cap.everybody), cap=Fraction(cap.limit))
    return f"{float(shown):.4g}{_beside(cap, 'everybody')}"


def _beside(cap: "PatientCap", name: str) -> str:
    beside = cap.epsilon.get(name)
    return f" (ε {beside})" if beside else ""
