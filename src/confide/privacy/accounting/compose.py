"""How losses add up: basic, advanced, optimal, concentrated, and under a cap.

Let M₁, …, M_k be ε_i-DP, each chosen with knowledge of earlier answers, the ε_i fixed beforehand.

- basic: Σε_i, and Σδ_i, Σρ_i for the other kinds [DMNS06; DR14, thm. 3.16; BS16, lem. 1.7, sec. 8].
- advanced: √(2 ln(1/δ) Σε_i²) + Σε_i(e^{ε_i}−1) at δ [DRV10, thm. III.3].
- optimal for k equal ε: the least ε′ with
  Σ_l C(k,l) max(0, e^{(k−l)ε} − e^{ε′} e^{lε}) ≤ δ(1+e^ε)^k [KOV15, thm. 3.3, read between
  its grid points; MV16].  No valid bound from ε alone is smaller.
- concentrated: ρ = Σε_i²/2, read at δ by [CKS20, cor. 13].
- adaptive: √(2 ln(1/δ) Σε_i²) + ½Σε_i² for ε_i that are chosen as one goes, while that stays
  within a cap that was fixed beforehand [WRRW23, sec. 3].

Advanced composition can be worse than basic (10 mechanisms of ε = 0.1, δ = 1e-6: 1.77 against 1.0),
so :func:`least` takes the least of all.

*Privacy:* exact for sums; the other bounds are rounded up to 1e-12.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [DRV10] Dwork, Rothblum, Vadhan. Boosting and differential privacy. FOCS 2010.
        https://doi.org/10.1109/FOCS.2010.12
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [MV16] Murtagh, Vadhan. The complexity of computing the optimal composition of differential
        privacy. TCC 2016. https://arxiv.org/abs/1507.03113
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [WRRW23] Whitehouse, Ramdas, Rogers, Wu. Fully-adaptive composition in differential privacy.
        ICML 2023. https://arxiv.org/abs/2203.05481
"""

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.accounting.concentrated import epsilon_at, pure_to_zcdp
from confide.privacy.directed import exp_ceil, log_ceil
from confide.privacy.exact import as_decimal, require_exact_delta
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

_GRID = 10**12  # of the ε that bounds return
_FINE = 10**30  # of intermediate exponentials and logarithms
_LARGEST_OPTIMAL = 1000  # mechanisms; beyond it the exact sum takes seconds and gains little


