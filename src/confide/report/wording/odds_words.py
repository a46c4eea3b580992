"""A loss as odds and guesses, in sentences: what it lets anyone learn about one privacy unit.

*Privacy:* the posterior bound is a statement about single outputs: the log-ratio of the two laws
passes ε only on outputs of total probability δ.  For ρ-zCDP that ε is ρ + 2√(ρ ln 1/δ), by the tail
bound inside [BS16, prop. 1.3]; the tighter ε of (ε, δ)-DP does not bound single outputs, so it is
used for tests only.  For key selection the excluded event is that a key of one person alone slips
through, of probability δ, and the rest is pure.  Of an (ε, δ) about which nothing else is known,
only this follows: P[S] ≤ e^ε·Q[S] + δ for S = {o : P(o) > e^(2ε)·Q(o)} gives P[S] ≤ δ/(1 − e^(−ε)),
so single outputs move the odds by at most e^(2ε) but for that probability [KS14, lem. 3.3].
Probabilities are rounded up.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. J. Privacy and
        Confidentiality 6(1), 2014. https://doi.org/10.29012/jpc.v6i1.634
    [NSCKR23] Nanayakkara, Smart, Cummings, Kaptchuk, Redmiles. What are the chances? Explaining the
        epsilon parameter in differential privacy. USENIX Security 2023.
        https://arxiv.org/abs/2303.00738
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.drawing.numbers import epsilon_text, percent, power_text
from confide.drawing.words import Words
from confide.plans.plan import Plan, Priced
from confide.plans.pricing.both_noises import has_both
from confide.plans.pricing.by_itself import pointwise_by_itself
from confide.privacy.accounting.concentrated import epsilon_at, simple_epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.odds import (
    membership_advantage,
    of_100_outputs,
    posterior_bound,
    true_positive_bound,
)
from confide.privacy.unit import Entity
from confide.release.certificate.certificate import shown_loss

PRIOR = Fraction(1, 100)
_THOUSAND = 10**3
_GRID = 10**4


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A loss in the three forms that sentences need.

    Attributes:
        shown: (ε, δ), the tight one.
        pointwise: ε that bounds the odds of single outputs, but for ``exception``.
        exception: Probability of the outputs that pass it.
    """

    shown: ApproxDP | PureDP
    pointwise: PureDP
    exception: Fraction


def meaning_of(loss: PrivacyLoss, *, delta: Fraction) -> Meaning:
    """Return what a loss means; ``delta`` is where a concentrated one is shown as ε.

    Example:
        >>> meaning_of(PureDP(epsilon=Fraction(1, 2)), delta=Fraction(0)).exception
        Fraction(0, 1)
    """
    shown = shown_at(loss, delta=delta)
    match loss:
        case PureDP():
            return Meaning(shown=shown, pointwise=loss, exception=Fraction(0))
        case ApproxDP(epsilon=epsilon, delta=exception):
            return Meaning(shown=shown, pointwise=PureDP(epsilon=epsilon), exception=exception)
        case ZeroConcentratedDP():
            simple = Fraction(math.ceil(simple_epsilon_at(loss, delta=delta) * 1e6), 10**6)
            return Meaning(shown=shown, pointwise=PureDP(epsilon=simple), exception=delta)
        case _:
            assert_never(loss)


def meaning_of_plan(plan: Priced) -> Meaning:
    """Return what the loss of a plan means; of one of both noises what it loses by itself."""
    delta = plan.dataset.delta
    if isinstance(plan, Plan) and has_both(plan):
        pointwise = PureDP(epsilon=pointwise_by_itself(plan))
        return Meaning(shown=shown_loss(plan), pointwise=pointwise, exception=delta)
    if not isinstance(plan, Plan):
        return meaning_of_any(plan.loss, delta=delta)
    return meaning_of(plan.loss, delta=delta)


def loss_as_told(plan: Plan) -> PrivacyLoss:
    """Return the loss of a plan that documents tell; of one of both noises what it loses by itself.

    Its ρ says more of Laplace noise than that loses, and would be told as more than may be spent.
    """
    return shown_loss(plan) if has_both(plan) else plan.loss


def meaning_of_stated(loss: ApproxDP) -> Meaning:
    """Return what an (ε, δ) means when nothing is known of the mechanism behind it.

    Example:
        >>> told = meaning_of_stated(ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6")))
        >>> told.pointwise.epsilon, float(told.exception)
        (Fraction(2, 1), 1.582e-06)
    """
    share = float(loss.delta) / -math.expm1(-float(loss.epsilon))
    return Meaning(
        shown=loss,
        pointwise=PureDP(epsilon=2 * loss.epsilon),
        exception=min(Fraction(1), Fraction(math.ceil(share * 1e9), 10**9)),
    )


