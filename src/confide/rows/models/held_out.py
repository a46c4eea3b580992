"""Into which histograms of scores patients who are held out go: who calibrates, which subgroups.

*Privacy:* a patient's histograms depend on their own keyed hash and their own first row.
"""

from collections.abc import Iterable, Mapping
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
        cells: Number of cells of one count.
    """

    evaluates: NDArray[np.bool_]
    groups: Ints
    sizes: tuple[int, ...]
    calibrating: bool
    cells: int

    def where(self, chosen: NDArray[np.bool_]) -> "Parts":
        """Return the same of some of the rows."""
        return replace(self, evaluates=self.evaluates[chosen], groups=self.groups[chosen])

    def added(self, parts: Iterable[tuple[Ints, Ints | None]]) -> list[int]:
        """Add up by cell: of those who calibrate, then of each subgroup.

        Args:
            parts: The cell of each row, and what the row adds to it, one where nothing is said; for
                each of the cells that a row adds to; each of shape (rows,).
        """
        each = [self._counted(cell, 1 if adds is None else adds) for cell, adds in parts]
        return [sum(totals) for totals in zip(*each, strict=True)]

    def _counted(self, cell: Ints, each: Ints | int) -> list[int]:
        adds, chosen, cells = np.broadcast_to(each, cell.shape), self.evaluates, self.cells
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
        cells=aggregate.score_cells,
    )
