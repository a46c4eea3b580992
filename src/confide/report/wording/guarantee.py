"""The guarantee of a release, printed from its plan and certificate; never written by hand.

*Privacy:* states ε only with its unit, adjacency, window and δ.  The transcript's bound is the
lifetime cap: the ledger refuses whatever would pass it, so it holds for everything that was and
will be issued under it.

References:
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. JPC 6(1), 2014.
        https://doi.org/10.29012/jpc.v6i1.634
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.budget.ledger import Scope
from confide.budget.policy.policy import Policy
from confide.drawing.numbers import clean, epsilon_text, power_text
from confide.drawing.words import Words
from confide.plans.plan import Plan
from confide.plans.pricing.by_itself import loss_by_itself
from confide.privacy.amount import NANO
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure, letter_in
from confide.privacy.unit import Entity
from confide.release.certificate.certificate import GROUP_SIZES, shown_group_loss, shown_loss
from confide.release.certificate.its_noise import reason_text
from confide.release.certificate.over_sites import over_sites_text
from confide.release.certificate.parts import AccountingPart, ChargePart
from confide.report.wording.odds_words import (
    adjacency_text,
    meaning_of_plan,
    odds_sentences,
    shown_at,
)
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What is promised, in sentences.

    Attributes:
        promise: The definition with this release's numbers, and those of the whole transcript.
        odds: What that means for a guess about one privacy unit.
        groups: The promise to several people.
        relies: What it relies on.
        excluded: What it does not promise.
    """

    promise: tuple[str, ...]
    odds: tuple[str, ...]
    groups: tuple[str, ...]
    relies: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine:
    """One charge of a certificate, as exact numbers.

    Attributes:
        scope: Which cap.
        period: Year of a yearly cap; else empty.
        before: Spent before the release.
        amount: Charged for it.
        after: Spent after it.
        cap: The most that may be spent.
        order: Of a mixed ledger that counts at an order: that order.
        epsilon: The ε that the cap lets be lost, of a mixed ledger.
    """

    scope: Scope
    period: str
    before: Fraction
    amount: Fraction
    after: Fraction
    cap: Fraction
    order: int = 0
    epsilon: Fraction | None = None

    @property
    def limit(self) -> Fraction:
        """How much the cap lets be lost, in the measure of its ledger."""
        return self.cap if self.epsilon is None else self.epsilon

    def letter(self, dataset: Dataset) -> str:
        """Return in what its amounts are: ε, ρ, δ, or ε(a) at an order of a mixed ledger."""
        letter = "ε" if dataset.mixed else dataset.measure.letter
        return letter_in(self.order, letter="δ" if self.scope is Scope.LIFETIME_DELTA else letter)


def charge_lines(accounting: AccountingPart) -> tuple[ChargeLine, ...]:
    """Return the charges of a certificate, in the order of the ledger."""
    return tuple(map(_charge_line, accounting.charges))


def _charge_line(charge: ChargePart) -> ChargeLine:
    scope, _, period = charge.scope.partition("/")
    return ChargeLine(
        scope=Scope(scope),
        period=period,
        before=Fraction(charge.before),
        amount=Fraction(charge.amount),
        after=Fraction(charge.after),
        cap=Fraction(charge.cap),
        order=charge.order or 0,
        epsilon=None if charge.epsilon is None else Fraction(charge.epsilon),
    )


def guarantee(plan: Plan, *, accounting: AccountingPart, words: Words) -> Guarantee:
    """Return the guarantee of a release under the caps that its certificate quotes."""
    dataset = plan.dataset
    shown = shown_loss(plan)
    unit, adjacency = dataset.unit.entity, dataset.adjacency
    promise = [
        words.say(
            "guarantee.promise",
            dataset=clean(dataset.id),
            adjacency=adjacency_text(unit, adjacency=adjacency, words=words),
            **epsilon_delta(shown),
        )
    ]
    promise.append(" ".join(_accounted(plan, words=words)))
    promise += filter(None, (over_sites_text(plan, words=words),))
    promise += _windows(accounting, dataset=dataset, words=words)
    promise += patient_promises(dataset, words=words)
    excluded = words.each("guarantee.not")
    if dataset.unit.entity is Entity.EVENT:
        excluded = (words.say("guarantee.event-only"), *excluded)
    if dataset.unit.entity is Entity.EDGE:
        excluded = (words.say("guarantee.edge-only"), *excluded)
    if dataset.unit.entity is Entity.HOSPITAL:
        excluded = (words.say("guarantee.hospital-only"), *excluded)
    return Guarantee(
        promise=tuple(promise),
        odds=odds_sentences(
            meaning_of_plan(plan),
            unit=unit,
            adjacency=adjacency,
            words=words,
        ),
        groups=tuple(_group(plan, size=size, words=words) for size in GROUP_SIZES),
        relies=words.each("guarantee.relies"),
        excluded=excluded,
    )


