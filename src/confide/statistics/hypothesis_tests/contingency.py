"""Residuals of independence of a noisy r × c table, with their whole covariance.

With row shares p, column shares q and n = T₊₊ of the noisy table, the residual is
D = T − n·p·qᵀ.  To first order D = (A ⊗ B)·(T − E T) with A = I − p·1ᵀ and B = I − q·1ᵀ: taking the
margins out of sampling and noise alike.  Under independence the sampling covariance is
n·(diag p − ppᵀ) ⊗ (diag q − qqᵀ); noise of variance s² a cell adds s²·AAᵀ ⊗ BBᵀ.

With the noise off ‖D‖² whitened by this is Pearson's X², because D has no row or column sums and
diag(1/p) ⊗ diag(1/q)/n inverts the covariance there.

References:
    [KR17] Kifer, Rogers. A new class of private chi-square hypothesis tests. AISTATS 2017.
        https://arxiv.org/abs/1610.07662
    [Pea00] Pearson. On the criterion that a given system of deviations ... can be reasonably
        supposed to have arisen from random sampling. Phil. Mag. 50, 1900.
        https://doi.org/10.1080/14786440009463897
"""

from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class WhitenedTest:
    """A test statistic with what its null law needs.

    Attributes:
        statistic: Q = ‖w‖², shape (...).
        loadings: How each noisy cell enters w, shape (..., degrees, cells).
        least_expected: Smallest expected count of a cell, by the noisy margins; shape (...).
        deviates: w, shape (..., degrees).
    """

    statistic: Floats
    loadings: Floats
    least_expected: Floats
    deviates: Floats


def independence(table: Floats, *, noise_variance: float) -> WhitenedTest:
    """Return the test of independence of one table, or of many at once.

    Args:
        table: Noisy counts, shape (..., r, c).
        noise_variance: s² of each cell.
    """
    n, p, q = _margins(table)
    residual = table - n[..., None, None] * p[..., :, None] * q[..., None, :]
    a, b = _centring(p)[..., :-1, :], _centring(q)[..., :-1, :]
    r, c = a.shape[-2], b.shape[-2]
    loadings = _kronecker(a, b)
    covariance = n[..., None, None] * _kronecker(
        _multinomial(p)[..., :-1, :-1], _multinomial(q)[..., :-1, :-1]
    ) + noise_variance * _kronecker(a @ _turned(a), b @ _turned(b))
    root = np.linalg.cholesky(covariance)
    flat = residual[..., :-1, :-1].reshape(*residual.shape[:-2], r * c, 1)
    deviates = np.linalg.solve(root, flat)[..., 0]
    return WhitenedTest(
        statistic=np.sum(deviates**2, axis=-1),
        loadings=np.linalg.solve(root, loadings),
        least_expected=n * p.min(axis=-1) * q.min(axis=-1),
        deviates=deviates,
    )


def trend(table: Floats, *, scores: Floats, noise_variance: float) -> WhitenedTest:
    """Return the Cochran–Armitage test of a trend of the second column's share over the rows.

    Args:
        table: Noisy counts, shape (..., k, 2): without and with, a row a category.
        scores: Of the categories, shape (k,).
        noise_variance: s² of each cell.
    """
    n, p, q = _margins(table)
    mean = p @ scores
    steps = scores - mean[..., None]
    share = q[..., 1]
    weights = steps[..., :, None] * np.stack([-share, 1 - share], axis=-1)[..., None, :]
    contrast = np.sum(weights * table, axis=(-2, -1))
    sampling = n * share * (1 - share) * np.sum(p * steps**2, axis=-1)
    deviation = np.sqrt(sampling + noise_variance * np.sum(weights**2, axis=(-2, -1)))
    flat = weights.reshape(*weights.shape[:-2], 1, -1)
    deviate = contrast / deviation
    return WhitenedTest(
        statistic=deviate**2,
        loadings=flat / deviation[..., None, None],
        least_expected=n * p.min(axis=-1) * q.min(axis=-1),
        deviates=deviate[..., None],
    )


def _margins(table: Floats) -> tuple[Floats, Floats, Floats]:
    """Return n and the shares of rows and columns; a margin below one row counts as one."""
    rows, columns = (np.maximum(table.sum(axis=axis), 1.0) for axis in (-1, -2))
    p = rows / rows.sum(axis=-1, keepdims=True)
    q = columns / columns.sum(axis=-1, keepdims=True)
    return np.maximum(table.sum(axis=(-2, -1)), 1.0), p, q


def _centring(p: Floats) -> Floats:
    return np.eye(p.shape[-1]) - p[..., :, None]


def _multinomial(p: Floats) -> Floats:
    return p[..., :, None] * np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]


def _turned(a: Floats) -> Floats:
    return np.swapaxes(a, -1, -2)


def _kronecker(a: Floats, b: Floats) -> Floats:
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    return product.reshape(*a.shape[:-2], a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1])


def departures(table: Floats) -> tuple[Floats, Floats, Floats]:
    """Return π_ij − π_i₊π₊_j of each cell, its sampling variance, and the weights of the noise.

    The three have shapes (cells,), (cells,) and (cells, cells); independence is not assumed.
    """
    n, p, q = _margins(table)
    weights = _kronecker(_centring(p), _centring(q)) / n
    shares = np.maximum(table, 0.0)
    pi = (shares / max(float(shares.sum()), 1.0)).ravel()
    sampling = n * (weights**2 @ pi - (weights @ pi) ** 2)
    values = (table / n - p[:, None] * q[None, :]).ravel()
    return values, np.maximum(sampling, 0.0), weights


def slope(table: Floats, *, scores: Floats) -> tuple[float, float, Floats]:
    """Return the least-squares slope of a share over scores, its sampling variance, noise weights.

    The line through the shares of the second column, weighted by the rows' counts.  A cell (i, x)
    enters the slope with the weight (s_i − s̄)·(x − line_i)/Σ(s − s̄)²N: how far its value, 0 or 1,
    is from the line.  Sampling is that of single rows about the line, which need not be straight.
    """
    n, p, q = _margins(table)
    steps = scores - float(p @ scores)
    spread = float(n) * float(p @ steps**2)
    value = float(steps @ (table[:, 1] - q[1] * table.sum(axis=1))) / spread
    line = q[1] + value * steps
    weights = steps[:, None] * np.stack([-line, 1 - line], axis=-1) / spread
    sampling = float(np.sum(weights**2 * np.maximum(table, 0.0)))
    return value, sampling, weights.ravel()
