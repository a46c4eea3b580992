"""The caps that a plan falls under: limit, spent, this, free after."""

from collections.abc import Mapping
from dataclasses import dataclass

from confide.budget.accounts.file_caps import caps_of_file
from confide.budget.accounts.lanes import order_in
from confide.budget.ledger import Scope, ScopeSpent, Spent
from confide.budget.policy.adoption import adopted
from confide.budget.policy.counters import HeldCap
from confide.drawing.numbers import power_text
from confide.files.dataset import DeclaredDataset
from confide.plans.plan import Plan, Priced
from confide.plans.pricing.roads import amount_in
from confide.privacy.amount import ATTO, NANO, Amount, decimal_text
from confide.privacy.measure import LedgerMeasure, Measure, letter_in
from confide.release.refusal import beside_units, epsilon_delta
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCap:
    """What a plan takes of a cap; amounts are in ε, ρ or δ, as text.

    Attributes:
        cap: Its name for people.
        letter: ε, ρ or δ.
        limit: None where there is no cap.
        spent: So far; None where the ledger is not open.
        this: What the plan takes.
        free_after: None where there is no cap, or the ledger is not open.
        fits: Whether the plan does; None where the ledger is not open.
        epsilon: The same in ε, where amounts are in ρ.
    """

    cap: str
    letter: str
    limit: str | None
    spent: str | None
    this: str
    free_after: str | None
    fits: bool | None
    epsilon: Mapping[str, str]


def plan_caps(spent: Spent, *, planned: Priced, free: bool = False) -> tuple[PlanCap, ...]:
    """Return the use of each cap, what a plan takes of it, and what is free after.

    Args:
        spent: So far.
        planned: The plan.
        free: Whether what it asks was charged before, and is delivered at no charge.
    """
    rows = []
    amount = Amount(nano=0) if free else amount_in(spent.measure, planned=planned)
    for scope in spent.scopes:
        delta = scope.scope is Scope.LIFETIME_DELTA
        if delta and not scope.cap and not planned.amount.atto:
            continue
        use, this = scope.charged(amount)
        per_one = ATTO if delta else NANO
        after = None if use.cap is None else use.cap - use.used - this
        fits = after is None or after >= 0
        rows.append(
            PlanCap(
                cap=cap_name(use),
                letter=letter_of(use, measure=spent.measure),
                limit=None if use.cap is None else decimal_text(use.cap, per_one=per_one),
                spent=decimal_text(use.used, per_one=per_one),
                this=decimal_text(this, per_one=per_one),
                free_after=None if after is None else decimal_text(after, per_one=per_one),
                fits=fits,
                epsilon=in_epsilon(
                    planned.dataset,
                    delta=delta,
                    limit=use.cap,
                    spent=use.used,
                    this=this,
                    free_after=after if fits else None,  # no ε is less than nothing
                ),
            )
        )
    return tuple(rows)


def letter_of(use: ScopeSpent, *, measure: LedgerMeasure) -> str:
    """Return in what the amounts of a cap are: ε, ρ, δ, or ε(a) at an order of a mixed ledger."""
    letter = "δ" if use.scope is Scope.LIFETIME_DELTA else measure.letter
    return letter_in(use.order, letter=letter)


def cap_name(use: ScopeSpent) -> str:
    """Return the name of a cap for people: "calendar year 2027"."""
    words = {"lifetime-delta": "lifetime, charged δ", "rolling-365d": "any 365 days"}
    scope = words.get(use.scope.value, use.scope.value.replace("-", " "))
    name = f"{scope} {use.period.replace('/', ' ')}".strip()
    if use.order and use.epsilon is not None:  # how much ε it lets be lost, where it counts another
        name = f"{name}: ε {decimal_text(use.epsilon, per_one=NANO)}"
    return f"{use.cap_id} ({name})" if use.cap_id else name


def file_caps(declared: DeclaredDataset, *, planned: Plan) -> tuple[PlanCap, ...]:
    """Return the caps as files say them; a cap that this alone would pass does not fit."""
    held: tuple[HeldCap, ...] = ()
    if declared.policy is not None:
        held = adopted(declared.policy).held(declared.measure)
    elif declared.caps is not None:
        held = caps_of_file(declared.caps, measure=declared.measure)
    amount = amount_in(declared.measure, planned=planned)
    return tuple(
        _cap(each, amount=amount, planned=planned, measure=declared.measure)
        for each in held
        if each.units or planned.amount.atto
    )


def _cap(each: HeldCap, *, amount: Amount, planned: Plan, measure: LedgerMeasure) -> PlanCap:
    delta = each.kind == Scope.LIFETIME_DELTA.value
    name = each.kind.replace("/", " ").replace("-", " ")
    order = 0 if each.epsilon is None else order_in(each.kind, measure=measure)
    scope = Scope(each.kind.partition("/")[0])
    empty = ScopeSpent(
        scope=scope,
        period="",
        used=0,
        cap=each.units,
        remaining=each.units,
        order=order,
        epsilon=each.epsilon,
        pure=0 if order else None,
    )
    use, this = empty.charged(amount)
    most, per_one = use.cap or 0, ATTO if delta else NANO
    return PlanCap(
        cap=f"{each.id} ({name})" if each.id else name,
        letter=letter_of(use, measure=measure),
        limit=decimal_text(most, per_one=per_one),
        spent=None,
        this=decimal_text(this, per_one=per_one),
        free_after=None,
        fits=False if this > most else None,
        epsilon=in_epsilon(planned.dataset, delta=delta, limit=most, this=this),
    )


def in_epsilon(dataset: Dataset, *, delta: bool, **units: int | None) -> Mapping[str, str]:
    """Return amounts of a cap in ε by name, of those that are known and in ρ.

    Args:
        dataset: Whose δ they are read at.
        delta: Whether the cap is of δ.
        units: By name.
    """
    beside = {name: beside_units(each, dataset=dataset) for name, each in units.items()}
    if dataset.mixed:  # amounts are in ε, or at an order
        return {}
    return {name.replace("_", "-"): e for name, e in beside.items() if e and not delta}


def delta_beside(dataset: Dataset) -> str | None:
    """Return the δ of every ε of a cap; none where that is pure."""
    has_delta = dataset.mixed or dataset.measure is Measure.ZCDP
    return power_text(epsilon_delta(dataset)) if has_delta else None
