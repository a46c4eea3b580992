"""Fit of a junction-tree model to noisy marginals, by least squares weighed by their noise.

L = ½ Σ_c Σ ((n·μ_c − y_c)/σ_c)² is convex in the marginals μ [MSM19].  A few damped steps of
proportional fitting come near, then mirror descent in the potentials with acceleration [AT06] goes
to the least; its step is found by halving, and it begins anew wherever L rises [OC15].

*Privacy:* a function of released numbers.

*Utility:* of all models that fit as well it is the one of greatest entropy; what no marginal holds
together is independent given what does.

References:
    [MSM19] McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for
        differential privacy. ICML 2019. https://arxiv.org/abs/1901.09136
    [AT06] Auslender, Teboulle. Interior gradient and proximal methods for convex and conic
        optimization. SIAM J. Optimization 16(3), 2006. https://doi.org/10.1137/S1052623403427823
    [OC15] O'Donoghue, Candès. Adaptive restart for accelerated gradient schemes. Foundations of
        Computational Mathematics 15, 2015. https://doi.org/10.1007/s10208-013-9150-3
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError
from confide.jobs.synthesis.model.belief import (
    IMPOSSIBLE,
    Potentials,
    beliefs,
    clique_axes,
    potentials_of,
    summed,
)
from confide.jobs.synthesis.model.junction_tree import Clique, JunctionTree

PROPORTIONAL, ACCELERATED = 15, 50
"""Steps; more change nothing that was measured."""
_BOLDEST = 3.0
_TRIES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginal:
    """Noisy counts of some variables together.

    Attributes:
        variables: Ascending.
        counts: Of each cell; an axis a variable.  In rows; may be negative.
        variance: Of the noise of each cell, in rows²; of that shape, or one number for all.
    """

    variables: Clique
    counts: Floats
    variance: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Cells that cannot be, by public knowledge: a man is not pregnant.

    Attributes:
        variables: Ascending.
        cells: True where a cell cannot be; an axis a variable.
    """

    variables: Clique
    cells: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModel:
    """A model.

    Attributes:
        tree: Its cliques.
        potentials: θ of each.
        marginals: Chance of each cell of each clique.
        loss: L.
    """

    tree: JunctionTree
    potentials: tuple[Floats, ...]
    marginals: tuple[Floats, ...]
    loss: float

    def marginal(self, variables: Clique) -> Floats:
        """Return the chances of some variables together, ascending; all in one clique.

        Raises:
            ContractError: If no clique holds them.
        """
        place = self.tree.holding(variables)
        if place is None:
            raise ContractError("No clique of the model holds these variables together.")
        return summed(self.marginals[place], of=variables, within=self.tree.cliques[place])


def fitted_model(
    tree: JunctionTree,
    *,
    marginals: Sequence[Marginal],
    total: float,
    impossible: Sequence[Impossible] = (),
    start: Potentials | None = None,
    steps: int = ACCELERATED,
) -> FittedModel:
    """Return the model of least L.

    Args:
        tree: Holds the variables of each marginal in some clique.
        marginals: Noisy counts.
        total: n, of rows; more than 0.
        impossible: Cells of chance 0.
        start: Potentials of a fit to marginals that are nearly these; then no proportional step.
        steps: Accelerated ones.

    Raises:
        ContractError: If a marginal or impossible cells lie in no clique, or forbid everything.
    """
    least = _LeastSquares(tree, marginals=marginals, total=total)
    zeros = zeros_of(tree, impossible=impossible)
    if start is None:
        potentials = least.proportional(zeros, steps=PROPORTIONAL)
    else:
        potentials = [np.maximum(each, IMPOSSIBLE) for each in start]
    return least.accelerated(potentials, zeros=zeros, steps=steps)


