"""Least squares from noisy second moments, with intervals that hold sampling and noise.

With G̃ = G + E, Ã = A + E_xx and b̃ = b + E_xy the estimate is β = (Ã + λI)⁻¹b̃.

*Ridge:* as in AdaSSP, the least λ ≥ 0 at which the noise of XᵀX is small against XᵀX + λI; here
small means a relative size ν(λ) = ‖Σ s_c²(M^(−1/2)·W_c·M^(−1/2))²‖^(1/2) ≤ 1/4 with M = Ã + λI, in
the metric of the regression itself.  AdaSSP buys a noisy λ_min; here XᵀX is released anyway, so its
eigenvalues are post-processing and cost nothing.  AdaSSP's own λ holds the spectral norm against
λ_min with worst-case constants; it would shrink where intervals of least squares still hold, with
two to four times the error (docs/design/015).

*Law:* with w = (−β, 1) the error of β is A⁻¹(Xᵀe + Ew), to first order: sampling covariance
σ²A⁻¹ and noise Σ s_c²(A⁻¹W_c w)(A⁻¹W_c w)ᵀ.  To second order noise in A draws β towards 0 by
Σ s_c²·A⁻¹W_cA⁻¹W_c w, and the residual sum of squares is too small by Σ s_c²(W_c w)ᵀA⁻¹(W_c w);
both are known from the released numbers and added back.  What is too small is a quadratic form of
the noise, zᵀQz, of variance 2‖Q‖², which counts in R² (:mod:`.determination`), where the noise of
Σy² cancels.  With λ > 0 the estimate is drawn towards the public centre by an unknown amount, so it
has no interval.

*Utility:* with the noise off β, its errors and intervals are those of ordinary least squares.

References:
    [Wan18] Wang. Revisiting differentially private linear regression: optimal and adaptive
        prediction & estimation in unbounded domain. UAI 2018. https://arxiv.org/abs/1803.02596
    [She17] Sheffet. Differentially private ordinary least squares. ICML 2017.
        https://arxiv.org/abs/1507.02482
"""

import math
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.statistics.regression.moments import Moments

LARGEST_NOISE = 0.25
"""Relative size of the noise of XᵀX up to which first and second order give the law of β."""

NOISY_FROM = 0.15
"""From here on what is seen of it is small by luck where it is: fits are flagged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A regression, in units of the half widths of its numbers.

    Attributes:
        coefficients: β, shape (terms − 1,).
        sampling: Sampling variance of each; shape (terms − 1,).
        noise: How each released number's noise enters each; shape (terms − 1, numbers).
        ridge: λ; 0 when the moments carry ordinary least squares.
        rows: Noisy number of rows.
        rows_noise: How each released number's noise enters it.
        residual: Residual sum of squares.
        residual_noise: How each released number's noise enters it.
        residual_bend: Variance of what the noise does to it to second order.
        total: Sum of squares about the mean.
        total_noise: How each released number's noise enters it.
        usable: Whether there is an estimate at all.
        moments: What it was made of.
    """

    coefficients: Floats
    sampling: Floats
    noise: Floats
    ridge: float
    rows: float
    rows_noise: Floats
    residual: float
    residual_noise: Floats
    residual_bend: float
    total: float
    total_noise: Floats
    usable: bool
    moments: Moments


def relative_noise(moments: Moments, *, ridge: float) -> float:
    """Return ν: the size of the noise of XᵀX relative to XᵀX + λI; infinite if that is singular."""
    values, vectors = np.linalg.eigh(moments.matrix[:-1, :-1])
    shifted = values + ridge
    if shifted[0] <= 1e-12 * max(float(shifted[-1]), 1e-300):
        return math.inf
    turned = vectors / np.sqrt(shifted)
    w = turned.T @ moments.weights[:, :-1, :-1] @ turned
    size = np.linalg.eigvalsh(np.einsum("c,cij,cjk->ik", moments.variances, w, w))[-1]
    return math.sqrt(max(float(size), 0.0))


