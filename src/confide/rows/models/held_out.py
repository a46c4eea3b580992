"""Into which histograms of scores patients who are held out go: who calibrates, which subgroups.

*Privacy:* a patient's histograms depend on their own keyed hash and their own first row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Ints
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.relation import domain
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Histograms of some rows.

    Attributes:
        evaluates: Whether who is held out evaluates, and does not calibrate; shape (rows,).
        groups: Index of the value of each column of subgroups; shape (rows, columns).
        sizes: Number of values of each column.
        calibrating: Whether anybody calibrates.
    """

    evaluates: NDArray[np.bool_]
    groups: Ints
    sizes: tuple[int, ...]
    calibrating: bool

    def where(self, chosen: NDArray[np.bool_]) -> "Parts":
        """Return the same of some of the rows."""
        return replace(self, evaluates=self.evaluates[chosen], groups=self.groups[chosen])

    def counted(self, cell: Ints, *, cells: int, each: Ints | None = None) -> list[int]:
        """Count who is in which cell: of those who calibrate, then of each subgroup.

        Args:
            cell: Of each row; shape (rows,).
            cells: Number of cells of one histogram.
            each: What a row adds to its cell; one where it is left out; shape (rows,).
        """
        adds = np.ones(len(cell), dtype=np.int64) if each is None else each
        chosen = self.evaluates
        found = [(cell[~chosen], adds[~chosen], cells)] if self.calibrating else []
        last, added, groups = cell[chosen], adds[chosen], self.groups[chosen]
        if not self.sizes:
            found.append((last, added, cells))
        for column, size in enumerate(self.sizes):
            found.append((last + cells * groups[:, column], added, cells * size))
        return [total for one in found for total in _totals(*one)]


def _totals(cell: Ints, adds: Ints, cells: int) -> list[int]:
    """Add up whole numbers by cell, exactly."""
    found = np.zeros(cells, dtype=np.int64)
    np.add.at(found, cell, adds)
    return [int(total) for total in found]


def parts_of(
    aggregate: DescentAggregate, columns: Mapping[str, NDArray[Any]], *, dataset: Dataset
) -> Parts:
    """Return the histograms of the rows of a query."""
    fold = np.asarray(columns["fold"], dtype=np.int64)
    first = len(aggregate.covariates) + 1 + (aggregate.exposure is not None)
    groups = np.zeros((len(fold), len(aggregate.subgroups)), dtype=np.int64)
    sizes = []
    for place, column in enumerate(aggregate.subgroups):
        of = domain(column, dataset=dataset)
        sizes.append(of.size())
        value = np.asarray(columns[f"e{first + place}"], dtype=np.int64) - of.lower
        groups[:, place] = np.clip(value, 0, of.size() - 1)
    return Parts(
        evaluates=fold >= aggregate.calibrating,
        groups=groups,
        sizes=tuple(sizes),
        calibrating=aggregate.calibrating > 0,
    )
