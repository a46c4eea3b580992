"""What is counted of rows for each criterion, given the synthetic table; and regressions from it.

*Privacy:* cells are fixed by the table, which is public.  Exact counts die in
:meth:`CheckRunner.advanced`.
"""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import VerificationError
from confide.jobs.synthesis.acceptance.check import ROWS, SynthesisCheck
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.counts import exact_table
from confide.jobs.synthesis.criteria import AlikeAssociation, GoodPrediction
from confide.jobs.synthesis.measuring import levels_of
from confide.noise.entropy import Entropy
from confide.plans.canonical import canonical_bytes
from confide.plans.job import JobPlan
from confide.rows.records import RecordRows
from confide.tables.expression import OrMissing
from confide.tables.schema import Dataset

CHECK_FILE = "check.json"
_FORMAT = "confide-synthesis-check-1"
_SCORE_BINS = 20
_RIDGE = 1.0
_STEPS = 30


def distance_of_pairs(
    levels: Ints, table: Ints, *, sizes: tuple[int, ...], rows: int | None = None
) -> int:
    """Return the sum over pairs of columns of ‖M_ij − E_ij‖₁, in rows.

    Args:
        levels: Of rows; shape (rows, columns).
        table: Levels of synthetic rows; shape (synthetic rows, columns).
        sizes: Number of levels of each column.
        rows: Released number of rows to which each E_ij is brought; as it is when None.

    Example:
        >>> one, other = np.array([[0, 0], [1, 1]]), np.array([[0, 0], [1, 0]])
        >>> distance_of_pairs(one, other, sizes=(2, 2))
        2
    """
    found = 0
    for pair in itertools.combinations(range(len(sizes)), 2):
        expected = np.rint(_brought(table, pair, sizes=sizes, rows=rows)).astype(np.int64)
        found += int(np.abs(exact_table(levels, pair, sizes=sizes) - expected).sum())
    return found


def rounded_off(table: Ints, *, sizes: tuple[int, ...], rows: int) -> float:
    """Return by how much whole rows differ, over all pairs, from tables brought to ``rows``.

    Arguments are those of :func:`distance_of_pairs`.
    """
    found = 0.0
    for pair in itertools.combinations(range(len(sizes)), 2):
        expected = _brought(table, pair, sizes=sizes, rows=rows)
        found += float(np.abs(np.rint(expected) - expected).sum())
    return found


def _brought(
    table: Ints, pair: tuple[int, int], *, sizes: tuple[int, ...], rows: int | None
) -> Floats:
    times = 1.0 if rows is None else rows / max(1, len(table))
    return np.asarray(times * exact_table(table, pair, sizes=sizes))


def rows_of(counted: Mapping[str, Floats | Ints]) -> int:
    """Return the released number of rows, at least 1."""
    return max(1, int(counted[ROWS][0]))


def association_table(
    levels: Ints, criterion: AlikeAssociation, *, spec: AnySynthesis, dataset: Dataset
) -> Ints:
    """Return the counts of which an association is a function: of two columns, without missing.

    Of an odds ratio, who has the level named (axis value 1) and who has another (0).
    """
    places = [spec.columns.index(name) for name in criterion.columns]
    sizes = [known_levels(spec, v, dataset=dataset) for v in places]
    pair = levels[:, places]
    pair = pair[(pair < np.array(sizes)).all(axis=1)]
    if criterion.levels:
        pair, sizes = (pair == np.array(criterion.levels)).astype(np.int64), [2, 2]
    return exact_table(pair, (0, 1), sizes=sizes)


def known_levels(spec: AnySynthesis, v: int, *, dataset: Dataset) -> int:
    """Return how many levels a column has beside that of a missing value, which is its last."""
    size = spec.sizes(dataset)[v]
    return size - 1 if isinstance(spec.reads.reads[v], OrMissing) else size


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedScore:
    """A logistic regression of levels that learned from the synthetic table alone.

    Attributes:
        places: Of the columns that it uses.
        sizes: Number of their levels.
        weights: Of the intercept and of each level; shape (1 + levels,).
        edges: Between bins of its score; ascending.
    """

    places: tuple[int, ...]
    sizes: tuple[int, ...]
    weights: Floats
    edges: Floats

    @classmethod
    def learned(
        cls, table: Ints, criterion: GoodPrediction, *, spec: AnySynthesis, dataset: Dataset
    ) -> "LearnedScore":
        """Return what a ridge regression learns; bins hold equally many synthetic rows."""
        outcome, sizes = spec.columns.index(criterion.outcome), spec.sizes(dataset)
        places = tuple(v for v in range(len(sizes)) if v != outcome)
        used = table[table[:, outcome] < known_levels(spec, outcome, dataset=dataset)]
        design = _design(used, places=places, sizes=tuple(sizes[v] for v in places))
        weights = _ridge(design, (used[:, outcome] == criterion.level).astype(np.float64))
        parts = np.linspace(0, 1, _SCORE_BINS + 1)[1:-1]
        made = cls(
            places=places,
            sizes=tuple(sizes[v] for v in places),
            weights=weights,
            edges=np.zeros(0),
        )
        scores = made.of(used)
        edges = np.unique(np.quantile(scores, parts)) if scores.size else np.zeros(0)
        return replace(made, edges=edges)

    def of(self, levels: Ints) -> Floats:
        """Return the score of each row; added up level by level, so no row touches another's."""
        score = np.full(len(levels), self.weights[0])
        first = 1
        for v, size in zip(self.places, self.sizes, strict=True):
            score = score + self.weights[first + levels[:, v]]
            first += size
        return score

    def bins(self, levels: Ints) -> Ints:
        """Return the bin of the score of each row, from 0 to 19."""
        found = np.searchsorted(self.edges, self.of(levels), side="right")
        return np.asarray(found, dtype=np.int64)


