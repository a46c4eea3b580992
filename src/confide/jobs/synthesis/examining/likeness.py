"""How like a synthetic table is to rows, exactly: tables, correlations, predictions.

*Privacy:* none: every number is an exact statistic of the rows.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from confide.arrays import Ints
from confide.jobs.synthesis.acceptance.compared import (
    LearnedScore,
    association_table,
    known_levels,
)
from confide.jobs.synthesis.acceptance.verdict import correlation
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.counts import exact_table
from confide.jobs.synthesis.criteria import AlikeAssociation, GoodPrediction
from confide.tables.schema import Dataset

MOST_TABLES_COMPARED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalError:
    """Total-variation distances of tables of so many columns.

    Attributes:
        columns: How many columns a table has.
        tables: How many were compared, evenly spread where there are more than 400.
        mean: Of the distances.
        largest: Of the distances.
        where: Columns of the largest.
    """

    columns: int
    tables: int
    mean: float
    largest: float
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationError:
    """Differences of correlations of levels in their order, of pairs of columns.

    Attributes:
        pairs: How many.
        mean: Of the absolute differences.
        largest: Of them.
        where: Columns of the largest.
    """

    pairs: int
    mean: float
    largest: float
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedOn:
    """AUC of a regression of levels on rows that it did not see.

    Attributes:
        outcome: That is predicted.
        from_synthetic: Where it learned from the synthetic table.
        from_rows: Where it learned from rows.
    """

    outcome: str
    from_synthetic: float
    from_rows: float


def marginal_errors(
    table: Ints, rows: Ints, *, spec: AnySynthesis, dataset: Dataset
) -> tuple[MarginalError, ...]:
    """Return errors of tables of one, two and three columns, in levels as declared."""
    sizes, found = spec.sizes(dataset), []
    for many in (1, 2, 3):
        every = list(itertools.combinations(range(len(sizes)), many))
        chosen = every[:: -(-len(every) // MOST_TABLES_COMPARED)] if every else []
        if not chosen:
            continue
        off = [_distance(table, rows, each, sizes=sizes) for each in chosen]
        worst = int(np.argmax(off))
        found.append(
            MarginalError(
                columns=many,
                tables=len(chosen),
                mean=float(np.mean(off)),
                largest=float(off[worst]),
                where=tuple(spec.columns[v] for v in chosen[worst]),
            )
        )
    return tuple(found)


def correlation_error(
    table: Ints, rows: Ints, *, spec: AnySynthesis, dataset: Dataset
) -> CorrelationError:
    """Return how far correlations are apart."""
    pairs = list(itertools.combinations(spec.columns, 2))
    off = []
    for one, other in pairs:
        of = AlikeAssociation(columns=(one, other), within=Fraction(1))
        both = [
            correlation(association_table(each, of, spec=spec, dataset=dataset).astype(np.float64))
            for each in (table, rows)
        ]
        off.append(abs(both[0] - both[1]))
    worst = int(np.argmax(off))
    return CorrelationError(
        pairs=len(pairs), mean=float(np.mean(off)), largest=float(off[worst]), where=pairs[worst]
    )


def trained_on(
    table: Ints,
    rows: Ints,
    holdout: Ints | None,
    *,
    wanted: GoodPrediction,
    spec: AnySynthesis,
    dataset: Dataset,
) -> TrainedOn:
    """Return the AUC of a regression from the table, and from rows, on rows it did not see.

    Args:
        table: Levels of synthetic rows.
        rows: Those from which the table was made.
        holdout: Other rows of the same kind; None to learn from either half of the rows, and ask
            of the other.
        wanted: Outcome and level.
        spec: Of the synthesis.
        dataset: Public facts.
    """

    def auc(learned: Ints, asked: Ints) -> float:
        score = LearnedScore.learned(learned, wanted, spec=spec, dataset=dataset)
        outcome = spec.columns.index(wanted.outcome)
        kept = asked[asked[:, outcome] < known_levels(spec, outcome, dataset=dataset)]
        return auc_of_scores(score.of(kept), kept[:, outcome] == wanted.level)

    if holdout is not None:
        return TrainedOn(
            outcome=wanted.outcome,
            from_synthetic=auc(table, holdout),
            from_rows=auc(rows, holdout),
        )
    halves = rows[::2], rows[1::2]
    crossed = (auc(*halves) + auc(*reversed(halves))) / 2
    return TrainedOn(outcome=wanted.outcome, from_synthetic=auc(table, rows), from_rows=crossed)


def auc_of_scores(score: np.ndarray, has: np.ndarray) -> float:
    """Return the AUC of scores; .5 where there is but one kind.

    Example:
        >>> auc_of_scores(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
        0.875
    """
    positive, negative = int(has.sum()), int((~has).sum())
    if not positive or not negative:
        return 0.5
    _, place, many = np.unique(score, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - (many - 1) / 2
    ranks = middle[place.ravel()]
    return float((ranks[has].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _distance(
    table: Ints, rows: Ints, variables: tuple[int, ...], *, sizes: tuple[int, ...]
) -> float:
    shares = [exact_table(each, variables, sizes=sizes) / len(each) for each in (table, rows)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
