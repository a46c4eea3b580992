"""What a loss means to a patient and to a jury: odds, guesses, advantages.

All of these follow from the definition and need no data.  An analyst who knows everything but
whether one patient is in the data holds prior odds; one release multiplies them by at most e^ε.

- posterior: a prior probability π becomes at most π e^ε/(1 − π + π e^ε) [KS14].
- of 100 possible outputs, at most 100e^ε/(1+e^ε) would make the analyst guess "in" when the patient
  is in, if he errs as often the other way, and 100/(1+e^ε) when not [NSCKR23].
- (ε, δ): a test with false-positive rate f has a true-positive rate of at most
  min(e^ε f + δ, 1 − e^−ε (1 − δ − f)) [KOV15, sec. 2; WZ10]; true minus false is largest where
  they meet: (e^ε − 1 + 2δ)/(e^ε + 1), which is tanh(ε/2) at δ = 0.
- μ-Gaussian DP: true minus false is at most 2Φ(μ/2) − 1 [DRS22].
- ρ-zCDP: the Kullback–Leibler divergence is at most ρ, so true minus false is at most √(ρ/2) by
  Pinsker's inequality, and at most √(1 − e^−ρ) by that of Bretagnolle and Huber [Tsy09, lem. 2.5
  and the proof of 2.6].  δ-approximate zCDP adds δ.
- expected log-odds: KL divergence is at most ε·tanh(ε/2).  *Proof:* the log-ratio L lies in
  [−ε, ε] with E[e^−L] = 1; at given E[e^−L] the mean E[L] is largest when L is ±ε, as e^−L is
  convex; that is randomised response.  For ρ-zCDP it is at most ρ (order → 1) [BS16].

*Privacy:* bounds are rounded up, so that the sentence stays true.  Only the "of 100" pair is
rounded to the nearest, since its two numbers are one guess and add up to 100.

References:
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. JPC 6(1), 2014.
        https://doi.org/10.29012/jpc.v6i1.634
    [NSCKR23] Nanayakkara, Smart, Cummings, Kaptchuk, Redmiles. What are the chances? Explaining the
        epsilon parameter in differential privacy. USENIX Security 2023.
        https://arxiv.org/abs/2303.00738
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [WZ10] Wasserman, Zhou. A statistical framework for differential privacy. JASA 105(489), 2010.
        https://doi.org/10.1198/jasa.2009.tm08651
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
    [Tsy09] Tsybakov. Introduction to nonparametric estimation. Springer, 2009.
        https://doi.org/10.1007/b13794
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import math
from decimal import Decimal
from fractions import Fraction

from confide.errors import InvalidParameterError
from confide.privacy.amount import NANO
from confide.privacy.directed import exp_ceil, log_floor
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP

_GRID = 10**24  # of e^ε; far below a float's ulp
_LARGEST_EPSILON = 700  # e^709 is the largest float


def odds_factor(loss: PureDP) -> float:
    """Return e^ε, the most by which the odds about one patient can change, rounded up.

    Raises:
        InvalidParameterError: If ε is greater than 700.

    Example:
        >>> round(odds_factor(PureDP(epsilon=Fraction("0.01"))), 3)
        1.01
    """
    return _float_up(_factor(loss.epsilon))


def epsilon_for_odds(factor: Fraction) -> PureDP:
    """Return the largest ε, in steps of 1e-9, whose odds factor is at most ``factor``.

    The comparison is exact: e^ε ≤ ``factor`` holds for real numbers, not for floats.

    Raises:
        InvalidParameterError: If ``factor`` is not greater than e^1e-9.

    Example:
        A law that lets the odds about any one patient change by at most 1.5:

        >>> epsilon_for_odds(Fraction("1.5"))
        PureDP(epsilon=Fraction(101366277, 250000000))
    """
    steps = log_floor(factor, grid=NANO) if factor > 1 else 0
    if steps < 1:
        raise InvalidParameterError(
            f"Expected an odds factor > 1, got {factor}.",
            hint='A factor of 1 would forbid every release; a usual cap is odds-factor: "1.5".',
        )
    return PureDP(epsilon=Fraction(steps, NANO))


def posterior_bound(loss: PureDP, *, prior: Fraction, digits: int = 3) -> Decimal:
    """Return the most that a belief of ``prior`` can become, rounded up at ``digits`` decimals.

    Raises:
        InvalidParameterError: If ``prior`` is not an exact probability.

    Example:
        A neighbour who thinks it 1 % likely that a patient has the diagnosis, before and after a
        count at ε = 0.5:

        >>> posterior_bound(PureDP(epsilon=Fraction("0.5")), prior=Fraction("0.01"))
        Decimal('0.017')
    """
    _require_probability("prior", prior)
    if loss.epsilon > _LARGEST_EPSILON:
        return Decimal(1)  # no belief is larger
    factor = _factor(loss.epsilon)
    bound = prior * factor / (1 - prior + prior * factor)  # increases with the factor
    return Decimal((bound * 10**digits).__ceil__()).scaleb(-digits)


def of_100_outputs(loss: PureDP) -> tuple[int, int]:
    """Return how many of 100 outputs say "in the data" if the patient is not, and if they are.

    Rounded to the nearest; the two add up to 100.

    Example:
        >>> of_100_outputs(PureDP(epsilon=Fraction("0.5")))
        (38, 62)
    """
    wrong = (100 / (1 + _factor(loss.epsilon)) + Fraction(1, 2)).__floor__()
    return wrong, 100 - wrong


def true_positive_bound(loss: PureDP | ApproxDP, *, false_positive_rate: Fraction) -> float:
    """Return the largest true-positive rate of any membership test at ``false_positive_rate``.

    Rounded up.

    Example:
        An attacker who may accuse 1 in 100 outsiders finds at most 1.65 in 100 members at ε = 0.5:

        >>> loss = ApproxDP(epsilon=Fraction("0.5"), delta=Fraction("1e-6"))
        >>> round(true_positive_bound(loss, false_positive_rate=Fraction("0.01")), 4)
        0.0165
    """
    _require_probability("false_positive_rate", false_positive_rate)
    factor, delta = _factor(loss.epsilon), _delta(loss)
    straight = factor * false_positive_rate + delta
    # The same inequality for the complementary test; both hold since neighbouring is symmetric.
    complement = 1 - max(Fraction(0), 1 - delta - false_positive_rate) / factor
    return min(1.0, _float_up(min(straight, complement)))


def membership_advantage(loss: PureDP | ApproxDP) -> float:
    """Return the most that a test's true-positive rate can exceed its false-positive rate.

    Rounded up.  For :class:`PureDP` this is tanh(ε/2).

    Example:
        >>> round(membership_advantage(PureDP(epsilon=Fraction("0.5"))), 3)
        0.245
    """
    factor = _factor(loss.epsilon)
    return min(1.0, _float_up((factor - 1 + 2 * _delta(loss)) / (factor + 1)))


def concentrated_advantage(loss: ZeroConcentratedDP) -> float:
    """Return the most that a test's true-positive rate can exceed its false-positive rate.

    Rounded up.  It holds for any mechanism of that loss, so for Gaussian noise it is a third wide.

    Example:
        >>> round(concentrated_advantage(ZeroConcentratedDP(rho=Fraction(1, 8))), 3)
        0.25
    """
    rho = float(loss.rho)
    least = min(math.sqrt(rho / 2), math.sqrt(-math.expm1(-rho)))
    return min(1.0, (least + float(loss.delta)) * (1 + 1e-12))


def require_sayable(epsilon: Fraction) -> None:
    """Refuse a loss whose odds no certificate can state.

    Raises:
        InvalidParameterError: If ε is greater than 700.
    """
    if epsilon > _LARGEST_EPSILON:
        raise InvalidParameterError(
            f"Expected epsilon ≤ {_LARGEST_EPSILON}, got {float(epsilon):.6g}.",
            hint="A loss of that size protects nobody; losses for health records are near 1.",
        )


def _factor(epsilon: Fraction) -> Fraction:
    """Return e^ε rounded up on a fine grid."""
    require_sayable(epsilon)
    return Fraction(exp_ceil(epsilon, grid=_GRID), _GRID)


def _delta(loss: PureDP | ApproxDP) -> Fraction:
    return loss.delta if isinstance(loss, ApproxDP) else Fraction(0)


def _float_up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _require_probability(name: str, value: Fraction) -> None:
    if not isinstance(value, Fraction | int) or not 0 <= value <= 1:
        raise InvalidParameterError(
            f"Expected {name} as an exact Fraction in [0, 1], got {name}={value}."
        )
