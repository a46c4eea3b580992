"""What a loss says in bits: how much releases may tell about one privacy unit, by theorems alone.

Three questions, from the strictest to the plainest; D is Kullback–Leibler divergence, in nats.

- *Divergence*: D between the laws of the outputs on two neighbours; what an analyst's log-odds
  gain in the mean.
- *One fact*: mutual information of the output with a fact of two values about one unit (is it in
  the data; under substitution, which of two records it has), whatever else is known and whatever
  chance the fact had before.  At most 1 bit can be told of it.
- *The whole record*: mutual information of the output with all that stands in one unit's rows, and
  whether they are there, given everybody else's.

Bounds, for P and Q the laws on neighbours, in either direction:

- ε-DP.  D ≤ ε·tanh(ε/2), attained by randomised response (:mod:`confide.privacy.odds`).  One fact:
  P and Q are a randomised response at ε that was processed further [KOV15], and processing
  adds no information, so at most the capacity 1 − h(1/(1+e^ε)) of that channel, h in bits.
- (ε, δ)-DP.  The same with an output that tells all with probability δ [KOV15]: at most
  δ + (1−δ)(1 − h(1/(1+e^ε))) for one fact, attained.  D and the whole record have no finite
  bound: with probability δ anything may be told, however long the record.
- ρ-zCDP.  D ≤ ρ, as Rényi divergences increase in their order [BS16], attained by Gaussian
  noise.  One fact of prior π: its information is πD(P‖M) + (1−π)D(Q‖M), M = πP + (1−π)Q, and D is
  convex in its second argument, so D(P‖M) ≤ (1−π)D(P‖Q); together ≤ 2π(1−π)ρ ≤ ρ/2 nats.  It is
  also at most h(π) times the total variation ([Lin91] at π = ½; for any π: what P and Q share tells
  nothing, and the rest at most h(π)), which is at most √(ρ/2) and √(1 − e^−ρ).
- δ-approximate zCDP: apart from an event of probability δ, so δ is added for one fact.
- *Losses of several releases*, each chosen after the answers before it: D of the transcript is the
  sum of the D of each (chain rule), so sums of the bounds bound it, of either measure.
  Of one fact the bounds of each add up too, since they hold at any prior, so at that which the
  answers before left; and D(P‖Q) + D(Q‖P) bounds it as above, so half the sum of D does.
- *The whole record*, add-remove: I = min over Q′ of E[D(P_x‖Q′)] over records x, and Q without the
  unit is such a Q′; substitution: I ≤ E[D(P_x‖P_x′)] by convexity.  So at most the bound on D.
  [CY16] shows the same of ε-DP with ε in its place.

*Privacy:* bounds, of the mechanism's law alone; they hold for any mechanism of the loss, and are
rounded up.

References:
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CY16] Cuff, Yu. Differential privacy as a mutual information constraint. CCS 2016.
        https://arxiv.org/abs/1608.03677
    [Lin91] Lin. Divergence measures based on the Shannon entropy. IEEE Trans. Inf. Theory 37(1),
        1991. https://doi.org/10.1109/18.61115
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

_UP = 1 + 1e-12
"""Above the error of a few operations on doubles."""
_SMALL = 1e-3
"""Below this ε the capacity is computed by its series, which the subtraction would lose."""


def divergence(losses: Sequence[PrivacyLoss]) -> float | None:
    """Return the largest Kullback–Leibler divergence of losses together, in nats, rounded up.

    None where a δ leaves it without a bound.

    Args:
        losses: Of releases, each of which may depend on the answers before it.

    Example:
        >>> pure, gaussian = PureDP(epsilon=Fraction(1)), ZeroConcentratedDP(rho=Fraction(1, 8))
        >>> round(divergence([pure]), 3), round(divergence([pure, gaussian]), 3)
        (0.462, 0.587)
    """
    total = 0.0
    for loss in losses:
        match loss:
            case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0):
                total += float(epsilon) * math.tanh(float(epsilon) / 2)
            case ZeroConcentratedDP(rho=rho, delta=0):
                total += float(rho)
            case ApproxDP() | ZeroConcentratedDP():
                return None
            case _:
                assert_never(loss)
    return total * _UP


def bits_of_record(losses: Sequence[PrivacyLoss]) -> float | None:
    """Return the most bits that losses together tell about all of one unit's rows, rounded up.

    None where a δ leaves it without a bound.

    Example:
        >>> round(bits_of_record([PureDP(epsilon=Fraction(1, 2))]), 3)
        0.177
    """
    nats = divergence(losses)
    return None if nats is None else nats / math.log(2) * _UP


def bits_of_fact(losses: Sequence[PrivacyLoss]) -> float:
    """Return the most bits that losses together tell about a fact of two values, rounded up.

    The least of several bounds: the sum of each alone, and those of all together.

    Example:
        Whether a patient is in the data, from a release of ε = 1, and from one of ε = 0.5:

        >>> round(bits_of_fact([PureDP(epsilon=Fraction(1))]), 4)
        0.1601
        >>> round(bits_of_fact([PureDP(epsilon=Fraction(1, 2))]), 4)
        0.0437
    """
    bounds = [1.0, sum(map(_alone, losses))]
    nats = divergence(losses)
    if nats is not None:
        bounds.append(nats / (2 * math.log(2)) * _UP)
    plain = [loss for loss in losses if isinstance(loss, PureDP | ApproxDP)]
    rhos = [loss for loss in losses if isinstance(loss, ZeroConcentratedDP)]
    if len(plain) == len(losses):
        epsilon = sum((loss.epsilon for loss in plain), Fraction(0))
        delta = sum((loss.delta for loss in plain if isinstance(loss, ApproxDP)), Fraction(0))
        bounds.append(_coin(float(epsilon), delta=float(delta)))
    if len(rhos) == len(losses):
        rho = sum((loss.rho for loss in rhos), Fraction(0))
        delta = sum((loss.delta for loss in rhos), Fraction(0))
        bounds.append(_concentrated(float(rho), delta=float(delta)))
    return min(bounds)


def _alone(loss: PrivacyLoss) -> float:
    """Return the bound of one loss, which holds at any prior and so may be added to others."""
    match loss:
        case PureDP(epsilon=epsilon):
            return _coin(float(epsilon), delta=0.0)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _coin(float(epsilon), delta=float(delta))
        case ZeroConcentratedDP(rho=rho, delta=delta):
            return _concentrated(float(rho), delta=float(delta))
        case _:
            assert_never(loss)


def _coin(epsilon: float, *, delta: float) -> float:
    """Return what a bent coin tells that shows the truth itself with probability δ."""
    shown = min(1.0, delta)
    return (shown + (1 - shown) * _capacity(epsilon)) * _UP


def _concentrated(rho: float, *, delta: float) -> float:
    variation = min(math.sqrt(rho / 2), math.sqrt(-math.expm1(-rho)))
    return (min(rho / (2 * math.log(2)), variation) + delta) * _UP


def _capacity(epsilon: float) -> float:
    """Return 1 − h(1/(1+e^ε)) in bits: what randomised response tells about a coin.

    Its series at 0 is ε²/8 − ε⁴/64 + ε⁶/288 − … nats, of which the first term is above the sum.
    """
    if epsilon < _SMALL:
        return epsilon**2 / (8 * math.log(2))
    wrong = 1 / (1 + math.exp(min(epsilon, 700.0)))
    entropy = -wrong * math.log2(wrong) - (1 - wrong) * math.log1p(-wrong) / math.log(2)
    return (1 - entropy) + 4e-15