def compose(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """Return the sum of losses of one kind, exactly.

    Raises:
        InvalidParameterError: If there are none.
        UnsupportedError: If kinds are mixed; convert them first (:func:`to_zcdp`,
            :func:`to_approximate`).

    Example:
        Three quarterly reports on one registry:

        >>> compose([PureDP(epsilon=Fraction("0.1"))] * 3)
        PureDP(epsilon=Fraction(3, 10))
    """
    kinds = {type(loss) for loss in losses}
    if not kinds:
        raise InvalidParameterError("Expected at least one loss, got none.")
    delta = _sum([loss.delta for loss in losses if not isinstance(loss, PureDP)])
    epsilon = _sum([loss.epsilon for loss in losses if not isinstance(loss, ZeroConcentratedDP)])
    if kinds == {PureDP}:
        return PureDP(epsilon=epsilon)
    if kinds == {ApproxDP}:
        return ApproxDP(epsilon=epsilon, delta=delta)
    if kinds == {ZeroConcentratedDP}:
        rho = _sum([loss.rho for loss in losses if isinstance(loss, ZeroConcentratedDP)])
        return ZeroConcentratedDP(rho=rho, delta=delta)
    raise UnsupportedError(
        f"Expected losses of one kind, got {', '.join(sorted(kind.__name__ for kind in kinds))}.",
        hint="Convert them into the ledger's measure first: to_zcdp or to_approximate.",
    )


def to_zcdp(loss: PrivacyLoss) -> ZeroConcentratedDP:
    """Return ``loss`` in the measure of a zCDP ledger, exactly.

    ε-DP is ε²/2-zCDP.  (ε, δ)-DP is δ-approximate ε²/2-zCDP: its outputs are a function of
    randomised response that, with probability δ, also tells the secret [MV16, sec. 3], and on
    the other event the loss is pure.

    Raises:
        InvalidParameterError: For (0, δ), which has no ρ > 0.

    Example:
        Releasing rare diagnosis codes at (1, 1e-6) in a zCDP ledger:

        >>> to_zcdp(ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6")))
        ZeroConcentratedDP(rho=Fraction(1, 2), delta=Fraction(1, 1000000))
    """
    match loss:
        case ZeroConcentratedDP():
            return loss
        case PureDP():
            return pure_to_zcdp(loss)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ZeroConcentratedDP(rho=Fraction(epsilon) ** 2 / 2, delta=delta)
        case _:
            assert_never(loss)


def to_approximate(loss: PrivacyLoss, *, delta: Fraction) -> ApproxDP:
    """Return ``loss`` as (ε, ``delta``)-DP, ε rounded up to 1e-12.

    Raises:
        InvalidParameterError: If ``delta`` is below the loss's own.

    Example:
        >>> year = ZeroConcentratedDP(rho=Fraction("0.1"))
        >>> float(round(to_approximate(year, delta=Fraction("1e-6")).epsilon, 4))
        2.1419
    """
    match loss:
        case PureDP(epsilon=epsilon):
            return ApproxDP(epsilon=epsilon, delta=delta)
        case ApproxDP(epsilon=epsilon) if loss.delta <= delta:
            return ApproxDP(epsilon=epsilon, delta=delta)
        case ApproxDP():
            raise InvalidParameterError(f"Expected delta ≥ {loss.delta}, got delta={delta}.")
        case ZeroConcentratedDP():
            return ApproxDP(epsilon=_ceil(Fraction(epsilon_at(loss, delta=delta))), delta=delta)
        case _:
            assert_never(loss)


def advanced(losses: Sequence[PureDP], *, delta: Fraction) -> ApproxDP:
    """Return the advanced-composition bound; for comparison, as :func:`least` is never worse.

    Raises:
        InvalidParameterError: If there are no losses, or ``delta`` is not in (0, 1).

    Example:
        >>> ten = [PureDP(epsilon=Fraction("0.1"))] * 10
        >>> float(round(advanced(ten, delta=Fraction("1e-6")).epsilon, 2))  # basic: 1.0
        1.77
    """
    _require(losses, delta=delta)
    epsilons = [Fraction(loss.epsilon) for loss in losses]
    log_inverse = Fraction(log_ceil(1 / Fraction(delta), grid=_FINE), _FINE)
    spread = 2 * log_inverse * _sum([epsilon**2 for epsilon in epsilons])
    drift = _sum([e * (Fraction(exp_ceil(e, grid=_FINE), _FINE) - 1) for e in epsilons])
    return ApproxDP(epsilon=_ceil(_root_up(spread) + drift), delta=delta)


def optimal(loss: PureDP, *, count: int, delta: Fraction) -> ApproxDP:
    """Return the least (ε′, ``delta``) that ``count`` mechanisms of one pure ``loss`` satisfy.

    Raises:
        InvalidParameterError: If ``count`` < 1 or ``delta`` is not in (0, 1).

    Example:
        A hundred dashboard tiles at ε = 0.1; their sum is 10:

        >>> tile = PureDP(epsilon=Fraction("0.1"))
        >>> float(round(optimal(tile, count=100, delta=Fraction("1e-6")).epsilon, 3))
        4.775
    """
    if count < 1:
        raise InvalidParameterError(f"Expected count ≥ 1, got count={count}.")
    _require([loss], delta=delta)
    digits = 80 + math.ceil(count * loss.epsilon) - math.floor(math.log10(delta))
    with decimal.localcontext(decimal.Context(prec=digits, Emax=decimal.MAX_EMAX)):
        factor = _optimal_factor(
            as_decimal(loss.epsilon).exp(), count=count, delta=as_decimal(delta)
        )
        if factor == 1:  # δ alone covers everything
            return ApproxDP(epsilon=Fraction(0), delta=delta)
        epsilon = (factor * (1 + decimal.Decimal("1e-40"))).ln()  # more than all roundings above
    return ApproxDP(epsilon=_ceil(Fraction(epsilon)), delta=delta)


def adaptive(losses: Sequence[PureDP], *, delta: Fraction) -> ApproxDP:
    """Return √(2 ln(1/δ) Σε²) + ½Σε² at ``delta``: of losses that were chosen as one went.

    Raises:
        InvalidParameterError: If there are no losses, or ``delta`` is not in (0, 1).

    Example:
        A hundred dashboard tiles at ε = 0.1, each asked after seeing the last:

        >>> tiles = [PureDP(epsilon=Fraction("0.1"))] * 100
        >>> float(round(adaptive(tiles, delta=Fraction("1e-6")).epsilon, 3))
        5.757
    """
    _require(losses, delta=delta)
    squares = _sum([Fraction(loss.epsilon) ** 2 for loss in losses])
    log_inverse = Fraction(log_ceil(1 / delta, grid=_FINE), _FINE)
    return ApproxDP(epsilon=_ceil(_root_up(2 * log_inverse * squares) + squares / 2), delta=delta)


def least(losses: Sequence[PrivacyLoss], *, delta: Fraction) -> ApproxDP:
    """Return the least valid (ε, ``delta``) of ``losses``, of any kinds, composed.

    The minimum of basic, advanced, optimal (equal pure losses only) and concentrated composition.

    Raises:
        InvalidParameterError: If there are no losses, or their own δ leave nothing of ``delta``.

    Example:
        Three counts at different ε: their sum, 0.6, is the least.

        >>> counts = [PureDP(epsilon=Fraction(n, 10)) for n in (1, 2, 3)]
        >>> least(counts, delta=Fraction("1e-6")).epsilon
        Fraction(3, 5)
    """
    _require(losses, delta=delta)
    pure = [loss for loss in losses if isinstance(loss, PureDP)]
    epsilons = [loss.epsilon for loss in losses if not isinstance(loss, ZeroConcentratedDP)]
    spent = _sum([loss.delta for loss in losses if not isinstance(loss, PureDP)])
    bounds: list[Fraction] = []
    if len(epsilons) == len(losses) and spent <= delta:
        bounds.append(_sum(epsilons))
    if len(pure) == len(losses):
        bounds.append(advanced(pure, delta=delta).epsilon)
    if len(pure) == len(losses) <= _LARGEST_OPTIMAL and len(set(pure)) == 1:
        bounds.append(optimal(pure[0], count=len(pure), delta=delta).epsilon)
    if spent < delta:
        concentrated = compose([to_zcdp(loss) for loss in losses])
        bounds.append(to_approximate(concentrated, delta=delta).epsilon)
    if not bounds:
        raise InvalidParameterError(
            f"Expected delta > {spent}, which the losses spend, got delta={delta}.",
            hint="Report at a larger delta.",
        )
    return ApproxDP(epsilon=min(bounds), delta=delta)


def _optimal_factor(
    odds: decimal.Decimal, *, count: int, delta: decimal.Decimal
) -> decimal.Decimal:
    """Return the least e^ε′ ≥ 1.

    A partial sum over l < m of the terms without max(0, ·) is a lower bound of the whole, and
    equals it at the right m; each gives a linear condition on e^ε′, so the strictest one decides.
    """
    factor, above, below = decimal.Decimal(1), decimal.Decimal(0), decimal.Decimal(0)
    allowed = delta * (1 + odds) ** count
    high, low = odds**count, decimal.Decimal(1)  # C(k,l)·e^{(k−l)ε} and C(k,l)·e^{lε}
    for index in range(count // 2 + 1):
        above, below = above + high, below + low
        factor = max(factor, (above - allowed) / below)
        step = decimal.Decimal(count - index) / (index + 1)
        high, low = high * step / odds, low * step * odds
    return factor


def _require(losses: Sequence[PrivacyLoss], *, delta: Fraction) -> None:
    if not losses:
        raise InvalidParameterError("Expected at least one loss, got none.")
    require_exact_delta(delta)


def _sum(amounts: Sequence[Fraction]) -> Fraction:
    return sum(amounts, Fraction(0))


def _root_up(square: Fraction) -> Fraction:
    """Return √square rounded up."""
    return Fraction(math.isqrt((square * _FINE**2).__ceil__()) + 1, _FINE)


def _ceil(epsilon: Fraction) -> Fraction:
    return Fraction((epsilon * _GRID).__ceil__(), _GRID)
