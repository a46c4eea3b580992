"""Exact losses of mechanisms on given pairs of inputs, from their probabilities and not from draws.

Sums over the integers are cut where what is left out is below 10⁻¹²; cutting only lowers a loss, so
each value is a lower bound up to rounding.  Claims are compared with these on their worst pairs.

*Privacy:* a claim below an exact loss is false; a claim far above it wastes budget.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009, thm. 1. https://doi.org/10.1145/1526709.1526733
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.exponential import ExponentialMechanism
from confide.noise.local_mechanism import LocalMechanism
from confide.noise.mechanism import Mechanism
from confide.noise.noisy_max import NoisyMax
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.noise.unary_encoding import UnaryEncoding

_LEFT_OUT = 1e-12


def largest_log_ratio(noise: Mechanism, *, shift: int) -> float:
    """Return max ln P[Z = z]/P[Z = z − shift] over the bulk of the law: ε of one moved coordinate.

    Example:
        >>> from fractions import Fraction
        >>> from confide.noise.discrete_laplace import DiscreteLaplace
        >>> round(largest_log_ratio(DiscreteLaplace(scale=Fraction(2)), shift=1), 6)
        0.5
    """
    return max(math.log(noise.pmf(z) / noise.pmf(z - shift)) for z in _bulk(noise))


def renyi_per_order(noise: DiscreteGaussian, *, shift: int, alpha: int = 2) -> float:
    """Return D_α(Z ‖ Z + shift)/α, which ρ-zCDP bounds by ρ.

    Example:
        >>> from fractions import Fraction
        >>> round(renyi_per_order(DiscreteGaussian(sigma_squared=Fraction(25)), shift=5), 6)
        0.5
    """
    wide = range(-40 * noise.half_width(0.5) - 40 * abs(shift), 40 * noise.half_width(0.5) + 1)
    logs = [(z, noise.pmf(z), noise.pmf(z - shift)) for z in wide]
    total = math.fsum(p * (p / q) ** (alpha - 1) for _, p, q in logs if p > 0 and q > 0)
    return math.log(total) / (alpha - 1) / alpha


def chance_of_a_lone_key(rule: KeyThreshold) -> float:
    """Return at most how often one of the k keys of one person alone appears: δ of the selection.

    Example:
        >>> from fractions import Fraction
        >>> from confide.privacy.adjacency import Adjacency
        >>> rule = KeyThreshold(
        ...     epsilon=Fraction(1),
        ...     delta=Fraction(1, 10**5),
        ...     keys_per_person=1,
        ...     adjacency=Adjacency.ADD_REMOVE,
        ... )
        >>> chance_of_a_lone_key(rule) <= 1e-5
        True
    """
    return rule.keys_per_person * rule.noise().cdf(1 - rule.threshold())


def log_ratio_of_choice(
    choice: ExponentialMechanism, *, first: Sequence[int], second: Sequence[int]
) -> float:
    """Return max ln P[i | first]/P[i | second] over candidates, either way round.

    Example:
        >>> from fractions import Fraction
        >>> choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
        >>> round(log_ratio_of_choice(choice, first=(1, 0), second=(0, 1)), 3)
        0.5
    """
    pairs = zip(choice.probabilities(first), choice.probabilities(second), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs)


def log_chance_of_set(
    choice: SetSelection, utilities: Sequence[int], chosen: Sequence[int]
) -> float:
    """Return ln P[chosen], by elementary symmetric polynomials of the weights.

    Example:
        >>> from fractions import Fraction
        >>> choice = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=4)
        >>> round(math.exp(log_chance_of_set(choice, (3, 3, 3, 3), (0, 1))), 6)  # one of six
        0.166667
    """
    best, slope = max(utilities), float(choice.slope)
    sums = [1.0] + [0.0] * choice.size  # of products of 0, 1, … k of the weights
    for utility in utilities:
        weight = math.exp(slope * (utility - best))
        for k in range(choice.size, 0, -1):
            sums[k] += weight * sums[k - 1]
    own = slope * math.fsum(utilities[i] - best for i in chosen)
    return own - math.log(sums[choice.size])


def log_ratio_of_answer(survey: LocalMechanism) -> float:
    """Return the largest ln P[answer | true]/P[answer | another is true].

    Example:
        >>> from fractions import Fraction
        >>> coin = RandomizedResponse(truth=Fraction(3, 4), categories=2)
        >>> round(math.exp(log_ratio_of_answer(coin)), 9)
        3.0
    """
    keep, lie = survey.keep_probability(), survey.lie_probability()
    match survey:
        case RandomizedResponse():
            return math.log(keep / lie)
        case UnaryEncoding():  # the one is affirmed and the other is not
            return math.log(keep / lie * (1 - lie) / (1 - keep))
        case _:
            assert_never(survey)


def log_ratio_of_maximum(
    choice: NoisyMax, *, first: Sequence[int], second: Sequence[int], winner: int
) -> float:
    """Return |ln P[winner | first]/P[winner | second]| of one candidate.

    Example:
        >>> from fractions import Fraction
        >>> from confide.noise.discrete_laplace import DiscreteLaplace
        >>> from confide.noise.noisy_max import Movement
        >>> noise = DiscreteLaplace(scale=Fraction(2))
        >>> choice = NoisyMax(noise=noise, sensitivity=1, movement=Movement.ANY)
        >>> 0.4 < log_ratio_of_maximum(choice, first=(1, 0), second=(0, 1), winner=0) < 1
        True
    """
    return abs(math.log(_wins(choice, first, winner) / _wins(choice, second, winner)))


def _wins(choice: NoisyMax, utilities: Sequence[int], winner: int) -> float:
    """Return the chance that a candidate wins; earlier ones win ties."""
    noise, own = choice.noise, utilities[winner]
    reach = range(-60 * math.ceil(noise.scale), 60 * math.ceil(noise.scale) + 1)
    # What a candidate needs to lose to the winner's noise z: its own noise ≤ z + lead.
    leads = Counter(
        own - utility - (1 if i < winner else 0)
        for i, utility in enumerate(utilities)
        if i != winner
    )
    return math.fsum(
        noise.pmf(z) * math.prod(noise.cdf(z + lead) ** n for lead, n in leads.items())
        for z in reach
    )


def _bulk(noise: Mechanism) -> range:
    width = noise.half_width(1 - _LEFT_OUT)
    return range(-width, width + 1)
