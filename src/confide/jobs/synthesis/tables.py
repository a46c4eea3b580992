"""Synthetic rows of released marginals: one table to look at, many tables to infer from.

*Perturb and refit.*  For each of M tables: draw n̂ rows from the fitted model and take what their
tables differ from what was expected as a draw of sampling error; draw the noise of the measurement
anew; add both to what was released; fit again; draw the table from that model.  Between tables, an
analysis then varies by sampling and by noise, as the released numbers did around the truth.  It
costs nothing, since it uses released numbers and public scales only.

*Privacy:* post-processing; coins are those of a simulation after the gate, so whoever has the
released file draws the same tables.

*Utility:* of columns that were measured together, intervals of :mod:`.combine` cover; of others the
model says "independent given what lies between", and no interval knows by how much that is wrong.

References:
    [RJKH23] Räisä, Jälkö, Kaski, Honkela. Noise-aware statistical inference with differentially
        private synthetic data. AISTATS 2023. https://arxiv.org/abs/2205.14485
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.counts import added_up, exact_table, shares_of
from confide.jobs.synthesis.learnable import MOST_MODEL_CELLS
from confide.jobs.synthesis.measured import MeasuredMarginals, NoisyTable
from confide.jobs.synthesis.model.draw import Draws, rows_drawn
from confide.jobs.synthesis.model.fit import FittedModel, Impossible, Marginal, fitted_model
from confide.jobs.synthesis.model.junction_tree import JunctionTree, junction_tree
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.plans.simulation import Simulation

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251

ROWS_A_ROW = 5
"""Rows of a table to infer from, per row of the data: more tell what the model says more sharply.

With as many rows as the data, intervals are too wide.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """A model of what was released, and what it was made of.

    Attributes:
        measured: What was released.
        model: In merged levels.
        digest: SHA-256 of the released answer, from which coins follow.
        impossible: Cells of chance 0.
    """

    measured: MeasuredMarginals
    model: FittedModel
    digest: str
    impossible: tuple[Impossible, ...] = ()

    @property
    def rows(self) -> int:
        """n̂ in whole rows: how many the data have, as the released counts say it."""
        return max(1, round(self.measured.total))

    def table(self, *, rows: int | None = None) -> Ints:
        """Return one table that follows the model as closely as it can.

        Args:
            rows: How many; as many as the data seem to have when None.

        Returns:
            Levels of rows; shape (rows, columns).
        """
        many = self.rows if rows is None else rows
        coins = Simulation(payload_digest=self.digest).generator(f"table/{many}")
        found = rows_drawn(self.model, rows=many, how=Draws.SPREAD_OUT, generator=coins)
        shares = _level_shares(self.measured.one_ways, self.measured.merging)
        return _unmerged(found, self.measured.merging, shares=shares, generator=coins)

    def refitted(self, number: int, *, times: int = ROWS_A_ROW) -> Ints:
        """Return one of the tables that carry the uncertainty; shape (times·n̂, columns).

        Args:
            number: Which, from 1; others are independent of it.
            times: Rows per row of the data.
        """
        coins = Simulation(payload_digest=self.digest).generator(f"refit/{number}")
        known, merging = self.measured, self.measured.merging
        again = _perturbed(self, generator=coins)
        model = fitted_model(
            self.model.tree,
            marginals=_marginals(again, known=known, merging=merging),
            total=known.total,
            impossible=self.impossible,
            start=self.model.potentials,
        )
        found = rows_drawn(model, rows=times * self.rows, how=Draws.INDEPENDENT, generator=coins)
        shares = _level_shares(again.one_ways, merging)
        return _unmerged(found, merging, shares=shares, generator=coins)


def synthetic(
    measured: MeasuredMarginals, *, digest: str, impossible: Sequence[Impossible] = ()
) -> Synthetic:
    """Return the model of what was released.

    Args:
        measured: What was released.
        digest: SHA-256 of the released answer.
        impossible: Cells that the rules of its settings forbid.
    """
    model = fitted_model(
        _tree(measured),
        marginals=measured.marginals(),
        total=measured.total,
        impossible=impossible,
    )
    return Synthetic(measured=measured, model=model, digest=digest, impossible=tuple(impossible))


