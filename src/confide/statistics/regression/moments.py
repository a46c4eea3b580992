"""The matrix of second moments of a regression, from noisy sums over pairs of its terms.

Terms are the intercept, numbers u = (x − c)/h in [−1, 1] about their public centre, indicators of
the categories but the first, and the outcome, last.  The matrix G = Σ z·zᵀ of a row's terms z has
the parts XᵀX, Xᵀy and yᵀy.

What is measured are sums over *pairs* of variables: of products for two numbers, of a number by a
category, of rows by two categories.  A sum over fewer categories is a sum of cells, and where
several tables give the same entry it is their mean, weighted by the inverse of their noise.  So G
is linear in the noisy numbers, G = Σ_c v_c·W_c, and its error is Σ_c z_c·W_c with known variances.

References:
    [Wan18] Wang. Revisiting differentially private linear regression: optimal and adaptive
        prediction & estimation in unbounded domain. UAI 2018. https://arxiv.org/abs/1803.02596
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The variables of a regression, by place.

    Attributes:
        numbers: How many numbers, the outcome included; it is the last.
        levels: Number of categories of each category variable.
    """

    numbers: int
    levels: tuple[int, ...]

    @property
    def terms(self) -> int:
        """Number of terms: intercept, numbers, indicators, outcome."""
        return 1 + self.numbers + sum(level - 1 for level in self.levels)

    def number(self, place: int) -> int:
        """Return the term of a number; the outcome's is the last."""
        return self.terms - 1 if place == self.numbers - 1 else 1 + place

    def indicator(self, category: int, level: int) -> int:
        """Return the term of a category's level; levels count from 0, which has no term."""
        return self.numbers + sum(n - 1 for n in self.levels[:category]) + level - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentTable:
    """One measured vector: the sum of a product of numbers, by none, one or two categories.

    Attributes:
        numbers: Places of the numbers multiplied: none (rows are counted), one or two.
        categories: Places of the categories, in the order of the vector.
    """

    numbers: tuple[int, ...]
    categories: tuple[int, ...]


def tables(variables: Variables) -> tuple[MomentTable, ...]:
    """Return what is measured, each pair of variables once; see the module."""
    numbers, categories = range(variables.numbers), range(len(variables.levels))
    alone: list[tuple[int, ...]] = [(c,) for c in categories] or [()]
    pairs: list[tuple[int, ...]] = list(itertools.combinations(categories, 2)) or alone
    return (
        *(MomentTable(numbers=(), categories=by) for by in pairs),
        *(MomentTable(numbers=(a,), categories=by) for a in numbers for by in alone),
        *(
            MomentTable(numbers=pair, categories=())
            for pair in itertools.combinations_with_replacement(numbers, 2)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Noisy second moments with the law of their error.

    Attributes:
        matrix: G, shape (terms, terms).
        weights: W, shape (numbers measured, terms, terms).
        variances: Of the noise of each number measured, in the units of ``matrix``.
    """

    matrix: Floats
    weights: Floats
    variances: Floats


def second_moments(
    values: Mapping[MomentTable, Floats],
    variances: Mapping[MomentTable, float],
    *,
    variables: Variables,
) -> Moments:
    """Return the matrix of second moments.

    Args:
        values: Noisy vector of each table, numbers divided by their h.
        variances: Of the noise of one entry of it, in the same units.
        variables: Of the regression.
    """
    order = tables(variables)
    starts = dict(zip(order, np.cumsum([0, *(len(values[t]) for t in order[:-1])]), strict=True))
    size = sum(len(values[t]) for t in order)
    weights = np.zeros((size, variables.terms, variables.terms))
    for (row, column), sources in _sources(order, variables=variables).items():
        precision = [1 / (len(cells) * max(variances[t], 1e-300)) for t, cells in sources]
        for (table, cells), p in zip(sources, precision, strict=True):
            places = starts[table] + np.array(cells)
            weights[places, row, column] = weights[places, column, row] = p / sum(precision)
    flat = np.concatenate([values[t] for t in order])
    return Moments(
        matrix=np.einsum("c,cij->ij", flat, weights),
        weights=weights,
        variances=np.concatenate([np.full(len(values[t]), variances[t]) for t in order]),
    )


Sources = list[tuple[MomentTable, list[int]]]


def _sources(order: Sequence[MomentTable], *, variables: Variables) -> dict[Pair, Sources]:
    """Return, for each entry of the upper triangle, the tables and cells that add up to it."""
    found: dict[Pair, Sources] = {}
    for table in order:
        for pair, chosen in _entries(table, variables=variables):
            cells = [
                place
                for place, levels in enumerate(_cells(table, variables=variables))
                if all(levels[axis] == level for axis, level in chosen.items())
            ]
            found.setdefault(pair, []).append((table, cells))
    return found


def _cells(table: MomentTable, *, variables: Variables) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(variables.levels[c]) for c in table.categories))


def _entries(table: MomentTable, *, variables: Variables) -> Iterator[tuple[Pair, dict[int, int]]]:
    """Yield the entries of G that a table tells, with the level that each axis is held at."""
    first = variables.number(table.numbers[0]) if table.numbers else 0
    second = variables.number(table.numbers[1]) if len(table.numbers) == 2 else 0
    axes = range(len(table.categories))
    for size in (0, 1, 2):
        for held in itertools.combinations(axes, size):
            ranges = (range(1, variables.levels[table.categories[axis]]) for axis in held)
            for levels in itertools.product(*ranges):
                chosen = dict(zip(held, levels, strict=True))
                terms = [
                    variables.indicator(table.categories[axis], level)
                    for axis, level in chosen.items()
                ]
                for pair in _places(first, second, terms):
                    yield pair, chosen


def _places(first: int, second: int, terms: list[int]) -> list[Pair]:
    """Return the entries that a sum is: of an indicator, both with the intercept and squared."""
    match terms:
        case []:
            return [(min(first, second), max(first, second))]
        case [term] if first == 0:
            return [(0, term), (term, term)]
        case [term]:
            return [(min(first, term), max(first, term))]
        case _:
            return [(min(terms), max(terms))]
