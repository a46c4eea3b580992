"""A k-anonymiser: strict multidimensional Mondrian, which cuts classes in halves while both hold k.

A class is cut at the median of the quasi-identifier that spreads widest in it, as a share of its
spread in the table; where that cannot be cut, at the next one.  Its patients are then published
with the range of each quasi-identifier in the class [LDR06].  Categories are cut in the order of
their labels.  With ``l`` > 1 both halves also need l values of the sensitive column, as
l-diversity asks.

It is here to be attacked: good enough that what breaks its tables is the promise of k-anonymity and
not the anonymiser.

*Privacy:* none is proved; the classes depend on the patients.
*Utility:* n log n; 45,000 patients in about a second.

References:
    [LDR06] LeFevre, DeWitt, Ramakrishnan. Mondrian multidimensional k-anonymity. ICDE 2006.
        https://doi.org/10.1109/ICDE.2006.101
"""

from collections.abc import Iterator

import numpy as np

from confide.arrays import Ints


def mondrian(known: Ints, sensitive: Ints, *, k: int, l: int = 1, first: int = 0) -> Ints:  # noqa: E741
    """Return the class of each patient, numbered from 0; shape (patients,).

    Args:
        known: Ranks of the quasi-identifiers; shape (patients, columns).
        sensitive: Codes of the sensitive column; shape (patients,).
        k: Patients of a class at least.
        l: Values of the sensitive column in a class at least.
        first: At equal spread, the column that is cut first.

    Example:
        >>> ages, illness = np.array([[30], [31], [60], [61]]), np.array([0, 1, 0, 1])
        >>> mondrian(ages, illness, k=2).tolist()
        [0, 0, 1, 1]
    """
    order = np.roll(np.arange(known.shape[1]), -first)
    turned = known[:, order]
    spread = np.maximum(1, turned.max(axis=0) - turned.min(axis=0))
    found = np.zeros(len(known), dtype=np.int64)
    waiting, number = [np.arange(len(known))], 0
    while waiting:
        rows = waiting.pop()
        for low, high in _cuts(turned[rows], spread=spread):
            halves = rows[low], rows[high]
            if all(len(h) >= k and len(np.unique(sensitive[h])) >= l for h in halves):
                waiting += [halves[1], halves[0]]
                break
        else:
            found[rows] = number
            number += 1
    return found


def _cuts(known: Ints, *, spread: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield halves at the medians, of the column that spreads widest first."""
    widths = (known.max(axis=0) - known.min(axis=0)) / spread
    for column in np.argsort(-widths, kind="stable"):
        values = known[:, column]
        middle = np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]
        for below in (values <= middle, values < middle):
            if below.any() and not below.all():
                yield np.flatnonzero(below), np.flatnonzero(~below)
