"""Why a lineage takes no other terms, unit, adjacency, measure or caps; words that name the fix.

*Privacy:* amounts of other terms do not add up, so a lineage that was charged keeps its own, also
those that only lost rows had set.
"""

from dataclasses import replace

from confide.budget.accounts.file_caps import is_raised
from confide.budget.accounts.lost_terms import Told
from confide.budget.ledger import ChargeRequest, LedgerTerms
from confide.budget.policy.policy import Policy
from confide.errors import MismatchError, PolicyError
from confide.privacy.amount import ATTO, NANO, atto, decimal_text
from confide.privacy.measure import Mixed


def require_same_terms(old: LedgerTerms, *, new: LedgerTerms | ChargeRequest) -> None:
    """Refuse another unit, adjacency or measure than the lineage was registered with.

    A mixed one takes requests of any measure.
    """
    takes_any = isinstance(old.measure, Mixed) and isinstance(new, ChargeRequest)
    for name in ("unit", "adjacency") if takes_any else ("unit", "adjacency", "measure"):
        ours, theirs = getattr(old, name).value, getattr(new, name).value
        if ours != theirs:
            ours, theirs = _named(ours), _named(theirs)
            raise MismatchError(
                f"Expected {name} {ours!r} as in the ledger of {old.lineage!r}, got {theirs!r}.",
                hint=f"Plan with {name}: {ours}; one lineage has one {name} for life.",
            )


def _named(value: str) -> str:
    """Return what a person calls a unit, adjacency or measure; a mixed one with the δ of caps."""
    mixed, _, rest = value.partition("/")
    if not rest:
        return value
    delta = decimal_text(int(rest.partition("/")[0]), per_one=ATTO)
    return f"{mixed} (delta less selection-delta: {delta})"


def in_orders_of(held: LedgerTerms, *, new: LedgerTerms) -> LedgerTerms:
    """Return new terms in the orders of a ledger, if both are of mixed ones at the same δ.

    A ledger keeps its orders, whatever became of its caps.
    """
    ours, theirs = held.measure, new.measure
    if isinstance(ours, Mixed) and isinstance(theirs, Mixed) and ours.atto == theirs.atto:
        return replace(new, measure=ours)
    return new


def require_terms(old: LedgerTerms, *, new: LedgerTerms) -> None:
    """Refuse a second registration under other terms."""
    require_same_terms(old, new=new)
    if old.caps != new.caps:
        raise PolicyError(
            f"Lineage {old.lineage!r} was charged under other caps: {_caps_text(old, new=new)}.",
            hint="Put the caps in dataset.yaml back, or run: confide ledger amend-caps --reason "
            "...; it records why. In Python pass the lifetime= of before, which is the first fit's "
            "epsilon where none was passed. Under zcdp a cap written as ε also moves when delta "
            "does.",
        )


def as_lost(terms: LedgerTerms, *, lost: Told) -> LedgerTerms:
    """Return the terms with which a lineage begins that lost rows charged.

    Their caps hold where dataset.yaml names a policy instead, until it is adopted.

    Raises:
        MismatchError: If unit, adjacency or measure are others than lost rows tell.
        PolicyError: If caps are higher.
    """
    if lost.newest:
        told = lost.terms(terms.lineage, caps=None)
        terms = in_orders_of(told, new=terms)
        require_same_terms(told, new=terms)
    if terms.caps is None:
        return replace(terms, caps=lost.caps)
    if lost.caps is not None and is_raised(lost.caps, terms.caps):
        old = replace(terms, caps=lost.caps)
        raise PolicyError(
            f"Lineage {terms.lineage!r} was charged under other caps, in rows that are lost: "
            f"{_caps_text(old, new=terms)}.",
            hint="Put dataset.yaml back (in Python the lifetime= of before), and plan. Then raise "
            "them: confide ledger amend-caps --reason ...",
        )
    return terms


def require_policy_terms(terms: LedgerTerms, *, policy: Policy) -> None:
    """Refuse a policy of another unit, adjacency or measure than the lineage's."""
    theirs = policy.measure.value
    if policy.mixed:
        theirs = f"mixed/{atto(policy.epsilon_delta)}/"
    pairs = [
        ("unit", terms.unit.value, policy.unit.value),
        ("adjacency", terms.adjacency.value, policy.adjacency.value),
        ("measure", terms.measure.value, theirs),
    ]
    for name, ours, other in pairs:
        if ours != other and not (name == "measure" and policy.counts_in(terms.measure)):
            raise MismatchError(
                f"Expected a policy with {name} {_named(ours)!r} as in the ledger of "
                f"{terms.lineage!r}, got {_named(other)!r}.",
                hint=f"One lineage has one {name} for life.",
            )


def _caps_text(old: LedgerTerms, *, new: LedgerTerms) -> str:
    """Return the caps that differ: "lifetime ρ=0.2, now ρ=0.3"."""

    def text(units: int | None, letter: str, per_one: int) -> str:
        if units is None:
            return "none"
        return f"{letter}={decimal_text(units, per_one=per_one)}"

    if old.caps is None or new.caps is None:
        return "none, now some" if old.caps is None else "some, now none"
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