def _tree(measured: MeasuredMarginals) -> JunctionTree:
    return junction_tree(measured.sizes, joined=measured.cliques, most_cells=2 * MOST_MODEL_CELLS)


def _perturbed(of: Synthetic, *, generator: "Generator") -> MeasuredMarginals:
    """Return what was released with a draw of sampling error and a draw of noise added."""
    known, merging, model = of.measured, of.measured.merging, of.model
    shares = _level_shares(known.one_ways, merging)
    sample = rows_drawn(model, rows=of.rows, how=Draws.INDEPENDENT, generator=generator)
    levels = _unmerged(sample, merging, shares=shares, generator=generator)
    full = [each.size for each in known.one_ways]
    alone = []
    for v, counts in enumerate(known.one_ways):
        expected = of.rows * model.marginal((v,))[merging[v]] * shares[v]
        sampled = exact_table(levels, (v,), sizes=full) - expected
        alone.append(
            counts
            + sampled
            + fresh_noise(counts, noise=known.noise_of_one_ways, generator=generator)
        )
    return replace(
        known,
        one_ways=tuple(alone),
        with_target=_moved(of, sample, known.with_target, known.noise_with_target, generator)
        if known.with_target
        else (),
        tables=_moved(of, sample, known.tables, known.noise_of_tables, generator),
    )


def _moved(
    of: Synthetic,
    sample: Ints,
    tables: Sequence[NoisyTable],
    noise: AddedNoise,
    generator: "Generator",
) -> tuple[NoisyTable, ...]:
    found = []
    for each in tables:
        expected = of.rows * of.model.marginal(each.variables)
        sampled = exact_table(sample, each.variables, sizes=of.model.tree.sizes) - expected
        counts = each.counts + sampled + fresh_noise(each.counts, noise=noise, generator=generator)
        found.append(replace(each, counts=counts))
    return tuple(found)


def fresh_noise(counts: Floats, *, noise: AddedNoise, generator: "Generator") -> Floats:
    """Return fresh noise of the law of what was added."""
    match noise:
        case DiscreteGaussian(sigma_squared=squared):
            return np.rint(generator.normal(scale=float(squared) ** 0.5, size=counts.shape))
        case DiscreteLaplace(scale=scale):
            chance = -math.expm1(-float(1 / scale))
            ends = [generator.geometric(chance, size=counts.shape) for _ in range(2)]
            return np.asarray(ends[0] - ends[1], dtype=np.float64)
        case _:
            assert_never(noise)


def _marginals(
    again: MeasuredMarginals, *, known: MeasuredMarginals, merging: Sequence[Ints]
) -> tuple[Marginal, ...]:
    """Return perturbed marginals in the levels that were merged at first."""
    counts = [
        *(added_up(each, names) for each, names in zip(again.one_ways, merging, strict=True)),
        *(each.counts for each in (*again.with_target, *again.tables)),
    ]
    pairs = zip(known.marginals(), counts, strict=True)  # in one order
    return tuple(replace(each, counts=new) for each, new in pairs)


def _level_shares(one_ways: Sequence[Floats], merging: Sequence[Ints]) -> list[Floats]:
    """Return of each level its share of the merged level that it belongs to."""
    found = []
    for counts, names in zip(one_ways, merging, strict=True):
        shares = np.ones(counts.size)
        for name in np.flatnonzero(np.bincount(names) > 1):
            shares[names == name] = shares_of(counts[names == name])
        found.append(shares)
    return found


def _unmerged(
    merged: Ints, merging: Sequence[Ints], *, shares: Sequence[Floats], generator: "Generator"
) -> Ints:
    """Return rows in the levels of the columns: of a merged level by their shares."""
    found = np.empty_like(merged)
    for v, names in enumerate(merging):
        order = np.argsort(names, kind="stable")
        first = np.searchsorted(names[order], np.arange(int(names.max()) + 1))
        found[:, v] = order[first[merged[:, v]]]
        for name in np.flatnonzero(np.bincount(names) > 1):
            levels = np.flatnonzero(names == name)
            rows = np.flatnonzero(merged[:, v] == name)
            found[rows, v] = generator.choice(levels, size=rows.size, p=shares[v][levels])
    return found
