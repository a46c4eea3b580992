"""Ranked aggregates: exact utilities of public candidates, of which only the best are published.

A :class:`RankedCells` ranks public cells by how many patients (or rows) fall into them.  A
:class:`RankedFeatures` ranks columns by how strongly they go with an outcome:

- about the *means*: u_j = m_j·|Σ(x_j − x̄_j)(y − ȳ)|, rounded up, n times the covariance; for
  genotypes 0/1/2 and cases 0/1 the numerator of the Cochran–Armitage trend test [Arm55];
- about the *centres* of the public bounds: u_j = m_j·|Σ(x_j − c_j)(y − c)|.

The whole numbers m_j are public and make the widths of the features as equal as 1 in 1,024, so that
each is measured in its own unit.

*Lemma* (one kept row more; R_j, R_y are widths of the bounds, h_j, h_y largest distances from the
centres).  About the centres the sum moves by at most h_j·h_y, and so does its absolute value.
About the means, with n rows before, Σ(x − x̄)(y − ȳ) moves by n/(n+1)·(a − x̄)(b − ȳ) for the row
(a, b) [WW62], less than R_j·R_y in absolute value whatever n; rounding up m_j times it keeps a
move of at most m_j·R_j·R_y, a whole number.  One patient with r rows moves it r times as far, and
one who is replaced twice as far.  ∎

*Reach* (how far a set of k candidates can rise over another, when candidate j moves by at most
D_j).  Only the candidates of one set and not of the other matter: at most s = min(k, n−k) of each.
So R_k is at most Σ|moves|, and at most the sum of the 2s largest D_j; with counts that are added or
removed, which move in one direction, at most s·D.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [Arm55] Armitage. Tests for linear trends in proportions and frequencies. Biometrics 11, 1955.
        https://doi.org/10.2307/3001775
    [WW62] Welford. Note on a method for calculating corrected sums of squares and products.
        Technometrics 4, 1962. https://doi.org/10.1080/00401706.1962.10490022
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.tables.bound_contributions import ContributionBounds, rows_per_unit
from confide.tables.expression import Expression
from confide.tables.relation import Relation, centre, domain
from confide.tables.schema import Dataset, Domain

MOST_FEATURES = 1_000
_FINE = 1_024


class About(enum.Enum):
    """Where the products of features and outcome are centred."""

    MEANS = "means"
    CENTRES = "centres"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCells:
    """Numbers of patients or rows in public cells, of which the largest are chosen.

    Attributes:
        relation: Which rows.
        axes: Expressions with labelled public domains.
        bounds: What one privacy unit keeps.
        size: How many cells are chosen.
    """

    relation: Relation
    axes: tuple[Expression, ...]
    bounds: ContributionBounds
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFeatures:
    """Associations of public columns with an outcome, of which the strongest are chosen.

    Attributes:
        relation: Which rows; those in which a feature or the outcome is unknown are left out.
        features: Numbers.
        outcome: Number.
        about: Where products are centred.
        bounds: What one privacy unit keeps.
        size: How many features are chosen.
        axes: None in a release; the databases of a sensitivity search, each of which has scores.
    """

    relation: Relation
    features: tuple[Expression, ...]
    outcome: Expression
    about: About
    bounds: ContributionBounds
    size: int
    axes: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if len(self.features) > MOST_FEATURES:
            raise InvalidParameterError(
                f"Expected at most {MOST_FEATURES} features, got {len(self.features)}.",
                hint="Screen to a public panel: features named in the literature, say.",
            )
        if len(set(self.features)) != len(self.features) or self.outcome in self.features:
            raise InvalidParameterError(
                "A feature is listed twice, or is the outcome.", hint="List each once."
            )


def width(of: Domain, *, about: About) -> int:
    """Return how far a value can be from what it is centred on."""
    match about:
        case About.MEANS:
            return of.upper - of.lower
        case About.CENTRES:
            return centre(of)[1]
        case _:
            assert_never(about)


def multipliers(ranked: RankedFeatures, *, dataset: Dataset) -> tuple[int, ...]:
    """Return m_j: whole numbers that make the features' widths equal, in lowest terms."""
    widths = _widths(ranked, dataset=dataset)
    fine = [_FINE * max(widths) // w for w in widths]
    common = math.gcd(*fine)
    return tuple(m // common for m in fine)


def moves(ranked: RankedFeatures, *, dataset: Dataset) -> tuple[int, ...]:
    """Return how far one privacy unit moves each utility, in the order of the features."""
    times = {Adjacency.ADD_REMOVE: 1, Adjacency.SUBSTITUTE: 2}[dataset.adjacency]
    rows = rows_per_unit(ranked.bounds)
    outcome = width(domain(ranked.outcome, dataset=dataset), about=ranked.about)
    pairs = zip(_widths(ranked, dataset=dataset), multipliers(ranked, dataset=dataset), strict=True)
    return tuple(times * rows * m * w * outcome for w, m in pairs)


def one_patient(ranked: RankedFeatures, *, dataset: Dataset) -> int:
    """Return the largest utility that one kept row can add: the unit in which leads are told."""
    outcome = width(domain(ranked.outcome, dataset=dataset), about=ranked.about)
    pairs = zip(_widths(ranked, dataset=dataset), multipliers(ranked, dataset=dataset), strict=True)
    return max(m * w for w, m in pairs) * outcome


def scores(
    ranked: RankedFeatures, sums: Sequence[Sequence[int]], *, dataset: Dataset
) -> tuple[int, ...]:
    """Return the utilities, cell by cell, from the sums that an engine answers.

    Args:
        ranked: What is ranked.
        sums: Σ(x_j − c_j)(y − c) for each feature; about the means followed by n, Σ(y − c) and
            Σ(x_j − c_j) for each feature.
        dataset: Public facts.

    Example:
        See ``tests/unit/tables/test_ranked.py`` for both against plain arithmetic.
    """
    scale = multipliers(ranked, dataset=dataset)
    found: list[int] = []
    for cell in zip(*sums, strict=True):
        products = cell[: len(scale)]
        match ranked.about:
            case About.CENTRES:
                found += [m * abs(p) for m, p in zip(scale, products, strict=True)]
            case About.MEANS:
                n, total, *own = cell[len(scale) :]
                found += [
                    -(-m * abs(n * p - x * total) // max(1, n))
                    for m, p, x in zip(scale, products, own, strict=True)
                ]
            case _:
                assert_never(ranked.about)
    return tuple(found)


def reach_of_features(each: Sequence[int], *, size: int) -> int:
    """Return how far a set of ``size`` candidates can rise over another, from their moves.

    Example:
        >>> reach_of_features((5, 5, 5, 4), size=1), reach_of_features((5, 5, 5, 4), size=2)
        (10, 19)
    """
    swapped = min(size, len(each) - size)
    return sum(sorted(each, reverse=True)[: 2 * swapped])


def reach_of_cells(*, l1: int, linf: int, size: int, cells: int, adjacency: Adjacency) -> int:
    """Return how far a set of ``size`` cells can rise over another, from the moves of counts.

    Example:
        >>> reach_of_cells(l1=5, linf=1, size=3, cells=700, adjacency=Adjacency.ADD_REMOVE)
        3
        >>> reach_of_cells(l1=10, linf=1, size=3, cells=700, adjacency=Adjacency.SUBSTITUTE)
        6
    """
    swapped = min(size, cells - size)
    ways = {Adjacency.ADD_REMOVE: 1, Adjacency.SUBSTITUTE: 2}[adjacency]
    return min(l1, ways * swapped * linf)


def _widths(ranked: RankedFeatures, *, dataset: Dataset) -> tuple[int, ...]:
    domains = [domain(feature, dataset=dataset) for feature in ranked.features]
    return tuple(width(of, about=ranked.about) for of in domains)
