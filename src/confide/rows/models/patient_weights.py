"""Weights that bound what the rows of one patient add to a model in rounds, in whole numbers.

*Privacy:* see :mod:`confide.tables.aggregates.descent` for the lemma.  A patient's k rows weigh 1/k
each, and less where the norms of their terms pass the clip; what is scaled is rounded towards zero,
and norms are rounded up, so whole numbers keep the bounds that the lemma takes.  Every float here
holds a whole number below 2⁵³ (at most 100 rows of 200 terms below 2¹⁸), and roots are corrected to
be exact.
"""

import math

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints


def scaled_moments(terms: Floats, patient: Ints, *, norm: int) -> Floats:
    """Return √(min(1/k, R/Σ‖x‖²))·x for the k rows x of each patient, in units of the terms.

    Args:
        terms: x in 1/UNIT; shape (rows, d).
        patient: Number of each row's patient, from 0; shape (rows,).
        norm: R·UNIT².
    """
    return shrunk(terms, _moment_roots(terms, patient, norm=norm), most=math.isqrt(norm))


def _moment_roots(terms: Floats, patient: Ints, *, norm: int) -> Ints:
    """Return √max(Σ‖x‖², k·R) of each row's patient; √Σ‖x‖² where k = 1."""
    squares = np.einsum("ij,ij->i", terms, terms)
    total = np.bincount(patient, weights=squares)[patient].astype(np.int64)
    count = rows_of_each(patient)
    return roots_up(np.where(count > 1, np.maximum(total, count * norm), total))


def moment_weighed(terms: Floats, patient: Ints, *, norm: int) -> Floats:
    """Return q·x with q = min(1/k, R/Σ‖x‖²) for the k rows x of each patient; see above."""
    once = scaled_moments(terms, patient, norm=norm)
    return shrunk(once, _moment_roots(terms, patient, norm=norm), most=math.isqrt(norm))


def weighed(plain: Floats, patient: Ints, *, clip: int) -> tuple[Floats, Floats]:
    """Return √h·z and w·z for the rows z of each patient.

    w = min(1/k, C/S) with k rows and S = Σ‖z‖, and h is w or, where it is smaller, 2C²/Σ‖z‖².

    Args:
        plain: z in 1/UNIT; shape (rows, d).
        patient: Number of each row's patient, from 0; shape (rows,).
        clip: C·UNIT.
    """
    squares = np.einsum("ij,ij->i", plain, plain)
    norms = roots_up(squares.astype(np.int64))
    total = np.bincount(patient, weights=norms).astype(np.int64)[patient]
    size = np.maximum(total, rows_of_each(patient) * clip)
    root = roots_up(np.bincount(patient, weights=squares).astype(np.int64)[patient])
    return half_shrunk(plain, size, root, most=clip), shrunk(plain, size, most=clip)


def rows_of_each(patient: Ints) -> Ints:
    """Return for each row how many its patient has."""
    return np.asarray(np.bincount(patient)[patient], dtype=np.int64)


def summed_by_patient(rows: Floats, patient: Ints) -> Floats:
    """Return the sum of each patient's rows; shape (patients, columns)."""
    if not len(rows):
        return rows
    order = np.argsort(patient, kind="stable")
    starts = np.flatnonzero(np.diff(patient[order], prepend=-1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))


def shrunk(rows: Floats, size: Ints, *, most: int) -> Floats:
    """Return rows·most/size where size passes ``most``."""
    return scaled(rows, size, by=np.full_like(size, most), where=size > most)


def half_shrunk(rows: Floats, size: Ints, root: Ints, *, most: int) -> Floats:
    """Return rows·√(most/size), or rows·√2·most/root where that is less."""
    reach = math.isqrt(2 * most * most)
    roots = np.floor(np.sqrt((size * most).astype(np.float64))).astype(np.int64)
    roots -= roots * roots > size * most
    far = root * root > 2 * most * size
    return scaled(
        rows, np.where(far, root, size), by=np.where(far, reach, roots), where=size > most
    )


def scaled(rows: Floats, size: Ints, *, by: Ints, where: NDArray[np.bool_]) -> Floats:
    """Return rows·by/size, rounded towards zero, for some of the rows.

    In float64, where it is exact: a quotient k − 1/size rounds to the whole number k only if
    k·size reaches 2⁵³, and products here stay below 2⁴⁰.
    """
    if not bool(where.any()):
        return rows
    result = rows * np.where(where, by, 1).astype(np.float64)[:, None]
    result /= np.where(where, size, 1).astype(np.float64)[:, None]
    return np.asarray(np.trunc(result, out=result))


def roots_up(squares: Ints) -> Ints:
    """Return square roots rounded up; float roots are corrected to be exact."""
    roots = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64)
    return np.asarray(roots + (roots * roots < squares), dtype=np.int64)
