"""k-anonymity, l-diversity and t-closeness of a table whose patients lie in classes.

Patients of one class cannot be told apart by their quasi-identifiers.  The table is

- k-anonymous if every class holds at least k patients [SS98];
- l-diverse if every class holds at least l values of the sensitive column; entropy l-diverse if the
  entropy of its values is at least ln l [MKGV07];
- t-close if the values of every class lie within earth mover's distance t of those of the whole
  table [LLV07]: half the sum of differences for categories; for m ordered values the sum of
  |cumulated differences| over m − 1.

*Privacy:* exact, of the steward's own table.  None of the three bounds what an attacker learns who
knows more than the quasi-identifiers, or sees a second release.

References:
    [SS98] Samarati, Sweeney. Protecting privacy when disclosing information: k-anonymity and its
        enforcement through generalization and suppression. SRI-CSL-98-04, 1998.
    [MKGV07] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam. l-diversity: privacy beyond
        k-anonymity. TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302
    [LLV07] Li, Li, Venkatasubramanian. t-closeness: privacy beyond k-anonymity and l-diversity.
        ICDE 2007. https://doi.org/10.1109/ICDE.2007.367856
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats, Ints
from confide.attacks.lab.own_table import Coded

_CELLS = 10**6
"""Counts of classes and values that are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """What a table promises by its classes.

    Attributes:
        classes: How many there are.
        k: Patients of the smallest.
        unique: Patients who are alone in theirs.
        l_distinct: Values of the sensitive column in the class that has fewest.
        l_entropy: e to the entropy of the class where that is least.
        t: Largest earth mover's distance of a class from the table, in [0, 1].
    """

    classes: int
    k: int
    unique: int
    l_distinct: int
    l_entropy: float
    t: float


def anonymity(classes: Ints, sensitive: Coded) -> Anonymity:
    """Return k, l and t of a table.

    Args:
        classes: Class of each patient, numbered from 0 without gaps; shape (patients,).
        sensitive: The sensitive column.

    Example:
        A ward where everybody of one class has the same condition:

        >>> from confide.attacks.lab.own_table import coded
        >>> found = anonymity(np.array([0, 0, 1, 1]), coded(["flu", "flu", "flu", "HIV"]))
        >>> found.k, found.l_distinct, found.t
        (2, 1, 0.25)
    """
    sizes = np.bincount(classes)
    whole = np.bincount(sensitive.codes, minlength=len(sensitive.labels)) / len(classes)
    entropy, t = math.inf, 0.0
    for counts in _blocks(classes, sensitive):
        shares = counts / counts.sum(axis=1, keepdims=True)
        logs = np.log(shares, where=counts > 0, out=np.zeros_like(shares))
        entropy = min(entropy, float(-(shares * logs).sum(axis=1).max()))
        t = max(t, _distance(shares, whole, ordered=sensitive.ordered))
    return Anonymity(
        classes=len(sizes),
        k=int(sizes.min()),
        unique=int((sizes == 1).sum()),
        l_distinct=int(distinct_by_class(classes, sensitive.codes).min()),
        l_entropy=math.exp(entropy),
        t=t,
    )


def distinct_by_class(classes: Ints, codes: Ints) -> Ints:
    """Return how many values of the sensitive column each class holds; shape (classes,).

    Example:
        >>> distinct_by_class(np.array([0, 0, 1]), np.array([7, 7, 3])).tolist()
        [1, 1]
    """
    width = int(codes.max()) + 1
    return np.asarray(np.bincount(np.unique(classes * width + codes) // width), dtype=np.int64)


def _blocks(classes: Ints, sensitive: Coded) -> Iterator[Ints]:
    """Yield how many patients of some classes have each value; shape (classes, values)."""
    values = len(sensitive.labels)
    order = np.argsort(classes, kind="stable")
    starts = np.concatenate([[0], np.bincount(classes).cumsum()])
    step = max(1, _CELLS // values)
    for first in range(0, len(starts) - 1, step):
        last = min(first + step, len(starts) - 1)
        rows = order[starts[first] : starts[last]]
        cells = (classes[rows] - first) * values + sensitive.codes[rows]
        yield np.bincount(cells, minlength=values * (last - first)).reshape(-1, values)


def _distance(shares: Floats, whole: Floats, *, ordered: bool) -> float:
    """Return the largest earth mover's distance of some classes from the table."""
    apart = shares - whole
    if not ordered:
        return float(np.abs(apart).sum(axis=1).max() / 2)
    return float(np.abs(apart.cumsum(axis=1)).sum(axis=1).max() / max(1, len(whole) - 1))
