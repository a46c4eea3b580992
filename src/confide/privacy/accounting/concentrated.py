"""Zero-concentrated differential privacy (zCDP): what ρ means, and ρ as (ε, δ).

Law: M is ρ-zCDP when its Rényi divergence of every order α > 1 between neighbouring data sets is
at most ρ·α [BS16, def. 1.1]; ρ adds up, also when the next question depends on earlier answers.

- ε-DP implies ε²/2-zCDP [BS16, prop. 1.4]; the exponential mechanism, whose loss stays within a
  range of width ε, is ε²/8-zCDP [CR21, sec. 3; DR19].  Permute-and-flip and Laplace are not.
- simple: ρ-zCDP implies (ρ + 2√(ρ ln 1/δ), δ)-DP [BS16, prop. 1.3].
- tight: for **every** α > 1, ρ-zCDP implies (ε, δ)-DP with
  ε = αρ + ln(1/(αδ))/(α−1) + ln(1−1/α)  [CKS20, cor. 13].  The least is where ρ(α−1)² + ln α =
  ln(1/δ), whose left side increases, so one bisection finds it.
- δ₀-approximate ρ-zCDP implies (ε, δ₀ + (1−δ₀)δ′)-DP, where (ε, δ′) is that of ρ
  [BS16, sec. 8]; we read ε at δ′ = δ − δ₀, which claims a little less than that allows.

*Privacy:* an α that is not quite the best one costs a little ε and no validity.  The formula is
evaluated in floats and the result raised by 32 ulp of the sum of its terms' magnitudes, more than
all rounding errors together, so ``epsilon_at`` is an upper bound of the real number it stands for.
*Utility:* the slack is below 1e-13 of the terms; the tight ε is 8–25 % below the simple one.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [CR21] Cesar, Rogers. Bounding, concentrating, and truncating. ALT 2021.
        https://arxiv.org/abs/2004.07223
    [DR19] Durfee, Rogers. Practical differentially private top-k selection with pay-what-you-get
        composition. NeurIPS 2019. https://arxiv.org/abs/1905.04273
"""

import math
import sys
from fractions import Fraction
from functools import lru_cache

from confide.errors import InvalidParameterError
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP, ZeroConcentratedDP

_SLACK = 32 * sys.float_info.epsilon
_LEAST_DELTA = Fraction(1, 10**300)  # below it, floats are subnormal and lose digits


def pure_to_zcdp(loss: PureDP) -> ZeroConcentratedDP:
    """Return the ρ = ε²/2 of any ε-DP mechanism, exactly [BS16, prop. 1.4].

    Example:
        A diabetes count with Laplace noise at ε = 0.1 costs ρ = 0.005:

        >>> pure_to_zcdp(PureDP(epsilon=Fraction("0.1"))).rho
        Fraction(1, 200)
    """
    return ZeroConcentratedDP(rho=Fraction(loss.epsilon) ** 2 / 2)


def pure_within(loss: ZeroConcentratedDP) -> PureDP:
    """Return the largest ε, in steps of 1e-9, with ε²/2 ≤ ρ: Laplace noise inside a ρ share.

    Raises:
        InvalidParameterError: If no ε ≥ 1e-9 is within it.

    Example:
        A diabetes count that may spend ρ = 0.005:

        >>> pure_within(ZeroConcentratedDP(rho=Fraction("0.005"))).epsilon
        Fraction(1, 10)
    """
    steps = math.isqrt((2 * Fraction(loss.rho) * NANO**2).__floor__())  # isqrt is exact
    if steps < 1:
        raise InvalidParameterError(f"Expected a rho that allows epsilon ≥ 1e-9, got {loss.rho}.")
    return PureDP(epsilon=Fraction(steps, NANO))


