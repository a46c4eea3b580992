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

from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats, Ints
from confide.attacks.lab.own_table import Coded


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
    counts = counts_by_class(classes, sensitive)
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(counts > 0, shares * np.log(shares), 0.0).sum(axis=1)
    return Anonymity(
        classes=len(sizes),
        k=int(sizes.min()),
        unique=int((sizes == 1).sum()),
        l_distinct=int((counts > 0).sum(axis=1).min()),
        l_entropy=float(np.exp(entropy.min())),
        t=float(_distance(shares, counts.sum(axis=0) / counts.sum(), ordered=sensitive.ordered)),
    )


def counts_by_class(classes: Ints, sensitive: Coded) -> Ints:
    """Return how many patients of each class have each value; shape (classes, values)."""
    values = len(sensitive.labels)
    cells = np.bincount(
        classes * values + sensitive.codes, minlength=values * (int(classes.max()) + 1)
    )
    return np.asarray(cells.reshape(-1, values), dtype=np.int64)


def _distance(shares: Floats, whole: Floats, *, ordered: bool) -> float:
    apart = shares - whole
    if not ordered:
        return float(np.abs(apart).sum(axis=1).max() / 2)
    return float(np.abs(apart.cumsum(axis=1)).sum(axis=1).max() / max(1, len(whole) - 1))