def _accounted(plan: Plan, *, words: Words) -> Iterator[str]:
    """Yield in what the loss adds up, what the release loses by itself, and why its noise."""
    if isinstance(plan.loss, ZeroConcentratedDP):
        alone, delta = loss_by_itself(plan), power_text(plan.dataset.delta)
        said = {"rho": epsilon_text(plan.loss.rho), "delta": delta}
        if alone is None:
            yield words.say("guarantee.rho", **said)
        else:
            yield words.say("guarantee.rho-by-itself", **said, epsilon=epsilon_text(alone.epsilon))
    yield reason_text(plan, words=words)


def epsilon_delta(loss: ApproxDP | PureDP) -> dict[str, str]:
    """Return the texts of ε and δ.

    Example:
        >>> epsilon_delta(PureDP(epsilon=Fraction(1, 2)))
        {'epsilon': '0.5', 'delta': '0'}
    """
    delta = loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
    return {"epsilon": epsilon_text(loss.epsilon), "delta": power_text(delta)}


def cap_loss(cap: Fraction, *, of: Dataset | Policy) -> PrivacyLoss:
    """Return the loss that a cap allows, with all of the δ that selections may spend beside it."""
    if of.mixed:
        delta = of.delta if isinstance(of, Dataset) else of.report_delta
        return ApproxDP(epsilon=cap, delta=delta)
    match of.measure:
        case Measure.ZCDP:
            return ZeroConcentratedDP(rho=cap, delta=of.selection_delta)
        case Measure.PURE if of.selection_delta > 0:
            return ApproxDP(epsilon=cap, delta=of.selection_delta)
        case Measure.PURE:
            return PureDP(epsilon=cap)
        case _:
            assert_never(of.measure)


def _windows(accounting: AccountingPart, *, dataset: Dataset, words: Words) -> list[str]:
    said, yearly = [], False
    for line in charge_lines(accounting):
        match line.scope:
            case Scope.LIFETIME:
                shown = shown_at(cap_loss(line.limit, of=dataset), delta=dataset.delta)
                said.append(
                    words.say(
                        "guarantee.transcript",
                        lineage=clean(dataset.lineage),
                        **epsilon_delta(shown),
                    )
                )
            case Scope.CALENDAR_YEAR:
                yearly = True
                shown = shown_at(cap_loss(line.limit, of=dataset), delta=dataset.delta)
                said.append(
                    words.say("guarantee.year", year=clean(line.period), **epsilon_delta(shown))
                )
            case (
                Scope.RELEASE | Scope.LIFETIME_DELTA | Scope.ROLLING | Scope.PROJECT | Scope.ANALYST
            ):
                pass
            case _:
                assert_never(line.scope)
    return said if yearly else [*said, words.say("guarantee.no-year")]


def patient_promises(dataset: Dataset, *, words: Words) -> list[str]:
    """Return the promises that leaving patients out keeps, each under its own cap."""
    return [
        words.say(
            "guarantee.patients",
            window=words.say(f"guarantee.patients-{cap.window.value}"),
            **epsilon_delta(
                shown_at(cap_loss(Fraction(cap.nano, NANO), of=dataset), delta=dataset.delta)
            ),
        )
        for cap in dataset.patients
    ]


def _group(plan: Plan, *, size: int, words: Words) -> str:
    loss = shown_group_loss(plan, size=size)
    if loss is None:
        return words.say("guarantee.group-none", size=str(size))
    match plan.dataset.unit.entity:
        case Entity.PATIENT:
            key = "guarantee.group"
        case Entity.EVENT:
            key = "guarantee.group-event"
        case Entity.EDGE:
            key = "guarantee.group-edge"
        case Entity.HOSPITAL:
            key = "guarantee.group-hospital"
        case other:
            assert_never(other)
    return words.say(key, size=str(size), **epsilon_delta(loss))
