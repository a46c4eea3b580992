"""The promise of a release in the sentences that stand in its certificate, in every language.

*Privacy:* a sentence never states ε without unit, adjacency and δ.  The odds of single outputs move
by at most e^ε under pure privacy; under zCDP by e^(ρ + 2√(ρ ln 1/δ)) but for outputs of total
probability δ, by the tail bound inside [BS16, prop. 1.3], which is more than the ε of (ε, δ).  Of a
job under (ε, δ), whose δ is no chance of one named event, they move by at most e^2ε but for outputs
B with P[B] ≤ e^ε·Q[B] + δ ≤ e^−ε·P[B] + δ, so P[B] ≤ δ/(1 − e^−ε), and as much on the other side
[KS14, lem. 3.3].

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. J. Privacy and
        Confidentiality 6(1), 2014. https://doi.org/10.29012/jpc.v6i1.634
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.drawing.words import Words, load_words
from confide.plans.job import JobPlan
from confide.plans.plan import Priced
from confide.privacy.accounting.concentrated import simple_epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.unit import Entity
from confide.release.certificate.signed_words import (
    TABLE,
    Sentences,
    in_every_language,
    signed_sentence,
)

_LARGEST = 700  # e^709 is the largest float


def in_words(plan: Priced) -> Sentences:
    """Return the promise of a plan as one sentence a language."""
    delta, factor = _odds(plan)
    return in_every_language(lambda words: _promise(plan, delta=delta, factor=factor, words=words))


def _promise(plan: Priced, *, delta: Fraction, factor: str, words: Words) -> str:
    whom = words.say(f"signed.whom.{plan.dataset.unit.entity.value}")
    match plan.dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            what = words.say("signed.in-data", whom=whom)
        case Adjacency.SUBSTITUTE:
            what = words.say("signed.says", whom=whom)
        case _:
            assert_never(plan.dataset.adjacency)
    if not delta:
        return words.say("signed.promise", what=what, factor=factor)
    return words.say("signed.promise-but", what=what, factor=factor, delta=f"{float(delta):g}")


def _odds(plan: Priced) -> tuple[Fraction, str]:
    """Return the probability of the exceptions and the factor, rounded up."""
    match plan.loss:
        case PureDP(epsilon=epsilon):
            return Fraction(0), _factor(float(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta) if isinstance(plan, JobPlan):
            return exceptions(epsilon, delta=delta), _factor(2 * float(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return delta, _factor(float(epsilon))
        case ZeroConcentratedDP() as rho:
            delta = plan.dataset.delta
            return delta, _factor(simple_epsilon_at(rho, delta=delta))
        case _:
            assert_never(plan.loss)


def exceptions(epsilon: Fraction, *, delta: Fraction) -> Fraction:
    """Return the chance of outputs that move odds by more than e^2ε, under (ε, δ); rounded up."""
    least = -math.expm1(-float(epsilon)) * (1 - 1e-12)
    if least <= 0:
        return Fraction(1)
    chance = min(1.0, 2 * float(delta) / least)
    digits = 1 - math.floor(math.log10(chance)) if 0 < chance < 1 else 0
    return Fraction(math.ceil(chance * 10**digits), 10**digits)


def _factor(epsilon: float) -> str:
    if epsilon > _LARGEST:
        return "e^700 or more"
    value = math.exp(epsilon)
    if value >= 1e6:
        return f"{value * 1.01:.2g}"
    return f"{math.ceil(value * 1000) / 1000:.3f}"


def not_protected(plan: Priced) -> list[Sentences]:
    """Return what the promise leaves out, one sentence a language."""
    everywhere = range(len(load_words("en", part=TABLE).each("signed.not-protected")))
    keys = [f"signed.not-protected.{place}" for place in everywhere]
    if plan.dataset.unit.entity is not Entity.PATIENT:
        keys.append(f"signed.unit-not-protected.{plan.dataset.unit.entity.value}")
    return [signed_sentence(key) for key in keys]
