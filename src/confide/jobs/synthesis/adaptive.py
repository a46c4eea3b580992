"""AIM: pairs are chosen one after another, each where the model so far is farthest off [MMSM22].

::

    a round   model of what was measured; rows of it
              score of a pair ‖M − M̂‖₁ − E|noise|·cells, by the exponential mechanism
              table of the chosen pair, with noise; measured once

How many rounds there are is public.  A pair whose table would make the model too wide for the round
is no candidate; where none is left, rounds stay away and their charge stays.

*Lemma.*  M̂ follows from what was released before the round and is whole, so a patient who comes or
goes moves each score by at most m, up or down, as in :mod:`.scores`.  All rounds lose together what
the events of the plan state: each choice its part, k tables with k times the variance of one what
one does.  ∎

*Privacy:* rows of the model are drawn with coins that are keyed by what was released.

*Utility:* beside a tree, pairs that the tree explains badly are measured as well, with more noise
in each.  Unlike [MMSM22] rounds are of one size, so that the plan can state them.

References:
    [MMSM22] McKenna, Mullins, Sheldon, Miklau. AIM: an adaptive and iterative mechanism for
        differentially private synthetic data. PVLDB 15(11), 2022.
        https://doi.org/10.14778/3551793.3551817
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError
from confide.jobs.synthesis.counts import exact_table
from confide.jobs.synthesis.measured import MeasuredMarginals, NoisyTable, measured_json
from confide.jobs.synthesis.model.draw import Draws, rows_drawn
from confide.jobs.synthesis.model.fit import Impossible, fitted_model
from confide.jobs.synthesis.model.junction_tree import JunctionTree, clique_cells, junction_tree
from confide.jobs.synthesis.scores import Pair
from confide.noise.entropy import Entropy
from confide.noise.mechanism import AddedNoise
from confide.noise.set_selection import SetSelection
from confide.plans.simulation import Simulation

MOST_CELLS_IN_TURN = 200_000
"""Cells of the model after the last round; after an earlier one, its part of them."""
_STEPS = 15

Measure = Callable[[Sequence[tuple[int, ...]]], tuple[NoisyTable, ...]]


def usual_rounds(columns: int) -> int:
    """Return the rounds of AIM: half as many again as a tree has pairs, no more than all."""
    return min(columns * (columns - 1) // 2, columns - 1 + columns // 2)


def measured_in_rounds(
    codes: Ints,
    known: MeasuredMarginals,
    *,
    impossible: Sequence[Impossible],
    choice: SetSelection | None,
    noise: AddedNoise,
    measure: Measure,
    entropy: Entropy,
) -> MeasuredMarginals:
    """Return what was released with the tables that are required, and those of all rounds.

    Args:
        codes: Merged levels of rows.
        known: What was released before.
        impossible: Cells that rules forbid.
        choice: Mechanism of a round; None where there is at most one candidate.
        noise: Of a cell of a table.
        measure: Counts tables, with that noise.
        entropy: Of the choices.
    """
    known = replace(known, tables=measure(known.spec.required))
    for turn in range(known.spec.rounds):
        room = MOST_CELLS_IN_TURN * (turn + 1) // known.spec.rounds
        trees = _candidates(known, room=max(room, _tree(known, ()).cells))
        if not trees:
            break
        scores = _scores(codes, known, pairs=list(trees), impossible=impossible, noise=noise)
        place = 0
        if choice is not None and len(scores) > 1:
            among = replace(choice, candidates=len(scores))
            (place,) = among.select(list(scores.values()), entropy=entropy)
        pair = list(scores)[place]
        known = replace(
            known, chosen=(*known.chosen, pair), tables=(*known.tables, *measure([pair]))
        )
    return known


def _tree(known: MeasuredMarginals, more: Sequence[Pair]) -> JunctionTree:
    joined = (*(each.variables for each in known.tables), *more)
    return junction_tree(known.sizes, joined=joined, most_cells=10**9)


def _candidates(known: MeasuredMarginals, *, room: int) -> Mapping[Pair, JunctionTree]:
    """Return the pairs that were not measured and with which the model is not too wide."""
    measured = {each.variables for each in known.tables}
    found = {}
    many = len(known.sizes)
    for pair in ((i, j) for i in range(many) for j in range(i + 1, many)):
        if any(set(pair) <= set(each) for each in measured):
            continue
        try:
            joined = (*measured, pair)
            found[pair] = junction_tree(known.sizes, joined=joined, most_cells=room)
        except ContractError:
            continue
    return found


def _scores(
    codes: Ints,
    known: MeasuredMarginals,
    *,
    pairs: Sequence[Pair],
    impossible: Sequence[Impossible],
    noise: AddedNoise,
) -> dict[Pair, int]:
    """Return how far the model is from each pair, in rows, less what noise would add."""
    digest = hashlib.sha256(measured_json(known)).hexdigest()
    model = fitted_model(
        _tree(known, ()),
        marginals=known.marginals(),
        total=known.total,
        impossible=impossible,
        steps=_STEPS,
    )
    rows = rows_drawn(
        model,
        rows=max(1, round(known.total)),
        how=Draws.SPREAD_OUT,
        generator=Simulation(payload_digest=digest).generator("adaptive"),
    )
    found = {}
    for pair in pairs:
        exact, expected = (exact_table(each, pair, sizes=known.sizes) for each in (codes, rows))
        cells = clique_cells(pair, sizes=known.sizes)
        penalty = math.floor(noise.mean_absolute() * cells)
        found[pair] = int(np.abs(exact - expected).sum()) - penalty
    return found
