"""Poisson-sampled discrete Gaussian noise: Rényi divergences of whole orders, in exact decimals.

Law.  A step draws each person with probability q, sums their integer vectors (each of squared norm
at most Δ²) and adds discrete Gaussian noise of variance parameter σ², z² = σ²/Δ².  For every whole
order α ≥ 2, under add-remove,

    D_α ≤ ln A_α/(α−1),   A_α = Σ_k C(α,k) (1−q)^{α−k} q^k e^{(k²−k)/(2z²)},

the formula of the sampled *continuous* Gaussian [MTZ19, sec. 3.3], and here it holds for discrete
noise as well, with no slack:

- *Mixture.*  Who else is drawn is the same in both worlds, and a person's vector v does not depend
  on it.  D_α is quasi-convex, so one draw of the others is the worst; translated by its integers
  the pair is N(0) and (1−q)N(0) + qN(v), N the discrete Gaussian on the grid, v on the grid.
- *Moments.*  E_{y~N(0)}[(N(v)/N(0))^k] = Σ_y e^{−|y−kv|²/(2σ²)}·e^{(k²−k)|v|²/(2σ²)}/Σ_y
  e^{−|y|²/(2σ²)}.  As k is whole, kv is on the grid and both sums are the same: e^{(k²−k)|v|²/
  (2σ²)} exactly.  The binomial theorem gives A_α, which grows with |v|².
- *The other order* of the pair has no larger divergence: y ↦ v − y maps the grid onto itself and
  exchanges N(0) and N(v), which is all that [MTZ19, thm. 5] uses.

Orders that are not whole have no such identity, and loss distributions of continuous noise are not
claimed for discrete noise; both are for comparison alone (:mod:`.numerical`).

Orders add up over steps [Mir17, prop. 1], also with ρ·α of unsampled steps, and are read as
ε = r + ln(1 − 1/α) − ln(αδ)/(α−1) at the best order [CKS20, prop. 12].

*Lemma* (as approximate zCDP).  Let D_k ≤ r_k in both directions for whole orders k₁ < … < k_m, with
k₁ = 2 and k₀ = 1, and t = min_k r_k + ln(2/δ)/(k−1).  On E = {|ln P/Q| ≤ t} both laws have 1 − δ:
P[ln P/Q > t] ≤ e^{(k−1)(r_k−t)} = δ/2, and P[ln Q/P > t] ≤ e^−t·Q[ln Q/P > t] ≤ δ/2.  With c =
−ln(1−δ), given E the divergence of order k is at most r_k + ck/(k−1) ≤ r_k + 2c, and that of every
order at most t + c.  Divergences grow with the order, so they are at most ρα for all α once ρ is at
least (r_{k_i} + 2c)/k_{i−1} for i ≤ j and (t + c)/k_j, for any j: the steps are δ-approximate
ρ-zCDP [BS16, def. 8.1].  ∎  At ε = 1 that is about twice the ρ of an equal Gaussian, where ε²/2 is
twenty times it.

*Privacy:* decimals of 60 digits, every term positive, so the relative error is below 10⁻⁵⁰; what is
returned is raised by 10⁻³⁰.  Decimal arithmetic is the same on every machine, so a ledger computes
the same charge again.
*Utility:* within 1 % of all orders for ε ≤ 2; a few milliseconds.

References:
    [MTZ19] Mironov, Talwar, Zhang. Rényi differential privacy of the sampled Gaussian mechanism.
        2019. https://arxiv.org/abs/1908.10530
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, def. 8.1.
        https://arxiv.org/abs/1605.02065
"""

import decimal
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import InvalidParameterError
from confide.privacy.exact import as_decimal, require_exact_delta

ORDERS: tuple[int, ...] = (
    *range(2, 65),
    *(80, 96, 112, 128, 160, 192, 256, 320, 384, 512, 768, 1024),
)
"""Whole orders; every one is valid, so is the least over them."""

_DIGITS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_SLACK = decimal.Decimal("1e-30")
_GRID = 10**12
_LARGEST = 10**9  # multiplier, in steps of 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSteps:
    """Equal steps, each on a fresh Poisson sample with fresh noise.

    Attributes:
        rate: q, in (0, 1).
        multiplier_squared: z² = σ²/Δ².
        count: Number of steps.
    """

    rate: Fraction
    multiplier_squared: Fraction
    count: int

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Fraction) or not 0 < self.rate < 1:
            raise InvalidParameterError(
                f"Expected an exact rate in (0, 1), got {self.rate}.",
                hint="Without sampling a step costs Δ²/(2σ²) in ρ.",
            )
        if not isinstance(self.multiplier_squared, Fraction) or self.multiplier_squared <= 0:
            raise InvalidParameterError("Expected an exact squared noise multiplier > 0.")
        if not isinstance(self.count, int) or self.count < 1:
            raise InvalidParameterError(f"Expected count ≥ 1, got {self.count}.")


