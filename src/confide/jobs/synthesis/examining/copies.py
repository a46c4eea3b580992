"""Whether a synthetic table copies rows: exact copies and nearest records, beside fresh rows.

A fresh row of the same kind equals some row of the data by chance, the more often the fewer cells
there are; so a rate of copies says nothing by itself.  It is compared with that of a holdout, or,
where there is none, with how often a row of the data equals another of them, which is what a fresh
one would do.  Distances to the nearest record are told because they are asked for: they are no
claim of privacy.

*Privacy:* none: every number is an exact statistic of the rows.
"""

from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats, Ints

MOST_ASKED, MOST_COMPARED = 1000, 20_000
_CHUNK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiesFound:
    """Copies of rows in a synthetic table, and among rows that it was not made of.

    Attributes:
        rows: Of the synthetic table.
        copies: Share of them that equal a row of the data in every column.
        of_unique: Share that equals a row of the data that no other row is like.
        baseline: The first share, of rows that the table was not made of.
        baseline_of_unique: The second, of them.
        standard_error: Of the difference of the first shares.
        held_out: Whether the baseline is that of a holdout.
    """

    rows: int
    copies: float
    of_unique: float
    baseline: float
    baseline_of_unique: float
    standard_error: float
    held_out: bool

    @property
    def above(self) -> bool:
        """Whether there are more copies than by chance: by more than three standard errors."""
        return self.copies > self.baseline + 3 * self.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestFound:
    """Share of columns in which rows differ from the nearest row of the data.

    Attributes:
        median: Of synthetic rows.
        fifth: 5th percentile of them.
        baseline_median: Of rows that the table was not made of.
        baseline_fifth: 5th percentile of them.
    """

    median: float
    fifth: float
    baseline_median: float
    baseline_fifth: float


def copies_found(table: Ints, rows: Ints, holdout: Ints | None) -> CopiesFound:
    """Return how many rows are copies, and how many would be by chance.

    Args:
        table: Levels of synthetic rows.
        rows: Those from which the table was made.
        holdout: Other rows of the same kind; None where there are none.

    Example:
        >>> data = np.array([[0, 0], [0, 0], [1, 1], [0, 1]])
        >>> found = copies_found(np.array([[0, 0], [1, 1], [1, 0]]), data, None)
        >>> round(found.copies, 2), round(found.of_unique, 2), found.baseline
        (0.67, 0.33, 0.5)
    """
    many = _times(table, rows)
    # of the data's own rows, each is not counted as a copy of itself
    fresh = _times(rows, rows) - 1 if holdout is None else _times(holdout, rows)
    shares = float((many > 0).mean()), float((fresh > 0).mean())
    variance = sum(
        share * (1 - share) / each.size for share, each in zip(shares, (many, fresh), strict=True)
    )
    return CopiesFound(
        rows=len(table),
        copies=shares[0],
        of_unique=float((many == 1).mean()),
        baseline=shares[1],
        baseline_of_unique=float((fresh == 1).mean()),
        standard_error=variance**0.5,
        held_out=holdout is not None,
    )


def nearest_found(table: Ints, rows: Ints, holdout: Ints | None) -> NearestFound:
    """Return how near rows are to the data; of at most 1,000 rows each, spread over the table."""
    among = _spread(rows, most=MOST_COMPARED)
    asked = _spread(table, most=MOST_ASKED)
    near = _nearest(asked, among, but_itself=False)
    if holdout is not None:
        fresh = _nearest(_spread(holdout, most=MOST_ASKED), among, but_itself=False)
    else:
        fresh = _nearest(_spread(among, most=MOST_ASKED), among, but_itself=True)
    return NearestFound(
        median=float(np.median(near)),
        fifth=float(np.quantile(near, 0.05)),
        baseline_median=float(np.median(fresh)),
        baseline_fifth=float(np.quantile(fresh, 0.05)),
    )


def _times(asked: Ints, rows: Ints) -> Ints:
    """Return of each row asked how many rows equal it."""
    both = np.concatenate([rows, asked])
    _, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()
    counts = np.bincount(place[: len(rows)], minlength=int(place.max()) + 1)
    return np.asarray(counts[place[len(rows) :]], dtype=np.int64)


def _spread(rows: Ints, *, most: int) -> Ints:
    return rows[:: -(-len(rows) // most)]


def _nearest(asked: Ints, among: Ints, *, but_itself: bool) -> Floats:
    """Return the share of columns that differ from the nearest row; the second where itself is."""
    found = []
    for first in range(0, len(asked), _CHUNK):
        differ: Ints = (asked[first : first + _CHUNK, None, :] != among[None, :, :]).sum(axis=2)
        place = 1 if but_itself else 0
        found.append(np.partition(differ, place, axis=1)[:, place])
    return np.asarray(np.concatenate(found) / asked.shape[1], dtype=np.float64)
