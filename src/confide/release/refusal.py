"""A refused charge, told in the words of dataset.yaml.

Under zCDP charges are in ρ while people write caps in ε; both are said, because ε does not add up.

*Privacy:* made of the plan and the ledger's public amounts.
"""

from fractions import Fraction

from confide.budget.ledger import Scope
from confide.errors import BudgetExhaustedError
from confide.plans.plan import Priced
from confide.privacy.accounting.concentrated import epsilon_beside
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.tables.schema import Dataset


def told_in_epsilon(refusal: BudgetExhaustedError, *, plan: Priced) -> BudgetExhaustedError:
    """Return a refusal in ρ with the ε of dataset.yaml beside it."""
    dataset = plan.dataset
    is_rho = dataset.measure is Measure.ZCDP and not dataset.mixed
    if not is_rho or refusal.cap == Scope.LIFETIME_DELTA.value:
        return refusal

    def epsilon(rho: Fraction) -> str:
        return beside_rho(rho, dataset=dataset)

    message = str(refusal).removesuffix(refusal.hint).strip()
    return BudgetExhaustedError(
        f"{message} As dataset.yaml writes caps, in ε: requested {epsilon(refusal.requested)}, "
        f"remaining {epsilon(refusal.remaining)}; ε does not add up, ρ does.",
        cap=refusal.cap,
        requested=refusal.requested,
        remaining=refusal.remaining,
        hint=refusal.hint,
        available=refusal.available,
    )


def beside_rho(rho: Fraction, *, dataset: Dataset) -> str:
    """Return the ε that stands beside a ρ, at the δ of dataset.yaml, to three digits."""
    return epsilon_beside(rho, delta=epsilon_delta(dataset))


def beside_units(units: int | None, *, dataset: Dataset) -> str | None:
    """Return the ε that stands beside an amount of the ledger; none where amounts are in ε."""
    if units is None or dataset.measure is not Measure.ZCDP:
        return None
    return beside_rho(Fraction(units, NANO), dataset=dataset)


def epsilon_delta(dataset: Dataset) -> Fraction:
    """Return the δ at which ε stands beside ρ: what key selection leaves, as for caps."""
    return dataset.delta - dataset.selection_delta
