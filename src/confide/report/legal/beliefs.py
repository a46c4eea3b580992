"""How far a release, a year or a lifetime can move what somebody believes about one patient.

For a prior belief π the posterior is at most π e^ε/(1 − π + π e^ε) [KS14], with the ε that bounds
single outputs (:mod:`confide.report.wording.odds_words`): of an (ε, δ) that is a cap or a year, 2ε
but for δ/(1 − e^−ε).

Whether a known participant has one attribute or another is a question about two data sets that
differ in the *replacement* of one patient's records.  Under add-remove that is a removal and an
addition, so the bound is that of a group of two: 2ε, or 4ρ [BS16, prop. 1.9].  A guess of a yes or
no about which nothing is known is right with at most the posterior of one half.

*Privacy:* functions of losses and caps, which are public; bounds are rounded up.

References:
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. JPC 6(1), 2014.
        https://doi.org/10.29012/jpc.v6i1.634
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from confide.budget.ledger import Scope
from confide.errors import InvalidParameterError
from confide.plans.plan import Plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.group import group_loss
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.odds import posterior_bound
from confide.report.legal.subject import LegalSubject, Stage
from confide.report.wording.guarantee import cap_loss
from confide.report.wording.odds_words import (
    Meaning,
    advantage_text,
    meaning_of,
    meaning_of_any,
    meaning_of_plan,
    meaning_of_stated,
    shown_at,
)
from confide.tables.schema import Dataset

PRIORS = tuple(Fraction(text) for text in ("1/100", "1/10", "1/2"))
GROUPS = (2, 5)
_MOST_EPSILON = 100
"""Beyond it every posterior is 1 to more digits than are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSpan:
    """A loss over some span: this release, its year, the lifetime of the ledger.

    Attributes:
        name: "release", "year", "year-cap", "lifetime-cap", or "patient-cap": up to it each patient
            counts, and is then left out.
        period: Year, where it is one; of a patient's cap its window.
        loss: Its bound.
        plan: Of a release; None of what is not one.
    """

    name: str
    period: str
    loss: PrivacyLoss
    plan: Plan | None = None

    def meaning(self, *, dataset: Dataset) -> Meaning:
        """Return what the loss means: of what is not one release, as an (ε, δ) and no more."""
        if self.plan is not None:
            return meaning_of_plan(self.plan)
        told = meaning_of if self.name == "release" else meaning_of_any
        return told(self.loss, delta=dataset.delta)

    def of_attribute(self, *, dataset: Dataset) -> Meaning | None:
        """Return what it means for a guess between two possible records of one unit."""
        match dataset.adjacency:
            case Adjacency.SUBSTITUTE:
                return self.meaning(dataset=dataset)
            case Adjacency.ADD_REMOVE:
                return of_group(self.loss, size=2, dataset=dataset)
            case _:
                assert_never(dataset.adjacency)


def windows(subject: LegalSubject) -> tuple[LossSpan, ...]:
    """Return what a subject costs, and the caps of its year, its lifetime and of each patient."""
    found = []
    if subject.loss is not None:
        name = "year" if subject.stage is Stage.YEAR else "release"
        found.append(
            LossSpan(name=name, period=subject.period, loss=subject.loss, plan=subject.plan)
        )
    for line in subject.lines:
        if line.scope in (Scope.CALENDAR_YEAR, Scope.LIFETIME):
            name = "year-cap" if line.scope is Scope.CALENDAR_YEAR else "lifetime-cap"
            loss = cap_loss(line.limit, of=subject.dataset)
            found.append(LossSpan(name=name, period=line.period, loss=loss))
    for own in subject.dataset.patients:
        loss = cap_loss(Fraction(own.nano, NANO), of=subject.dataset)
        found.append(LossSpan(name="patient-cap", period=own.window.value, loss=loss))
    return tuple(found)


def posterior(meaning: Meaning, *, prior: Fraction) -> Decimal:
    """Return the most that a belief can become, rounded up to a thousandth."""
    epsilon = min(meaning.pointwise.epsilon, Fraction(_MOST_EPSILON))
    if epsilon < meaning.pointwise.epsilon:
        return Decimal(1)
    return posterior_bound(PureDP(epsilon=epsilon), prior=prior)


def advantage(meaning: Meaning) -> str:
    """Return the membership advantage, rounded up; 1 where the bound says nothing."""
    return "1" if meaning.shown.epsilon > _MOST_EPSILON else advantage_text(meaning)


def of_group(loss: PrivacyLoss, *, size: int, dataset: Dataset) -> Meaning | None:
    """Return what a loss means for ``size`` units together; None where no bound is left."""
    try:
        match loss:
            case PureDP() | ZeroConcentratedDP(delta=0):
                return meaning_of(group_loss(loss, size=size), delta=dataset.delta)
            case ZeroConcentratedDP() | ApproxDP():
                told = group_loss(shown_at(loss, delta=dataset.delta), size=size)
                if not isinstance(told, ApproxDP):  # δ = 0
                    return meaning_of(told, delta=dataset.delta)
                return meaning_of_stated(told)
            case _:
                assert_never(loss)
    except InvalidParameterError:
        return None
