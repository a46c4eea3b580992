"""Why the ledger says no, in words that name the fix.

*Privacy:* every reason here depends on declared facts and earlier charges only, never on rows.
"""

from collections.abc import Mapping
from fractions import Fraction

from confide.budget.amount import Amount
from confide.budget.book import Held
from confide.budget.growth import Growth, Step
from confide.budget.ledger import Charge, ChargeRequest, LedgerTerms, Scope, State
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    MismatchError,
    PolicyError,
)
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.measure import Measure


def exhausted(charges: tuple[Charge, ...], *, measure: Measure) -> BudgetExhaustedError | None:
    """Return the refusal by the tightest cap that would be passed, if one would.

    Example:
        >>> year = Charge(
        ...     scope=Scope.CALENDAR_YEAR,
        ...     period="2027",
        ...     amount=500_000_000,
        ...     before=900_000_000,
        ...     after=1_400_000_000,
        ...     cap=1_000_000_000,
        ... )
        >>> refusal = exhausted((year,), measure=Measure.PURE)
        >>> str(refusal).partition(" Ask")[0]
        'Requested ε=0.5, remaining ε=0.1 (cap calendar-year), difference 0.4.'
    """
    passed = [charge for charge in charges if charge.after > charge.cap]
    if not passed:
        return None
    charge = min(passed, key=lambda each: each.cap - each.before)
    delta = charge.scope is Scope.LIFETIME_DELTA
    letter, per_one = ("δ", ATTO) if delta else (measure.letter, NANO)
    left = charge.cap - charge.before
    return BudgetExhaustedError(
        f"Requested {letter}={decimal_text(charge.amount, per_one=per_one)}, "
        f"remaining {letter}={decimal_text(left, per_one=per_one)} (cap {charge.scope.value}), "
        f"difference {decimal_text(charge.amount - left, per_one=per_one)}.",
        cap=charge.scope.value,
        requested=Fraction(charge.amount, per_one),
        remaining=Fraction(left, per_one),
        hint=_way_out(charge, left=left),
    )


def require_terms(old: LedgerTerms, *, new: LedgerTerms) -> None:
    """Refuse a second registration under other terms."""
    require_same_terms(old, new=new)
    if old.caps != new.caps:
        raise PolicyError(
            f"Lineage {old.lineage!r} was charged under other caps: {_caps_text(old, new=new)}.",
            hint="Put dataset.yaml back, or run: confide ledger amend-caps --reason ...; it "
            "records why. Under zcdp a cap written as ε also moves when delta does.",
        )


def _caps_text(old: LedgerTerms, *, new: LedgerTerms) -> str:
    """Return the caps that differ: "lifetime ρ=0.2, now ρ=0.3"."""

    def text(units: int | None, letter: str, per_one: int) -> str:
        if units is None:
            return "none"
        return f"{letter}={decimal_text(units, per_one=per_one)}"

    rows = [
        ("lifetime", old.caps.lifetime, new.caps.lifetime, old.measure.letter, NANO),
        ("calendar-year", old.caps.calendar_year, new.caps.calendar_year, old.measure.letter, NANO),
        ("release", old.caps.release, new.caps.release, old.measure.letter, NANO),
        (
            "delta kept for key selection",
            old.caps.delta_lifetime_atto,
            new.caps.delta_lifetime_atto,
            "δ",
            ATTO,
        ),
    ]
    return "; ".join(
        f"{name} {text(before, letter, per_one)}, now {text(after, letter, per_one)}"
        for name, before, after, letter, per_one in rows
        if before != after
    )


def require_same_terms(old: LedgerTerms, *, new: LedgerTerms | ChargeRequest) -> None:
    """Refuse another unit, adjacency or measure than the lineage was registered with."""
    for name in ("unit", "adjacency", "measure"):
        ours, theirs = getattr(old, name).value, getattr(new, name).value
        if ours != theirs:
            raise MismatchError(
                f"Expected {name} {ours!r} as in the ledger of {old.lineage!r}, got {theirs!r}.",
                hint=f"Plan with {name}: {ours}; one lineage has one {name} for life.",
            )


def require_same_question(held: Held, *, request: ChargeRequest) -> None:
    """Refuse a key that comes back with another amount or other events."""
    entry = held.entry
    same = (
        entry.lineage == request.lineage
        and entry.amount == request.amount
        and held.events_json == request.events_json
    )
    if not same:
        raise ContractError(
            f"Request key {request.request_key!r} belongs to another charge of the same plan.",
            hint="A plan has one digest, one amount and one list of events; use a new key.",
        )


def require_next(step: Step, *, growths: Mapping[int, Growth], lineage: str) -> None:
    """Refuse a free step that is not the next one of a release that was charged for it."""
    growth = growths.get(step.continues or 0)
    problem = "no such release grows" if growth is None else growth.problem(step, lineage=lineage)
    if problem:
        raise PolicyError(
            f"The release of entry {step.continues} cannot go on: {problem}.",
            hint="Each period is measured once. Ask for the next ones, or run the study anew, "
            "which is charged.",
        )


def require_covered(amount: Amount, *, recomputed: Amount, measure: Measure) -> None:
    """Refuse a charge below what its own events cost."""
    if not amount.covers(recomputed):
        raise ContractError(
            f"Expected a charge of at least {recomputed.text(measure)}, "
            f"got {amount.text(measure)}.",
            hint="The events of the plan cost more than it asks to be charged.",
        )


def state_error(held: Held, *, wanted: str) -> PolicyError:
    """Return why a request in this state cannot do what is wanted."""
    number, state = held.entry.number, held.entry.state
    if state is State.BURNED:
        return burned(number)
    return PolicyError(
        f"Entry {number} is {state.value} and cannot be {wanted}.",
        hint="Ask again with the same request key to get what it has.",
    )


def burned(number: int) -> BurnedError:
    """Return the refusal of a key that died."""
    return BurnedError(
        f"Entry {number} died after reading began; its charge stays.",
        hint="To ask again, and be charged again, use a new request key.",
    )


def in_progress(number: int) -> PolicyError:
    """Return the refusal of a key that somebody is working on."""
    return PolicyError(
        f"Entry {number}, with the same request key, is in progress.",
        hint="Wait for it to end and ask again with the same key.",
    )


def _way_out(charge: Charge, *, left: int) -> str:
    if left <= 0:
        return "Nothing is left under this cap."
    ask = "Ask for no more than what remains"
    match charge.scope:
        case Scope.CALENDAR_YEAR:
            return f"{ask}, or wait for the year after {charge.period}."
        case Scope.RELEASE:
            return f"{ask}: a larger error, or fewer statistics."
        case _:
            return f"{ask}."