class _LeastSquares:
    """L, its gradient and the two ways down."""

    def __init__(self, tree: JunctionTree, *, marginals: Sequence[Marginal], total: float) -> None:
        self._tree, self._total = tree, total
        self._kept: list[tuple[int, tuple[int, ...], tuple[int, ...], Floats, Floats]] = []
        for each in marginals:
            place = tree.holding(each.variables)
            if place is None:
                raise ContractError("No clique of the model holds a marginal that was measured.")
            clique = tree.cliques[place]
            keep = clique_axes(each.variables, within=clique)
            over = tuple(axis for axis in range(len(clique)) if axis not in keep)
            shape = tuple(tree.sizes[v] if v in each.variables else 1 for v in clique)
            variance = np.broadcast_to(each.variance, each.counts.shape).reshape(shape)
            self._kept.append((place, over, shape, each.counts.reshape(shape), variance))

    def _offs(self, marginals: Sequence[Floats]) -> list[Floats]:
        """Return n·μ_c − y_c of each marginal."""
        return [
            self._total * marginals[place].sum(axis=over, keepdims=True) - counts
            for place, over, _, counts, _ in self._kept
        ]

    def _loss(self, offs: Sequence[Floats]) -> float:
        pairs = zip(offs, self._kept, strict=True)
        return 0.5 * math.fsum(float((off * off / kept[4]).sum()) for off, kept in pairs)

    def proportional(self, zeros: Potentials, *, steps: int) -> list[Floats]:
        """Return potentials after damped steps of proportional fitting, from the uniform model."""
        best = [each.copy() for each in zeros]
        offs = self._offs(beliefs(self._tree, best).marginals)
        loss, size = self._loss(offs), 0.5
        for _ in range(steps):
            tried = [each.copy() for each in best]
            for off, (place, _, _, counts, variance) in zip(offs, self._kept, strict=True):
                expected = off + counts
                move = np.clip(-off / (expected + np.sqrt(variance)), -_BOLDEST, _BOLDEST)
                tried[place] = tried[place] + size * move
            found = self._offs(beliefs(self._tree, tried).marginals)
            if (after := self._loss(found)) <= loss:
                best, offs, loss, size = tried, found, after, min(1.0, 1.5 * size)
            else:
                size /= 2
        return best

    def _gradient(self, offs: Sequence[Floats]) -> list[Floats]:
        """Return the slope of L in the marginals of each clique."""
        found = [np.zeros(self._tree.shape(clique)) for clique in self._tree.cliques]
        for off, (place, _, _, _, variance) in zip(offs, self._kept, strict=True):
            found[place] += self._total * off / variance
        return found

    def accelerated(self, start: Potentials, *, zeros: Potentials, steps: int) -> FittedModel:
        """Return the model after accelerated mirror steps, from ``start``."""
        tree = self._tree
        dual = [np.asarray(each) for each in start]
        said = beliefs(tree, dual)
        primal: tuple[Floats, ...] = said.marginals
        loss = self._loss(self._offs(primal))
        steep, summed_steps = self._steepness(primal), 0.0
        for _ in range(steps):
            for _ in range(_TRIES):
                step = (1 + math.sqrt(1 + 4 * steep * summed_steps)) / (2 * steep)
                part = step / (summed_steps + step)
                middle = _mixed(primal, said.marginals, part=part)
                slope = self._gradient(self._offs(middle))
                moved = _with([d - step * s for d, s in zip(dual, slope, strict=True)], zeros)
                after = beliefs(tree, moved)
                far = self._curved(said.marginals, after.marginals)
                apart = said.log_total - after.log_total - step * _inner(slope, after.marginals)
                if far <= steep * max(apart, 0.0) + 1e-12:
                    break
                steep *= 2
            tried = _mixed(primal, after.marginals, part=part)
            found = self._loss(self._offs(tried))
            if found > loss:  # begin anew from where the least was
                if summed_steps == 0.0:
                    break
                dual = _with(potentials_of(tree, primal), zeros)
                said, summed_steps = beliefs(tree, dual), 0.0
                continue
            flat = loss - found <= 1e-12 * (1 + loss)
            dual, said, primal, loss = moved, after, tried, found
            summed_steps, steep = summed_steps + step, 0.9 * steep
            if flat:
                break
        potentials = tuple(_with(potentials_of(tree, primal), zeros))
        return FittedModel(tree=tree, potentials=potentials, marginals=primal, loss=loss)

    def _steepness(self, marginals: Sequence[Floats]) -> float:
        """Return a first guess of how steep L is against the divergence; it is doubled if short."""
        kept = self._kept
        most = (
            float((marginals[i].sum(axis=over, keepdims=True) / v).max())
            for i, over, _, _, v in kept
        )
        return max(self._total**2 * max(most), 1e-6)

    def _curved(self, one: Sequence[Floats], other: Sequence[Floats]) -> float:
        """Return ½ of the squared length of a move, as L weighs it."""
        total = 0.0
        for place, over, _, _, variance in self._kept:
            move = (other[place] - one[place]).sum(axis=over, keepdims=True)
            total += float((move * move / variance).sum())
        return 0.5 * self._total**2 * total


def _mixed(one: Sequence[Floats], other: Sequence[Floats], *, part: float) -> tuple[Floats, ...]:
    return tuple((1 - part) * a + part * b for a, b in zip(one, other, strict=True))


def _with(potentials: Sequence[Floats], zeros: Potentials) -> list[Floats]:
    """Return potentials of which cells that cannot be stay far below all others."""
    return [
        np.where(z < 0, p.min() + IMPOSSIBLE, p) for p, z in zip(potentials, zeros, strict=True)
    ]


def _inner(one: Sequence[Floats], other: Sequence[Floats]) -> float:
    return math.fsum(float((a * b).sum()) for a, b in zip(one, other, strict=True))


def zeros_of(tree: JunctionTree, *, impossible: Sequence[Impossible]) -> list[Floats]:
    """Return potentials of 0, and of cells that cannot be far below."""
    found = [np.zeros(tree.shape(clique)) for clique in tree.cliques]
    for each in impossible:
        place = tree.holding(each.variables)
        if place is None:
            raise ContractError("No clique of the model holds cells that cannot be.")
        clique = tree.cliques[place]
        shape = tuple(tree.sizes[v] if v in each.variables else 1 for v in clique)
        found[place] = np.where(each.cells.reshape(shape), IMPOSSIBLE, found[place])
        if (found[place] < 0).all():
            raise ContractError("No cell is left that can be.", hint="Forbid fewer cells.")
    return found