def simple_epsilon_at(loss: ZeroConcentratedDP, *, delta: Fraction) -> float:
    """Return ρ + 2√(ρ ln 1/δ), the textbook ε, rounded up; for comparison.

    Raises:
        InvalidParameterError: If ``delta`` is not in (loss.delta, 1).

    Example:
        >>> loss = ZeroConcentratedDP(rho=Fraction("0.1"))
        >>> round(simple_epsilon_at(loss, delta=Fraction("1e-6")), 3)
        2.451
    """
    rho, log_inverse = float(loss.rho), _log_inverse(loss, delta=delta)
    return (rho + 2 * math.sqrt(rho * log_inverse)) * (1 + _SLACK)


def epsilon_at(loss: ZeroConcentratedDP, *, delta: Fraction) -> float:
    """Return an ε such that ``loss`` implies (ε, ``delta``)-DP: the tight one, rounded up.

    Raises:
        InvalidParameterError: If ``delta`` is not in (loss.delta, 1).

    Example:
        A year of dashboards at ρ = 0.1, told as ε at δ = 1e-6:

        >>> round(epsilon_at(ZeroConcentratedDP(rho=Fraction("0.1")), delta=Fraction("1e-6")), 4)
        2.1419
    """
    rho, log_inverse = float(loss.rho), _log_inverse(loss, delta=delta)
    excess = _best_excess(rho, log_inverse=log_inverse)  # α − 1
    terms = (
        rho * (1 + excess),
        (log_inverse - math.log1p(excess)) / excess,
        -math.log1p(1 / excess),  # ln(1 − 1/α), without cancellation
    )
    # ln δ and ln α carry absolute errors of about an ulp of 1, which the division by α−1 enlarges.
    magnitude = sum(map(abs, terms)) + (1 + log_inverse + math.log1p(excess)) / excess
    return max(0.0, math.fsum(terms) + _SLACK * magnitude)


def epsilon_beside(rho: Fraction, *, delta: Fraction) -> str:
    """Return the ε that stands beside a ρ, to three digits."""
    return "0" if rho <= 0 else f"{epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta):.3g}"


@lru_cache(maxsize=4096)  # searched for, of the same caps again and again
def rho_for(epsilon: Fraction, *, delta: Fraction) -> Fraction:
    """Return the largest ρ, in steps of 1e-9, that implies (``epsilon``, ``delta``)-DP.

    Rounded down: ``epsilon_at`` of the result never exceeds ``epsilon``.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1), or even ρ = 1e-9 would be too much.

    Example:
        A cap of ε = 1 at δ = 1e-6, as ρ:

        >>> float(rho_for(Fraction(1), delta=Fraction("1e-6")))
        0.02435597
    """

    def fits(steps: int) -> bool:  # float ≤ Fraction is compared exactly
        loss = ZeroConcentratedDP(rho=Fraction(steps, NANO))
        return epsilon_at(loss, delta=delta) <= epsilon

    if epsilon <= 0 or not fits(1):
        raise InvalidParameterError(
            f"Expected an epsilon that some rho ≥ 1e-9 meets, got epsilon={epsilon}.",
            hint="Raise epsilon, or report at a larger delta.",
        )
    low, high = 1, 2
    while fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Fraction(low, NANO)


def _log_inverse(loss: ZeroConcentratedDP, *, delta: Fraction) -> float:
    """Return ln 1/(δ − δ₀) after checking the domain."""
    # A float here would make δ = δ₀ pass, or not, by its rounding.
    if not isinstance(delta, Fraction) or not loss.delta + _LEAST_DELTA <= delta < 1:
        raise InvalidParameterError(
            f"Expected an exact delta in ({loss.delta}, 1), got delta={delta}.",
            hint="A reported delta must exceed the delta already spent by approximate releases.",
        )
    return -math.log(delta - loss.delta)


def _best_excess(rho: float, *, log_inverse: float) -> float:
    """Return u = α − 1 with ρu² + ln(1+u) = ln 1/δ, nearly; any u > 0 is valid."""
    # Either term alone bounds the root; expm1 is guarded, since e^709 overflows.
    low, high = 0.0, min(math.sqrt(log_inverse / rho), math.expm1(min(log_inverse, 700)))
    for _ in range(64):
        middle = (low + high) / 2
        if rho * middle * middle + math.log1p(middle) < log_inverse:
            low = middle
        else:
            high = middle
    return high
