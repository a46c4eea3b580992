"""Which way to randomise an answer on the respondent's side errs least.

For given answers, with p the chance of affirming the truth and q of affirming anything else, the
variance of n times the estimated share f of a category is (q(1 − q) + f(p − q)(1 − p − q))/(p − q)²
[WBLJ17, thm. 2].  It is linear in f and shares add up to 1, so the sum over the k categories,

    k·q(1 − q)/(p − q)² + (1 − p − q)/(p − q),

depends on k and ε alone.  The choice is the mechanism with the least sum.  With E = e^ε, k-ary
beats optimised unary exactly if k² < k(2E + 3) + E² − 1 (up to 9 categories at ε = 1).  Symmetric
unary is never the least, so it is there only to be asked for by name.  *Proof:* with x = e^(ε/2) it
beats optimised unary only if k < x + 2 + 1/x; k-ary beats it if k(x³ + x + 3 − k) + 2(x² − 1) > 0,
and then x³ + x + 3 − k > x³ + 1 − 1/x > 0.

*Privacy:* depends on public facts only.  All three attain the same ε.

References:
    [WBLJ17] Wang, Blocki, Li, Jha. Locally differentially private protocols for frequency
        estimation. USENIX Security 2017. https://arxiv.org/abs/1705.04421
"""

import enum
from collections.abc import Mapping
from typing import TypeAlias, assert_never

from confide.noise.randomized_response import RandomizedResponse
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.privacy.loss import PureDP

LocalMechanism: TypeAlias = RandomizedResponse | UnaryEncoding


class Method(enum.Enum):
    """The ways to randomise one answer."""

    K_ARY = "k-ary"
    SYMMETRIC_UNARY = Unary.SYMMETRIC.value
    OPTIMISED_UNARY = Unary.OPTIMISED.value


def mechanism_by(method: Method, *, loss: PureDP, categories: int) -> LocalMechanism:
    """Return the mechanism of a method at a loss."""
    match method:
        case Method.K_ARY:
            return RandomizedResponse(truth=loss, categories=categories)
        case Method.SYMMETRIC_UNARY:
            return UnaryEncoding(target=loss, categories=categories, unary=Unary.SYMMETRIC)
        case Method.OPTIMISED_UNARY:
            return UnaryEncoding(target=loss, categories=categories, unary=Unary.OPTIMISED)
        case _:
            assert_never(method)


def method_of(mechanism: LocalMechanism) -> Method:
    """Return the method of a mechanism."""
    match mechanism:
        case RandomizedResponse():
            return Method.K_ARY
        case UnaryEncoding(unary=unary):
            return Method(unary.value)
        case _:
            assert_never(mechanism)


def total_variance(mechanism: LocalMechanism) -> float:
    """Return n times the variance that coins bring to all shares together.

    Example:
        >>> from fractions import Fraction
        >>> coin = RandomizedResponse(truth=Fraction(3, 4), categories=2)
        >>> total_variance(coin)  # 2 · (3/16)/(1/4)
        1.5
    """
    keep, lie = mechanism.keep_probability(), mechanism.lie_probability()
    apart = keep - lie
    return mechanism.categories * lie * (1 - lie) / apart**2 + (1 - keep - lie) / apart


def total_variances(loss: PureDP, *, categories: int) -> Mapping[Method, float]:
    """Return the total variance of every method."""
    return {
        method: total_variance(mechanism_by(method, loss=loss, categories=categories))
        for method in Method
    }


def least_variance(loss: PureDP, *, categories: int) -> LocalMechanism:
    """Return the mechanism with the least total variance.

    Example:
        Yes or no, and one of 40 districts, at ε = 1:

        >>> from fractions import Fraction
        >>> one = PureDP(epsilon=Fraction(1))
        >>> method_of(least_variance(one, categories=2)).value
        'k-ary'
        >>> method_of(least_variance(one, categories=40)).value
        'optimised-unary'
    """
    variances = total_variances(loss, categories=categories)
    return mechanism_by(min(Method, key=variances.__getitem__), loss=loss, categories=categories)