def meaning_of_any(loss: PrivacyLoss, *, delta: Fraction) -> Meaning:
    """Return what a loss means that is not that of one release of statistics.

    Of a cap, a year or a job the δ is no chance of a key that slips through: a mixed ledger's cap
    (1, 10⁻⁶) holds one event whose log-ratio passes 1 with a chance of 22·10⁻⁶.

    Example:
        >>> cap = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
        >>> meaning_of_any(cap, delta=cap.delta).pointwise
        PureDP(epsilon=Fraction(2, 1))
    """
    if isinstance(loss, ApproxDP) and loss.delta > 0 < loss.epsilon:
        return meaning_of_stated(loss)
    return meaning_of(loss, delta=delta)


def shown_at(loss: PrivacyLoss, *, delta: Fraction) -> ApproxDP | PureDP:
    """Return a loss as ε and δ; a concentrated one at ``delta``, rounded up at four decimals.

    Example:
        >>> shown_at(ZeroConcentratedDP(rho=Fraction("0.1")), delta=Fraction("1e-6")).epsilon
        Fraction(1071, 500)
    """
    match loss:
        case ZeroConcentratedDP():
            epsilon = Fraction(epsilon_at(loss, delta=delta))
            return ApproxDP(epsilon=Fraction(math.ceil(epsilon * _GRID), _GRID), delta=delta)
        case PureDP() | ApproxDP():
            return loss
        case _:
            assert_never(loss)


def loss_text(loss: PrivacyLoss, *, words: Words) -> str:
    """Return a loss with all of its parameters.

    Example:
        >>> from confide.drawing.words import load_words
        >>> loss_text(PureDP(epsilon=Fraction(1, 2)), words=load_words("en"))
        'ε = 0.5 (δ = 0)'
    """
    match loss:
        case PureDP(epsilon=epsilon):
            return words.say("loss.pure", epsilon=epsilon_text(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return words.say("loss.approx", epsilon=epsilon_text(epsilon), delta=power_text(delta))
        case ZeroConcentratedDP(rho=rho):
            return words.say("loss.rho", rho=epsilon_text(rho))
        case _:
            assert_never(loss)


def adjacency_text(unit: Entity, *, adjacency: Adjacency, words: Words) -> str:
    """Return what two neighbouring data sets differ in.

    Example:
        >>> from confide.drawing.words import load_words
        >>> adjacency_text(Entity.EVENT, adjacency=Adjacency.ADD_REMOVE, words=load_words("en"))
        'one event, added or removed'
    """
    return words.say(f"adjacency.{adjacency.value}.{unit.value}")


def odds_sentences(
    meaning: Meaning, *, unit: Entity, adjacency: Adjacency, words: Words
) -> tuple[str, ...]:
    """Return the loss as a posterior, as outputs of 100, as an advantage, and as a test."""
    entity = words.say(f"entity.{unit.value}")
    prefix = f"odds.{adjacency.value}"
    exception = (
        words.say("odds.except", delta=power_text(meaning.exception))
        if meaning.exception
        else words.say("odds.never")
    )
    wrong, right = of_100_outputs(PureDP(epsilon=meaning.shown.epsilon))
    found = true_positive_bound(meaning.shown, false_positive_rate=PRIOR)
    return (
        words.say(
            f"{prefix}.posterior",
            prior=percent(PRIOR),
            posterior=percent(posterior_bound(meaning.pointwise, prior=PRIOR)),
            entity=entity,
            **{"except": exception},
        ),
        words.say(f"{prefix}.outputs", wrong=str(wrong), right=str(right), entity=entity),
        words.say(f"{prefix}.advantage", advantage=_points(meaning), entity=entity),
        words.say(f"{prefix}.test", found=f"{math.ceil(found * _THOUSAND) / 10:g}"),
    )


def _points(meaning: Meaning) -> str:
    """Return the membership advantage in percentage points, rounded up."""
    return f"{float(Fraction(advantage_text(meaning)) * 100):g}"


def advantage_text(meaning: Meaning) -> str:
    """Return the membership advantage of the (ε, δ) that is shown, rounded up."""
    up = math.ceil(membership_advantage(meaning.shown) * _THOUSAND)
    return f"{min(_THOUSAND, up) / _THOUSAND:g}"
