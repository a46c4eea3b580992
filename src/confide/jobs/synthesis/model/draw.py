"""Rows drawn from a fitted model: the first clique, then each other one given its separator.

``spread_out`` rows follow the model as closely as whole numbers can: inside each group of equal
separators, values are taken at equally spaced places of their distribution, from a random start
(systematic sampling), so each count is within 1 of what is expected of its group.  ``independent``
rows are a plain sample; what is told of sampling error needs those.

*Privacy:* a function of released numbers and of coins that nobody has to keep secret.
"""

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.model.belief import clique_axes
from confide.jobs.synthesis.model.fit import FittedModel
from confide.jobs.synthesis.model.junction_tree import Clique

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251


class Draws(enum.Enum):
    """How rows follow a model."""

    SPREAD_OUT = "spread out"
    INDEPENDENT = "independent"


def rows_drawn(model: FittedModel, *, rows: int, how: Draws, generator: "Generator") -> Ints:
    """Return levels of rows; shape (rows, variables).

    Args:
        model: What is drawn from.
        rows: How many.
        how: They follow it.
        generator: Of coins; a simulation after the gate.
    """
    tree = model.tree
    found = np.zeros((len(tree.sizes), rows), dtype=np.int64)
    for place, clique in enumerate(tree.cliques):
        known = tree.separators[place]
        fresh = tuple(v for v in clique if v not in known)
        axes = (*clique_axes(known, within=clique), *clique_axes(fresh, within=clique))
        table = np.transpose(model.marginals[place], axes)
        shape = [tree.sizes[v] for v in known]
        chances = table.reshape(int(np.prod(shape, dtype=np.int64)), -1)
        groups = _codes([found[v] for v in known], sizes=shape, rows=rows)
        places = _values(chances, groups=groups, how=how, generator=generator)
        _fill(found, fresh, places, sizes=tree.sizes)
    return np.ascontiguousarray(found.T)


def _codes(columns: Sequence[Ints], *, sizes: Sequence[int], rows: int) -> Ints:
    code = np.zeros(rows, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        code = code * size + column
    return code


def _fill(found: Ints, variables: Clique, places: Ints, *, sizes: Sequence[int]) -> None:
    """Write the levels that a place in a table of some variables stands for."""
    for v in reversed(variables):
        places, found[v] = np.divmod(places, sizes[v])


def _values(chances: Floats, *, groups: Ints, how: Draws, generator: "Generator") -> Ints:
    """Return a value of each row, by the distribution of its group; shape (rows,)."""
    totals = chances.sum(axis=1, keepdims=True)
    width = chances.shape[1]
    even = np.full_like(chances, 1 / width)
    shares = np.divide(chances, totals, out=even, where=totals > 0)
    steps = np.cumsum(shares, axis=1)
    steps = np.where(steps >= steps[:, -1:], 1.0, steps)  # none after the last that can be
    ladder: Floats = np.add(steps, np.arange(float(len(chances)))[:, None]).ravel()
    if how is Draws.INDEPENDENT:
        points = generator.random(groups.size)
        return _climbed(ladder, groups=groups, points=points, width=width)
    order = generator.permutation(groups.size)
    order = order[np.argsort(groups[order].astype(_narrow(len(chances))), kind="stable")]
    many = np.bincount(groups, minlength=len(chances))
    sorted_groups = groups[order]
    rank = np.arange(groups.size) - (np.cumsum(many) - many)[sorted_groups]
    start = generator.random(len(chances))[sorted_groups]
    points = (rank + start) / many[sorted_groups]
    found = np.empty(groups.size, dtype=np.int64)
    found[order] = _climbed(ladder, groups=sorted_groups, points=points, width=width)
    return found


def _climbed(ladder: Floats, *, groups: Ints, points: Floats, width: int) -> Ints:
    """Return the first step above each point, inside its group."""
    places = np.searchsorted(ladder, groups + points, side="right") - groups * width
    return np.asarray(np.clip(places, 0, width - 1), dtype=np.int64)


def _narrow(groups: int) -> type[np.integer]:
    """Return a kind of integer that holds groups; 16 bits are sorted by their digits."""
    return np.uint16 if groups <= 2**16 else np.int64
