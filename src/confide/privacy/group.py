"""Group privacy: what is promised to k people together, or to one person with k ids.

- ε-DP protects groups of k with kε [DR14, thm. 2.2].
- ρ-zCDP protects them with k²ρ [BS16, prop. 1.9].
- (ε, δ)-DP protects them with (kε, δ(e^{kε}−1)/(e^ε−1)): chain k neighbours, each step multiplying
  what came before by e^ε and adding δ [Vad17, lem. 2.2].
- δ-approximate zCDP: no bound of that form is used here; it is refused.  Read it as (ε, δ) first.

*Privacy:* a patient registered under k ids, or present at k sites, has the group bound, not the
single one.  Exact for pure and concentrated losses; the δ of a group is rounded up to 1e-18.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [Vad17] Vadhan. The complexity of differential privacy. 2017.
        https://doi.org/10.1007/978-3-319-57048-8_7
"""

from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.amount import ATTO
from confide.privacy.directed import exp_ceil
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

_LARGEST_EPSILON = 700


def group_loss(loss: PrivacyLoss, *, size: int) -> PrivacyLoss:
    """Return the loss of a group of ``size`` privacy units.

    Raises:
        InvalidParameterError: If ``size`` is not at least 1, or the group's δ would reach 1.
        UnsupportedError: For approximate zCDP and ``size`` > 1.

    Example:
        A family of five in a registry released at ε = 0.1:

        >>> group_loss(PureDP(epsilon=Fraction("0.1")), size=5)
        PureDP(epsilon=Fraction(1, 2))
    """
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise InvalidParameterError(f"Expected a group size ≥ 1, got size={size}.")
    if size == 1:
        return loss
    match loss:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=size * epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(
                epsilon=size * epsilon, delta=_group_delta(epsilon, delta=delta, size=size)
            )
        case ZeroConcentratedDP(rho=rho, delta=0):
            return ZeroConcentratedDP(rho=size**2 * rho)
        case ZeroConcentratedDP():
            raise UnsupportedError(
                "No group bound is used for approximate zCDP.",
                hint="Convert with concentrated.epsilon_at to ApproxDP, and take its group bound.",
            )
        case _:
            assert_never(loss)


def _group_delta(epsilon: Fraction, *, delta: Fraction, size: int) -> Fraction:
    """Return δ·Σ_{j<k} e^{jε}, which is δ(e^{kε}−1)/(e^ε−1), rounded up."""
    if epsilon == 0 or delta == 0:
        return _below_one(size * delta, size=size)
    if size * epsilon > _LARGEST_EPSILON:
        return _below_one(Fraction(1), size=size)
    grid = ATTO**2  # the quotient of two roundings still rounds up: see the directions below
    above = exp_ceil(size * epsilon, grid=grid) - grid
    below = exp_ceil(epsilon, grid=grid) - 1 - grid  # ceil − 1 = floor: e^ε is irrational
    return _below_one(Fraction((delta * above / below * ATTO).__ceil__(), ATTO), size=size)


def _below_one(delta: Fraction, *, size: int) -> Fraction:
    if delta >= 1:
        raise InvalidParameterError(
            f"Expected a group delta < 1, got at least 1 for size={size}.",
            hint="For a group of that size the promise is empty; ask for fewer, or lower delta.",
        )
    return delta