def _ridge(moments: Moments) -> float:
    """Return the least λ with ν(λ) ≤ 1/4, by bisection; ν falls as λ grows."""
    if relative_noise(moments, ridge=0.0) <= LARGEST_NOISE:
        return 0.0
    low, high = 0.0, 1.0
    while relative_noise(moments, ridge=high) > LARGEST_NOISE:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        wide = relative_noise(moments, ridge=middle) > LARGEST_NOISE
        low, high = (middle, high) if wide else (low, middle)
    return high


def fit(moments: Moments) -> Fit:
    """Return the regression of the last term on the others."""
    a, b = moments.matrix[:-1, :-1], moments.matrix[:-1, -1]
    terms, s2 = len(b), moments.variances
    rows = float(moments.matrix[0, 0])
    if not float(s2.max()) and not math.isfinite(relative_noise(moments, ridge=0.0)):
        return _nothing(moments)
    ridge = _ridge(moments)
    inverse = np.linalg.inv(a + ridge * np.eye(terms))
    beta = inverse @ b
    pulls = _pulls(moments, beta=beta)
    beta = beta + inverse @ np.einsum(
        "c,cij,jk,ck->i", s2, moments.weights[:, :-1, :-1], inverse, pulls
    )
    pulls = _pulls(moments, beta=beta)
    w = np.append(-beta, 1.0)
    residual = float(w @ moments.matrix @ w) + float(
        np.einsum("c,ci,ij,cj->", s2, pulls, inverse, pulls)
    )
    residual_noise = np.einsum("i,cij,j->c", w, moments.weights, w)
    bend = inverse @ np.einsum("c,ci,cj->ij", s2, pulls, pulls)
    error = math.sqrt(float(s2 @ residual_noise**2))
    freedom = max(rows - terms, 1.0)
    variance = (residual + math.hypot(residual, 2 * error)) / 2 / freedom
    total, total_noise = _about_the_mean(moments)
    return Fit(
        coefficients=beta,
        sampling=np.maximum(variance * np.diag(inverse), 0.0),
        noise=inverse @ pulls.T,
        ridge=ridge,
        rows=rows,
        rows_noise=moments.weights[:, 0, 0],
        residual=residual,
        residual_noise=residual_noise,
        residual_bend=2 * float(np.trace(bend @ bend)),
        total=total,
        total_noise=total_noise,
        usable=rows > terms + 10 * math.sqrt(_count_variance(moments)),
        moments=moments,
    )


def _pulls(moments: Moments, *, beta: Floats) -> Floats:
    """Return (W_c w)_x: how each released number's noise pulls at Xᵀ(y − Xβ)."""
    return np.asarray((moments.weights @ np.append(-beta, 1.0))[:, :-1])


def _about_the_mean(moments: Moments) -> tuple[float, Floats]:
    """Return Σ(y − ȳ)² and how each released number's noise enters it."""
    rows = max(float(moments.matrix[0, 0]), 1.0)
    mean = float(moments.matrix[0, -1]) / rows
    w = np.zeros(moments.matrix.shape[0])
    w[0], w[-1] = -mean, 1.0
    return float(w @ moments.matrix @ w), np.einsum("i,cij,j->c", w, moments.weights, w)


def _count_variance(moments: Moments) -> float:
    return float(moments.variances @ moments.weights[:, 0, 0] ** 2)


def _nothing(moments: Moments) -> Fit:
    terms, numbers = moments.matrix.shape[0] - 1, len(moments.variances)
    nothing = np.zeros(numbers)
    return Fit(
        coefficients=np.zeros(terms),
        sampling=np.zeros(terms),
        noise=np.zeros((terms, numbers)),
        ridge=0.0,
        rows=float(moments.matrix[0, 0]),
        rows_noise=moments.weights[:, 0, 0],
        residual=0.0,
        residual_noise=nothing,
        residual_bend=0.0,
        total=0.0,
        total_noise=nothing,
        usable=False,
        moments=moments,
    )
