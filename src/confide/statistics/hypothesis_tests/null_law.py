"""The law of a test statistic under its null hypothesis, when noise is part of what was tested.

A statistic here is Q = ‖w‖², where w = Σ^(−1/2)·D whitens a residual D by its *whole* covariance Σ,
sampling and noise.  The sampling part is normal by the central limit theorem.  The noise part is
L·z, with z the noise of the released numbers, independent and of variance s², and L what whitening
makes of their weights.

*Law:* for normal z, Q is χ² with K degrees of freedom.  For Laplace z it is not: but a Laplace
number is a normal one whose variance is drawn from an exponential law [AM74], and a sum of r parts
of such, one of a gamma law of shape r; so given these variances s²·e the vector w is normal with
covariance M = I + s²·L·diag(e − 1)·Lᵀ.  With u uniform on the sphere and R² ~ χ²_K, Q is R²·uᵀMu,
hence

    P(Q ≥ q) = E[ P(χ²_K ≥ q / uᵀMu) ],    uᵀMu = 1 + s²·Σ_j (e_j − 1)(uᵀL)_j².

The mean over draws of e and u is smooth in q, so a p-value of 10⁻⁹ needs no 10⁹ draws, and with
the noise off it is the χ² tail itself, whatever is drawn.

*Privacy:* a function of noisy numbers.
*Utility:* ignoring the noise gives false positives (up to 83 % at a level of 5 %); calling Laplace
noise normal gives up to 8 % there, and over three times too many at 0.1 % (docs/design/015).

References:
    [AM74] Andrews, Mallows. Scale mixtures of normal distributions. JRSS B 36(1), 1974.
        https://doi.org/10.1111/j.2517-6161.1974.tb00989.x
    [GLRV16] Gaboardi, Lim, Rogers, Vadhan. Differentially private chi-squared hypothesis testing.
        ICML 2016. https://arxiv.org/abs/1602.03090
    [KR17] Kifer, Rogers. A new class of private chi-square hypothesis tests. AISTATS 2017.
        https://arxiv.org/abs/1610.07662
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import NoiseLaw
from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.plans.simulation import Simulation

DRAWS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixing:
    """Draws of the variances that make normal noise Laplace, and of directions.

    Attributes:
        excess: e − 1, shape (draws, numbers); no draws for normal noise.
        directions: u, shape (draws, degrees).
    """

    excess: NDArray[np.float64]
    directions: NDArray[np.float64]


def mixing(
    mechanism: NoiseLaw,
    *,
    degrees: int,
    numbers: int,
    simulation: Simulation,
    purpose: str,
    draws: int = DRAWS,
) -> Mixing:
    """Return the draws for a test with ``degrees`` of freedom on ``numbers`` noisy numbers."""
    if isinstance(mechanism, DiscreteGaussian):
        return Mixing(excess=np.zeros((0, numbers)), directions=np.zeros((0, degrees)))
    generator = simulation.generator(f"{purpose}/null")
    directions = generator.standard_normal((draws, degrees))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if isinstance(mechanism, PolyaDifference):
        shape = float(mechanism.shape)
        mixed = generator.standard_gamma(shape, (draws, numbers)) / shape
    else:
        mixed = generator.standard_exponential((draws, numbers))
    return Mixing(excess=mixed - 1, directions=directions)


def tail(
    statistic: NDArray[np.float64],
    *,
    loadings: NDArray[np.float64],
    noise_variance: float,
    mixed: Mixing,
) -> NDArray[np.float64]:
    """Return P(Q ≥ statistic) under the null hypothesis, for one table or many.

    Args:
        statistic: Q, shape (...).
        loadings: L, shape (..., degrees, numbers).
        noise_variance: s², of one noisy number.
        mixed: From :func:`mixing`.
    """
    degrees = loadings.shape[-2]
    if not len(mixed.excess):
        return chi_squared_tail(statistic, degrees=degrees)
    weights = (mixed.directions @ loadings) ** 2  # (..., draws, numbers)
    spread = 1 + noise_variance * np.einsum("...bj,bj->...b", weights, mixed.excess)
    tails = chi_squared_tail(statistic[..., None] / np.maximum(spread, 1e-12), degrees=degrees)
    return np.asarray(tails.mean(axis=-1))
