"""The caps that a plan falls under, for people: limit, spent, this, free after."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.cli.output import table
from confide.cli.planning.left_out import show_left_out

if TYPE_CHECKING:
    from confide.service.planning.caps import PlanCap
    from confide.service.planning.preview import Preview


def show_caps(seen: "Preview") -> None:
    """Print the caps that the ledger keeps, and those up to which each patient is in."""
    show_caps_of_all(seen.caps, epsilon_delta=seen.epsilon_delta)
    show_left_out(seen)


def show_caps_of_all(caps: "Sequence[PlanCap]", *, epsilon_delta: str | None) -> None:
    """Print the caps that the ledger keeps; nothing where there is none."""
    if caps:
        table(
            ("cap", "limit", "spent", "this", "free after"),
            [_cap_row(cap) for cap in caps],
            title=f"Budget{at_delta(epsilon_delta)}",
            right=(1, 2, 3, 4),
        )


def left_text(amount: str) -> str:
    """Return a limit, or what is free, rounded down."""
    from confide.drawing.numbers import limit_of

    return f"{float(limit_of(Fraction(amount))):.4g}"


def used_text(amount: str, *, limit: str | None) -> str:
    """Return what is used of a limit, rounded up."""
    from confide.drawing.numbers import limit_of, used_of

    exact = Fraction(amount)
    shown = -limit_of(-exact) if limit is None else used_of(exact, cap=Fraction(limit))
    return f"{float(shown):.4g}"


def at_delta(delta: str | None) -> str:
    """Return at which δ the ε of a table are; "" where there is none."""
    return f" (ε at δ = {delta}, as in caps)" if delta else ""


def beside(name: str, *, epsilon: Mapping[str, str]) -> str:
    """Return " (ε …)" for an amount in ρ that has an ε."""
    return f" (ε {epsilon[name]})" if name in epsilon else ""


def passed_text(over: "Sequence[PlanCap]") -> str:
    """Say which caps a plan would pass, and how much wider its errors would have to be.

    Noise that is twice as wide costs half of ε, and a quarter of ρ.
    """
    names = ", ".join(cap.cap for cap in over)
    told = f"a cap would be passed ({names})."
    powers = {"ε": 1.0, "ρ": 0.5}
    factors = []
    for cap in over:
        free = Fraction(cap.limit or 0) - Fraction(cap.spent or 0)
        if free <= 0:
            return f"{told} Nothing is left there."
        if cap.letter not in powers:
            return told
        factors.append(float(Fraction(cap.this) / free) ** powers[cap.letter])
    wider = math.ceil(max(factors) * 100) / 100
    return f"{told} About {wider:.2f} times the errors would fit, or fewer questions."


def _cap_row(cap: "PlanCap") -> tuple[str, ...]:
    unknown = "not known" if cap.fits is None else "–"

    def more(name: str) -> str:
        return beside(name, epsilon=cap.epsilon)

    return (
        cap.cap,
        "no cap" if cap.limit is None else f"{cap.letter} {left_text(cap.limit)}{more('limit')}",
        unknown if cap.spent is None else used_text(cap.spent, limit=cap.limit) + more("spent"),
        used_text(cap.this, limit=cap.limit) + more("this"),
        unknown if cap.free_after is None else left_text(cap.free_after) + more("free-after"),
    )
