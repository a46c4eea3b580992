"""Numbers known in closed form or from the literature, recomputed where the software runs.

A build whose floating point, fractions or logarithms are broken fails here at once.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009. https://doi.org/10.1145/1526709.1526733
    [War65] Warner. Randomized response: a survey technique for eliminating evasive answer bias.
        JASA 60(309), 1965. https://doi.org/10.1080/01621459.1965.10480775
"""

import math
from fractions import Fraction

from confide.attacks.audit.exact_loss import log_chance_of_quantiles, log_chance_of_set
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.odds import odds_factor, posterior_bound


def _tau(epsilon: str, delta: str, keys: int) -> float:
    rule = KeyThreshold(
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        keys_per_person=keys,
        adjacency=Adjacency.ADD_REMOVE,
    )
    return rule.threshold()


def _zcdp_epsilon(multiplier: str) -> float:
    rho = 1 / (2 * Fraction(multiplier) ** 2)
    return epsilon_at(ZeroConcentratedDP(rho=rho), delta=Fraction(1, 10**6))


def oracle_checks() -> tuple[AuditCheck, ...]:
    """Return every oracle with what this machine computes.

    Example:
        >>> all(check.passed for check in oracle_checks())
        True
    """
    one = PureDP(epsilon=Fraction(1))
    laplace = DiscreteLaplace.calibrate(PureDP(epsilon=Fraction("0.8")), l1=1)
    gaussian = DiscreteGaussian.calibrate(ZeroConcentratedDP(rho=Fraction(1, 10)), l2_squared=5)
    coin = RandomizedResponse(truth=Fraction(3, 4), categories=2)
    known: tuple[tuple[str, float, float, float], ...] = (
        ("scale of a count at ε = 0.8", float(laplace.scale), 1.25, 0),
        ("P[Z = 0] at scale 2 is tanh(1/4)", _laplace(2).pmf(0), math.tanh(0.25), 1e-15),
        ("variance at scale 2 is 2a/(1 − a)²", _laplace(2).variance(), 7.835396, 1e-6),
        ("σ² for L2² = 5 at ρ = 0.1", float(gaussian.sigma_squared), 25, 0),
        ("ε of ρ-zCDP at σ/Δ = 8.6767, δ = 1e-6", _zcdp_epsilon("8.6767"), 0.5, 2e-5),
        ("ε of ρ-zCDP at σ/Δ = 4.5309, δ = 1e-6", _zcdp_epsilon("4.5309"), 1.0, 4e-5),
        ("threshold for (1, 1e-5), one key", _tau("1", "1e-5", 1), 13, 0),
        ("threshold for (0.5, 1e-6), one key", _tau("0.5", "1e-6", 1), 28, 0),
        ("threshold for (1, 1e-6), five keys", _tau("1", "1e-6", 5), 76, 0),
        ("best of two candidates, two apart", _best_of_two(), 0.731059, 1e-6),
        ("best set of two among three", _set_of_two(), 0.665241, 1e-6),
        ("median of two equal rows", _median_of_two(), 0.880797, 1e-6),
        ("ε of the coin-flip survey is ln 3", float(coin.loss().epsilon), math.log(3), 1e-12),
        ("variance of optimised unary encoding at ε = 1", _rare(Unary.OPTIMISED), 3.682694, 1e-6),
        ("variance of symmetric unary encoding at ε = 1", _rare(Unary.SYMMETRIC), 3.917698, 1e-6),
        ("odds factor at ε = 0.01", odds_factor(PureDP(epsilon=Fraction("0.01"))), 1.01005, 1e-5),
        (
            "posterior of a prior of 1 % at ε = 1",
            float(posterior_bound(one, prior=Fraction(1, 100), digits=3)),
            0.027,
            1e-12,
        ),
    )
    return tuple(
        AuditCheck(
            name=name,
            layer=Layer.ORACLE,
            passed=abs(found - expected) <= tolerance,
            measured=f"{found:.9g}",
            claimed=f"{expected:.9g}",
        )
        for name, found, expected, tolerance in known
    )


def _best_of_two() -> float:
    """Return the chance of the better of utilities 2 and 0 at slope ½: e/(e + 1)."""
    choice = SetSelection(epsilon=Fraction(1), reach=2, size=1, candidates=2)
    return math.exp(log_chance_of_set(choice, (2, 0), (0,)))


def _set_of_two() -> float:
    """Return the chance of the best two of utilities 2, 1, 0 at slope 1: e³/(e³ + e² + e)."""
    choice = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=3)
    return math.exp(log_chance_of_set(choice, (2, 1, 0), (0, 1)))


def _median_of_two() -> float:
    """Return the chance of the value of both rows, 4 rows above the other: e²/(e² + 1) at ε = 1."""
    median = QuantileSet(epsilon=Fraction(1), reach=2, at=(Fraction(1, 2),), candidates=2)
    return math.exp(log_chance_of_quantiles(median, (2, 0), (0,)))


def _rare(unary: Unary) -> float:
    """Return n times the variance of the share of a category that nobody has [WBLJ17, sec. 4]."""
    survey = UnaryEncoding(target=PureDP(epsilon=Fraction(1)), categories=40, unary=unary)
    lie = survey.lie_probability()
    return lie * (1 - lie) / (survey.keep_probability() - lie) ** 2


def _laplace(scale: int) -> DiscreteLaplace:
    return DiscreteLaplace(scale=Fraction(scale))