def prediction_table(
    levels: Ints,
    criterion: GoodPrediction,
    *,
    score: LearnedScore,
    spec: AnySynthesis,
    dataset: Dataset,
) -> Ints:
    """Return rows by bin of score and whether the outcome is the level; (bins, 2)."""
    outcome = spec.columns.index(criterion.outcome)
    kept = levels[levels[:, outcome] < known_levels(spec, outcome, dataset=dataset)]
    has = (kept[:, outcome] == criterion.level).astype(np.int64)
    pair = np.column_stack([score.bins(kept), has])
    return exact_table(pair, (0, 1), sizes=(_SCORE_BINS, 2))


class CheckRunner:
    """Runs a check; satisfies :class:`confide.release.jobs.job_rounds.InParts`."""

    def __init__(self, spec: SynthesisCheck, *, plan: JobPlan, table: Ints) -> None:
        """Take what is public: the settings, and the levels of the synthetic table."""
        self._spec, self._plan, self._table = spec, plan, table

    @property
    def parts(self) -> int:
        """One."""
        return 1

    def opened(self) -> Mapping[str, bytes]:
        """Return a file without numbers."""
        return {CHECK_FILE: _file({})}

    def advanced(
        self,
        rows: RecordRows,
        *,
        part: int,  # noqa: ARG002
        before: Mapping[str, bytes],  # noqa: ARG002
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return the file with a noisy number or table a criterion."""
        progress("compare")
        spec, dataset = self._spec, self._plan.dataset
        levels = levels_of(rows, spec.synthesis, dataset=dataset)

        def noisy(name: str, exact: Ints) -> Ints:
            noise = spec.noise(name, adjacency=self._plan.adjacency)
            return noise.randomize(exact.ravel(), entropy=entropy).reshape(exact.shape)

        found: dict[str, Ints] = {}
        rows_told: int | None = None
        if spec.counts_rows:
            found[ROWS] = noisy(ROWS, np.array([len(levels)], dtype=np.int64))
            rows_told = rows_of(found)
        counted = counted_for(spec, levels, table=self._table, dataset=dataset, rows=rows_told)
        found |= {name: noisy(name, exact) for name, exact in counted.items()}
        return {CHECK_FILE: _file({name: each.tolist() for name, each in found.items()})}


def counted_for(
    spec: SynthesisCheck, levels: Ints, *, table: Ints, dataset: Dataset, rows: int | None = None
) -> dict[str, Ints]:
    """Return exact whole numbers of each criterion, by name.

    Args:
        spec: Of the check.
        levels: Of rows; shape (rows, columns).
        table: Levels of synthetic rows.
        dataset: Public facts.
        rows: Released number of rows, where they are counted.
    """
    of, synthesis = spec.criteria, spec.synthesis
    sizes, found = synthesis.sizes(dataset), []
    if of.pairs:
        distance = distance_of_pairs(levels, table, sizes=sizes, rows=rows)
        found.append(np.array([distance], dtype=np.int64))
    found += [
        association_table(levels, each, spec=synthesis, dataset=dataset) for each in of.associations
    ]
    for each in of.predictions:
        score = LearnedScore.learned(table, each, spec=synthesis, dataset=dataset)
        found.append(prediction_table(levels, each, score=score, spec=synthesis, dataset=dataset))
    return dict(zip([name for name in spec.names if name != ROWS], found, strict=True))


def read_check(content: bytes, *, spec: SynthesisCheck) -> dict[str, Floats]:
    """Return noisy numbers and tables by name.

    Raises:
        VerificationError: If the file is none of this check.
    """
    try:
        body = json.loads(content)
        if body["format"] != _FORMAT or list(body["counted"]) != sorted(spec.names):
            raise VerificationError("Expected the counts of this check.")
        return {name: np.asarray(body["counted"][name], dtype=np.float64) for name in spec.names}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
        if isinstance(broken, VerificationError):
            raise
        raise VerificationError("The counts of the check cannot be read.") from None


def _file(counted: Mapping[str, object]) -> bytes:
    return canonical_bytes({"format": _FORMAT, "counted": dict(counted)})


def _design(levels: Ints, *, places: tuple[int, ...], sizes: tuple[int, ...]) -> Floats:
    columns = [np.ones((len(levels), 1))]
    columns += [np.eye(size)[levels[:, v]] for v, size in zip(places, sizes, strict=True)]
    return np.hstack(columns)


def _ridge(design: Floats, outcome: Floats) -> Floats:
    """Return weights with a penalty of one on each but the intercept, by Newton's steps."""
    weights = np.zeros(design.shape[1])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 1e-6
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, design.T @ (outcome - chance) - penalty * weights)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(weights)
