"""How far tables of pairs are from what is known of them, in whole rows; and trees of the farthest.

    MST            ‖M_ij − n̂·p̂_i·p̂_j‖₁                                   [MMS21]
    target-aware   ‖M_ijt − p̂_it·p̂_jt·n̂/p̂_t‖₁ − E|noise|·cells,  and "no further pair" for 0

*Lemma.*  What is expected follows from released numbers and is rounded to whole rows before it is
compared, so a score is a whole number.  A patient who comes or goes changes at most m cells of M by
one each, and hence the score of each pair by at most m, up or down: the lead of one pair over
another by at most 2m.  ∎

A tree is chosen edge by edge: each round is one exponential mechanism among the pairs that would
close no ring.  How many rounds there may be is public, and all are charged.

*Utility:* the penalty of the target-aware score is what noise alone would add to the error of a
table of so many cells, so a pair whose dependence the noise would drown is not measured.

References:
    [MMS21] McKenna, Miklau, Sheldon. Winning the NIST contest: a scalable and general approach to
        differentially private synthetic data. Journal of Privacy and Confidentiality 11(3), 2021.
        https://doi.org/10.29012/jpc.778
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.counts import exact_table, shares_of
from confide.jobs.synthesis.model.junction_tree import Clique, clique_cells
from confide.noise.entropy import Entropy
from confide.noise.set_selection import SetSelection

Pair: TypeAlias = tuple[int, int]
_GRID = 10**9


class Components:
    """Variables that are joined already; a pair of one component would close a ring."""

    def __init__(self, variables: Iterable[int], *, joined: Iterable[Clique] = ()) -> None:
        self._of = {v: v for v in variables}
        for clique in joined:
            for one, other in itertools.pairwise([v for v in clique if v in self._of]):
                self.join((one, other))

    def join(self, pair: Pair) -> None:
        """Join two variables."""
        kept, gone = self._of[pair[0]], self._of[pair[1]]
        self._of = {v: kept if name == gone else name for v, name in self._of.items()}

    @property
    def number(self) -> int:
        """How many there are."""
        return len(set(self._of.values()))

    def apart(self) -> tuple[Pair, ...]:
        """Return the pairs of variables of different components."""
        pairs = itertools.combinations(sorted(self._of), 2)
        return tuple((i, j) for i, j in pairs if self._of[i] != self._of[j])


def spanning_pairs(
    scores: Mapping[Pair, int],
    *,
    components: Components,
    choice: SetSelection | None,
    may_stop: bool,
    entropy: Entropy,
) -> tuple[Pair, ...]:
    """Return pairs that join components, one a round, by the exponential mechanism.

    Args:
        scores: Of each pair that is apart.
        components: What is joined before.
        choice: Mechanism of a round; None where there is at most one candidate.
        may_stop: Whether "no further pair" is a candidate, with utility 0.
        entropy: Of the choices.
    """
    found: list[Pair] = []
    while left := components.apart():
        utilities = [scores[pair] for pair in left] + ([0] if may_stop else [])
        place = 0
        if choice is not None and len(utilities) > 1:
            among = replace(choice, candidates=len(utilities))
            (place,) = among.select(utilities, entropy=entropy)
        if place == len(left):
            break
        found.append(left[place])
        components.join(left[place])
    return tuple(found)


def pair_scores(
    codes: Ints, pairs: Iterable[Pair], *, noisy: Sequence[Floats], total: float
) -> dict[Pair, int]:
    """Return how far each pair is from independence, in rows.

    Args:
        codes: Merged levels of rows.
        pairs: Of variables.
        noisy: Released counts of merged levels.
        total: n̂.
    """
    sizes = [each.size for each in noisy]
    shares = [shares_of(each) for each in noisy]
    found = {}
    for i, j in pairs:
        expected = total * shares[i][:, None] * shares[j][None, :]
        found[i, j] = _distance(exact_table(codes, (i, j), sizes=sizes), expected)
    return found


def triple_scores(
    codes: Ints,
    pairs: Iterable[Pair],
    *,
    target: int,
    with_target: Mapping[int, Floats],
    of_target: Floats,
    sizes: Sequence[int],
    error: float,
) -> dict[Pair, int]:
    """Return how far each pair is from independence given the target, less what noise would add.

    Args:
        codes: Merged levels of rows.
        pairs: Of features.
        target: The variable that is predicted.
        with_target: Released counts of each feature (axis 0) and the target (axis 1).
        of_target: Released counts of the target.
        sizes: Number of merged levels.
        error: Mean absolute noise of a cell of a triple, in rows.
    """
    known = np.maximum(of_target, 0.5)
    given = {v: _given(counts) for v, counts in with_target.items()}
    found = {}
    for i, j in pairs:
        expected = given[i][:, None, :] * given[j][None, :, :] * known
        exact = exact_table(codes, (i, j, target), sizes=sizes)
        cells = clique_cells((i, j, target), sizes=sizes)
        penalty = math.floor(error * cells)
        found[i, j] = _distance(exact, expected) - penalty
    return found


def _given(counts: Floats) -> Floats:
    """Return the share of each level given the target; shape (levels, target)."""
    return np.stack([shares_of(column) for column in counts.T], axis=1)


def _distance(exact: Ints, expected: Floats) -> int:
    return int(np.abs(exact - np.rint(expected).astype(np.int64)).sum())


def choice_among(candidates: int, *, epsilon: Fraction, rho: Fraction, reach: int) -> SetSelection:
    """Return the mechanism that chooses one of some candidates.

    Args:
        candidates: How many, at least two.
        epsilon: Of one choice, in pure DP; 0 where ρ is named.
        rho: Of one choice, in zCDP: ε²/8 at most.
        reach: Most that one patient raises one candidate over another.
    """
    epsilon = epsilon or Fraction(math.isqrt(math.floor(8 * rho * _GRID**2)), _GRID)
    return SetSelection(epsilon=epsilon, reach=reach, size=1, candidates=candidates)