def sampled_epsilon(
    steps: Sequence[SampledSteps], *, delta: Fraction, rho: Fraction = Fraction(0)
) -> Fraction:
    """Return ε at ``delta`` of sampled steps and of unsampled ones of ``rho``, rounded up to 1e-12.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).

    Example:
        A thousand steps with one patient in a hundred, at σ = 4Δ:

        >>> steps = SampledSteps(rate=Fraction(1, 100), multiplier_squared=Fraction(16), count=1000)
        >>> float(round(sampled_epsilon([steps], delta=Fraction(1, 10**5)), 3))
        0.301
    """
    require_exact_delta(delta)
    with decimal.localcontext(_DIGITS):
        log_delta = as_decimal(delta).ln()

        def reading(place: int) -> decimal.Decimal:
            order = ORDERS[place]
            divergence = _divergence(steps, rho=rho, order=order)
            read = (1 - 1 / decimal.Decimal(order)).ln()
            return divergence + read - (log_delta + decimal.Decimal(order).ln()) / (order - 1)

        low, high = 0, len(ORDERS) - 1  # falls, then rises; any order that is met is valid
        while low < high:
            middle = (low + high) // 2
            if reading(middle) <= reading(middle + 1):
                high = middle
            else:
                low = middle + 1
        above = max(reading(low), decimal.Decimal(0)) + _SLACK
    return Fraction((Fraction(above) * _GRID).__ceil__(), _GRID)


def sampled_rho(steps: Sequence[SampledSteps], *, delta: Fraction) -> Fraction:
    """Return a ρ such that the steps are ``delta``-approximate ρ-zCDP, rounded up to 1e-12.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).

    Example:
        A training of ε = 1 at the same δ, for which ε²/2 would be 0.5:

        >>> steps = SampledSteps(
        ...     rate=Fraction(1, 50), multiplier_squared=Fraction("2.0232") ** 2, count=500
        ... )
        >>> float(round(sampled_rho([steps], delta=Fraction(1, 10**5)), 3))
        0.055
    """
    require_exact_delta(delta)
    with decimal.localcontext(_DIGITS):
        kept = -(1 - as_decimal(delta)).ln()  # c
        tail = (2 / as_decimal(delta)).ln()
        least = decimal.Decimal("Infinity")
        highest, reach, before = decimal.Decimal(0), decimal.Decimal("Infinity"), 1
        for order in ORDERS:
            divergence = _divergence(steps, rho=Fraction(0), order=order)
            reach = min(reach, divergence + tail / (order - 1))
            highest = max(highest, (divergence + 2 * kept) / before)
            if highest >= least:
                break
            least, before = min(least, max(highest, (reach + kept) / order)), order
        above = least + _SLACK
    return Fraction((Fraction(above) * _GRID).__ceil__(), _GRID)


def divergence_at(steps: Sequence[SampledSteps], *, order: int) -> Fraction:
    """Return the Rényi divergence of a whole order of all steps, to some 50 digits.

    Raises:
        InvalidParameterError: If the order is below 2.

    Example:
        One step with one patient in a hundred, at σ = Δ:

        >>> step = SampledSteps(rate=Fraction(1, 100), multiplier_squared=Fraction(1), count=1)
        >>> float(round(divergence_at([step], order=22), 6))
        6.175536
    """
    if order < 2:
        raise InvalidParameterError(f"Expected an order of at least 2, got {order}.")
    with decimal.localcontext(_DIGITS):
        return Fraction(_divergence(steps, rho=Fraction(0), order=order))


def least_multiplier(
    most: Fraction, *, cost: Callable[[SampledSteps], Fraction], rate: Fraction, count: int
) -> Fraction:
    """Return the least z, in steps of 1e-4, at which sampled steps cost at most ``most``.

    Args:
        most: In the unit of ``cost``.
        cost: ε or ρ of steps; falls as z grows.
        rate: Of the steps.
        count: Of the steps.

    Raises:
        InvalidParameterError: If no z up to 10⁵ does.

    Example:
        >>> def epsilon(steps: SampledSteps) -> Fraction:
        ...     return sampled_epsilon([steps], delta=Fraction(1, 10**5))
        >>> float(least_multiplier(Fraction(1), cost=epsilon, rate=Fraction(1, 50), count=500))
        2.0232
    """

    def fits(grid: int) -> bool:
        squared = Fraction(grid, 10**4) ** 2
        return cost(SampledSteps(rate=rate, multiplier_squared=squared, count=count)) <= most

    high = 10**4
    while not fits(high):
        if high == _LARGEST:
            raise InvalidParameterError(
                f"No noise brings {count} steps to a loss of {float(most):g}.",
                hint="Raise epsilon or delta, or take fewer steps.",
            )
        high = min(2 * high, _LARGEST)
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return Fraction(high, 10**4)


def _divergence(steps: Sequence[SampledSteps], *, rho: Fraction, order: int) -> decimal.Decimal:
    total = as_decimal(rho) * order
    for each in steps:
        log_moment = _log_moment(each.rate, each.multiplier_squared, order)
        total += each.count * log_moment / (order - 1)
    return total


@functools.lru_cache(maxsize=4096)
def _log_moment(rate: Fraction, multiplier_squared: Fraction, order: int) -> decimal.Decimal:
    """Return ln A_α."""
    q = as_decimal(rate)
    others = 1 - q
    step = as_decimal(1 / multiplier_squared).exp()  # e^{((k+1)²−(k+1)−k²+k)/(2z²)} = e^{k/z²}
    term, total = others**order, decimal.Decimal(0)
    growth = decimal.Decimal(1)
    for k in range(order + 1):
        total += term
        term *= q / others * (order - k) / (k + 1) * growth
        growth *= step
    return total.ln()
