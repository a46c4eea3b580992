"""Rows of a file that the steward names, as levels of the columns of a synthesis.

*Privacy:* exact rows, held in memory for the steward alone.  They are never printed, and no error
says more of them than how many cannot be read.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from unicodedata import normalize

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError, UnknownNameError
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.finding.charged_categories import places_among
from confide.public_csv import csv_lines
from confide.tables.expression import BinOf, ColumnOf, DaysOf, Expression, OrMissing, TextAmong
from confide.tables.relation import column_of, domain
from confide.tables.schema import Dataset, Domain, Kind, Outside

FEWEST_ROWS = 20
_NOTHING = ("", "NA")
_FIRST = dt.date(1970, 1, 1)
_OUT = -1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OwnRows:
    """Levels of rows.

    Attributes:
        levels: Shape (rows, columns).
        left_out: How many rows had a value that the columns do not declare, or none.
    """

    levels: Ints
    left_out: int


def read_own_rows(path: Path, *, spec: AnySynthesis, dataset: Dataset) -> OwnRows:
    """Return the rows of a CSV file in the form of ``synthetic.csv``.

    Args:
        path: A line of names, and a line a row; more columns than those of the table may be there.
        spec: Of the synthesis.
        dataset: Public facts.

    Raises:
        ContractError: If the file is no such table, or hardly a row can be read; UnknownNameError
            for a column that it does not have.
    """
    head, *lines = csv_lines(path)
    for name in spec.columns:
        if name not in head:
            raise UnknownNameError(
                "column",
                name,
                known=(),  # a file without a line of names begins with a patient
                hint=f"The first line of {path.name} names its columns, as synthetic.csv does.",
            )
    if len(set(head)) < len(head):
        raise ContractError(f"{path.name} has two columns of one name.", hint="Rename one.")
    columns = []
    for name, of in zip(spec.columns, spec.reads.reads, strict=True):
        place = head.index(name)
        columns.append(_levels([line[place] for line in lines], of=of, dataset=dataset))
    levels = np.stack(columns, axis=1)
    kept = (levels != _OUT).all(axis=1)
    if int(kept.sum()) < FEWEST_ROWS:
        raise ContractError(
            f"Fewer than {FEWEST_ROWS} rows of {path.name} can be read as rows of the table.",
            hint="Its values have to look like those of synthetic.csv.",
        )
    return OwnRows(levels=levels[kept], left_out=int((~kept).sum()))


def _levels(cells: Sequence[str], *, of: Expression, dataset: Dataset) -> Ints:
    """Return the level of each cell, and :data:`_OUT` where there is none.

    A number or date in none of the bins, or outside of bounds that drop it, is missing, as it is to
    the job; a text that is no category that was found is "other".
    """
    missing, inner = _OUT, of
    if isinstance(of, OrMissing):
        inner, missing = of.of, domain(of.of, dataset=dataset).size()
    read = inner.of if isinstance(inner, BinOf) else inner
    inside, drops = domain(read, dataset=dataset), _drops(read, dataset=dataset)
    known = {cell: _canonical(cell, of=inside) for cell in set(cells)}
    if isinstance(read, TextAmong):
        texts = [normalize("NFC", cell) for cell in known]
        known = dict(zip(known, places_among(texts, read.texts).tolist(), strict=True))
    whole = {
        cell: missing
        if cell in _NOTHING and cell not in inside.keys
        else _OUT
        if value is None
        else missing
        if drops and not inside.lower <= value <= inside.upper
        else _placed(value, of=inner, within=inside, missing=missing)
        for cell, value in known.items()
    }
    return np.array([whole[cell] for cell in cells], dtype=np.int64)


def _canonical(cell: str, *, of: Domain) -> int | None:
    """Return the canonical integer of a cell; None where it has none."""
    if of.keys:
        return of.lower + of.keys.index(cell) if cell in of.keys else None
    try:
        if of.kind is Kind.DATE:
            return (dt.date.fromisoformat(cell[:10]) - _FIRST).days
        return round(Fraction(cell) / of.scale)
    except (ValueError, ZeroDivisionError):
        return None


def _drops(of: Expression, *, dataset: Dataset) -> bool:
    """Return whether a value outside of its bounds is none, as every date is."""
    match of:
        case ColumnOf():
            column = column_of(of, dataset)
            return column.kind is Kind.DATE or column.outside is Outside.DROP
        case DaysOf(inside=inside):
            return inside
        case _:
            return False


def _placed(value: int, *, of: Expression, within: Domain, missing: int) -> int:
    if not isinstance(of, BinOf):
        return min(max(value, within.lower), within.upper) - within.lower
    edges = of.edges
    clipped = min(max(value, within.lower), within.upper)
    if not edges[0] <= clipped <= edges[-1]:
        return missing
    return min(int(np.searchsorted(edges, clipped, side="right")) - 1, len(edges) - 2)
