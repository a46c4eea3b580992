"""Marginals of a log-linear model on a junction tree, by messages in the log domain.

The model is p(x) ∝ exp(Σ_C θ_C(x_C)).  Messages go from the leaves to the first clique and back
[KF09, sec. 10.2]; each is a logarithm of a sum of exponentials with its greatest term taken out, so
potentials of ±10⁴, as of cells that cannot be, neither underflow nor overflow.  A linear recursion
would, at the same cost.

References:
    [KF09] Koller, Friedman. Probabilistic graphical models. MIT Press, 2009.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats
from confide.jobs.synthesis.model.junction_tree import Clique, JunctionTree

Potentials: TypeAlias = Sequence[Floats]
"""θ of each clique, an axis a variable, in the order of the tree."""
IMPOSSIBLE = -1e4
"""θ of a cell that cannot be.  Minus infinity would be no number once it is subtracted."""
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Beliefs:
    """What a model says.

    Attributes:
        marginals: Chance of each cell of each clique; each adds up to 1, and they agree.
        log_total: Logarithm of the normaliser.
    """

    marginals: tuple[Floats, ...]
    log_total: float


def beliefs(tree: JunctionTree, potentials: Potentials) -> Beliefs:
    """Return the marginals of all cliques.

    Example:
        >>> from confide.jobs.synthesis.model.junction_tree import junction_tree
        >>> chain = junction_tree((2, 2), joined=((0, 1),), most_cells=10)
        >>> beliefs(chain, [np.zeros((2, 2))]).marginals[0].tolist()
        [[0.25, 0.25], [0.25, 0.25]]
    """
    inward = [np.asarray(each, dtype=np.float64) for each in potentials]
    told: list[Floats] = [np.zeros(())] * len(inward)
    for i in range(len(inward) - 1, 0, -1):
        parent, between = tree.parents[i], tree.separators[i]
        told[i] = _log_sum(inward[i], keep=clique_axes(between, within=tree.cliques[i]))
        held = tree.cliques[parent]
        inward[parent] = inward[parent] + spread(told[i], of=between, within=held)
    log_total = float(_log_sum(inward[0], keep=()))
    logs: list[Floats] = [inward[0] - log_total]
    for i in range(1, len(inward)):
        parent, between = tree.parents[i], tree.separators[i]
        above = _log_sum(logs[parent], keep=clique_axes(between, within=tree.cliques[parent]))
        logs.append(inward[i] + spread(above - told[i], of=between, within=tree.cliques[i]))
    return Beliefs(marginals=tuple(np.exp(each) for each in logs), log_total=log_total)


def potentials_of(tree: JunctionTree, marginals: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return potentials of the model with these marginals: log clique − log separator."""
    found = []
    for i, clique in enumerate(tree.cliques):
        between = tree.separators[i]
        logs = _log(marginals[i])
        if i:
            held = summed(marginals[i], of=between, within=clique)
            logs = np.maximum(logs - spread(_log(held), of=between, within=clique), IMPOSSIBLE)
        found.append(np.where(marginals[i] > _LEAST, logs, IMPOSSIBLE))
    return tuple(found)


def summed(table: Floats, *, of: Clique, within: Clique) -> Floats:
    """Return the marginal of some variables of a clique's table, ascending."""
    keep = clique_axes(of, within=within)
    return np.asarray(table.sum(axis=tuple(a for a in range(len(within)) if a not in keep)))


def spread(table: Floats, *, of: Clique, within: Clique) -> Floats:
    """Return a table of some variables of a clique with axes of length 1 for the others."""
    sizes = iter(table.shape)
    return table.reshape(tuple(next(sizes) if v in of else 1 for v in within))


def clique_axes(variables: Clique, *, within: Clique) -> tuple[int, ...]:
    """Return the axes of variables in a clique's table."""
    return tuple(axis for axis, v in enumerate(within) if v in variables)


def _log(table: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(table, _LEAST)))


def _log_sum(table: Floats, *, keep: tuple[int, ...]) -> Floats:
    """Return the logarithm of sums of exponentials over all axes but ``keep``."""
    over = tuple(axis for axis in range(table.ndim) if axis not in keep)
    if not over:
        return table
    top = table.max(axis=over, keepdims=True)
    total = np.log(np.exp(table - top).sum(axis=over))
    return np.asarray(total + top.reshape(total.shape))
