"""The caps that a plan falls under, for people and for machines: limit, spent, this, free after."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from confide.cli.output import table

if TYPE_CHECKING:
    from confide.budget.ledger import ScopeSpent, Spent
    from confide.plans.plan import Plan


def caps_body(spent: "Spent", *, planned: "Plan", free: bool = False) -> list[dict[str, Any]]:
    """Return the use of each cap, what a plan takes of it, and what is free after.

    Args:
        spent: So far.
        planned: The plan.
        free: Whether what it asks was charged before, and is delivered at no charge.
    """
    from confide.budget.ledger import Scope
    from confide.privacy.amount import ATTO, NANO, decimal_text

    rows = []
    for use in spent.scopes:
        delta = use.scope is Scope.LIFETIME_DELTA
        if delta and not use.cap and not planned.atto:
            continue
        this, per_one = (planned.atto, ATTO) if delta else (planned.nano, NANO)
        this = 0 if free else this
        after = None if use.cap is None else use.cap - use.used - this
        rows.append(
            {
                "cap": cap_name(use),
                "letter": "δ" if delta else spent.measure.letter,
                "limit": None if use.cap is None else decimal_text(use.cap, per_one=per_one),
                "spent": decimal_text(use.used, per_one=per_one),
                "this": decimal_text(this, per_one=per_one),
                "free-after": None if after is None else decimal_text(after, per_one=per_one),
                "fits": after is None or after >= 0,
            }
        )
    return rows


def cap_name(use: "ScopeSpent") -> str:
    """Return the name of a cap for people: "calendar year 2027"."""
    words = {"lifetime-delta": "lifetime, key selection", "rolling-365d": "any 365 days"}
    scope = words.get(use.scope.value, use.scope.value.replace("-", " "))
    name = f"{scope} {use.period.replace('/', ' ')}".strip()
    return f"{use.cap_id} ({name})" if use.cap_id else name


def show_caps(body: dict[str, Any]) -> None:
    """Print the caps that the ledger keeps, and those up to which each patient is in."""
    from confide.cli.left_out import show_left_out

    if body["caps"]:
        table(
            ("cap", "limit", "spent", "this", "free after"),
            [_cap_row(cap) for cap in body["caps"]],
            title="Budget",
            right=(1, 2, 3, 4),
        )
    show_left_out(body)


def cap_text(cap: dict[str, Any], name: str) -> str:
    """Return an amount of a cap: limits and what is free rounded down, what is used up."""
    from confide.drawing.numbers import limit_of, used_of

    amount = Fraction(cap[name])
    if name in ("limit", "free", "free-after"):
        shown = limit_of(amount)
    elif cap["limit"] is None:
        shown = -limit_of(-amount)
    else:
        shown = used_of(amount, cap=Fraction(cap["limit"]))
    return f"{float(shown):.4g}"


def _cap_row(cap: dict[str, Any]) -> tuple[str, ...]:
    def amount(name: str) -> str:
        unknown = "not known" if cap["fits"] is None else "–"
        return unknown if cap[name] is None else cap_text(cap, name)

    limit = "no cap" if cap["limit"] is None else f"{cap['letter']} {amount('limit')}"
    return (cap["cap"], limit, amount("spent"), amount("this"), amount("free-after"))
