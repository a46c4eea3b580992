"""How dataset.yaml says that losses add up, and its amounts; what a mixed ledger is told."""

import enum
from fractions import Fraction

from confide.budget.ledger import Caps
from confide.budget.policy.epsilon_caps import EpsilonCaps, measure_for
from confide.budget.policy.policy import Policy
from confide.errors import ContractError
from confide.files.texts import Counting, Exact, Positive, Section, read_section
from confide.plans.pricing.roads import YearRoom
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import ATTO, NANO, nano
from confide.privacy.exact import Number
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.tables.schema import Dataset


class CountedIn(enum.Enum):
    """In what a ledger counts, as dataset.yaml says it."""

    PURE = Measure.PURE.value
    ZCDP = Measure.ZCDP.value
    MIXED = "mixed"

    @property
    def limits(self) -> Measure:
        """The measure of caps, ceilings and other limits."""
        return Measure.ZCDP if self is CountedIn.ZCDP else Measure.PURE


def counted_in(policy: Policy) -> CountedIn:
    """Return in what a policy counts."""
    return CountedIn.MIXED if policy.mixed else CountedIn(policy.measure.value)


class AccountingSection(Section):
    """How losses add up, and δ; where no measure is named, as a policy says, else mixed."""

    measure: CountedIn = CountedIn.MIXED
    delta: Exact = Fraction(0)
    selection_delta: Exact | None = None
    releases_a_year: Counting | None = None

    def under(self, policy: Policy) -> "AccountingSection":
        """Return it with the measure of a policy, where it names none."""
        if "measure" in self.model_fields_set:
            return self
        return self.model_copy(update={"measure": counted_in(policy)})

    @property
    def is_mixed(self) -> bool:
        """Whether the ledger takes plans of either measure."""
        return self.measure is CountedIn.MIXED

    @property
    def planned_in(self) -> Measure:
        """The measure of plans that say nothing else; a mixed ledger has both tried."""
        return Measure.ZCDP if self.is_mixed else Measure(self.measure.value)

    @property
    def selections(self) -> Fraction:
        """The part of δ that is kept for selections of keys, where no policy says it."""
        if self.selection_delta is not None:
            return self.selection_delta
        return self.delta if self.measure is CountedIn.PURE else self.delta / 2


class AmountSection(Section):
    """One amount: ε, or ρ under zcdp."""

    epsilon: Positive | None = None
    rho: Positive | None = None


def require_mixed_alone(section: AccountingSection, *, name: str) -> None:
    """Refuse what says something of mixed ledgers alone where the ledger is none."""
    if section.releases_a_year is not None and not section.is_mixed:
        raise ContractError(
            f"{name}: accounting → releases-a-year says which noise is chosen under mixed.",
            hint="Leave it out, or write measure: mixed.",
        )


def ledger_measure(dataset: Dataset, *, limits: Caps | Policy | None) -> LedgerMeasure:
    """Return in what a ledger counts; orders of a mixed one are the best for its caps.

    Args:
        dataset: Which it is of.
        limits: Of it; None where nobody can know them yet.
    """
    if not dataset.mixed or limits is None:
        return dataset.measure
    return measure_for(EpsilonCaps.of(limits), delta=dataset.delta - dataset.selection_delta)


def room_of_a_year(
    measure: LedgerMeasure, *, limits: Caps | Policy | None, releases: int | None
) -> YearRoom | None:
    """Return what a mixed ledger gives a year, or a lifetime without years; None of another.

    Args:
        measure: Of the ledger.
        limits: Its caps or policy.
        releases: How many are to fit, if somebody said.
    """
    if not isinstance(measure, Mixed) or limits is None:
        return None
    caps = EpsilonCaps.of(limits)
    cap = MixedCap(
        epsilon=Fraction(caps.yearly or caps.lifetime, NANO),
        delta=Fraction(measure.atto, ATTO),
        order=measure.yearly if caps.yearly else measure.lifetime,
    )
    yearly = caps.yearly is not None
    return YearRoom(measure=measure, cap=cap, releases=releases or 1, yearly=yearly)


def _mixed_rho(epsilon: Fraction, *, dataset: Dataset, place: str) -> int:
    """Return the most ρ of a release, in 1e-9, that costs a mixed ledger no more than ε.

    Raises:
        ContractError: If that is nothing.
    """
    cap = MixedCap.of(epsilon, delta=dataset.delta - dataset.selection_delta)
    found = cap.budget // cap.order
    if found < 1:
        raise ContractError(f"{place}: no ρ is as little as this ε.", hint="Write a larger ε.")
    return found


def amount_nano(section: AmountSection, *, dataset: Dataset, place: str) -> int:
    """Return an amount of a file in 1e-9 of the data set's measure, rounded down.

    Under zcdp an ε is read at the declared δ less the δ kept for key selection; so it is under
    mixed, at the order that is the best for a release of that ε.

    Raises:
        ContractError: If it names no amount, or one of another measure.
    """
    if dataset.mixed and section.rho is not None:
        raise ContractError(
            f"{place}: expected an amount in ε, as everything is under measure: mixed.",
            hint="Write {epsilon: 1}.",
        )
    if dataset.mixed and section.epsilon is not None and dataset.measure is Measure.ZCDP:
        return _mixed_rho(section.epsilon, dataset=dataset, place=place)
    match section.epsilon, section.rho, dataset.measure:
        case Fraction() as epsilon, None, Measure.PURE:
            return nano(epsilon)
        case Fraction() as epsilon, None, Measure.ZCDP:
            rho = rho_for(epsilon, delta=dataset.delta - dataset.selection_delta)
            return nano(rho)
        case None, Fraction() as rho, Measure.ZCDP:
            return nano(rho)
        case _:
            raise ContractError(
                f"{place}: expected one amount in the measure {dataset.measure.value}.",
                hint="Write {epsilon: 1}, or {rho: 0.02} under zcdp.",
            )


def asked_nano(epsilon: Number | None, rho: Number | None, *, dataset: Dataset) -> int | None:
    """Return an amount that was given in Python in 1e-9; None where none was.

    Raises:
        ContractError: As :func:`amount_nano`, or if it is no amount.
    """
    given = {"epsilon": epsilon, "rho": rho}
    named = {key: value for key, value in given.items() if value is not None}
    if not named:
        return None
    amount = read_section(AmountSection, named, name="plan")
    return amount_nano(amount, dataset=dataset, place="plan")
