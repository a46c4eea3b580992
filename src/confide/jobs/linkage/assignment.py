"""Who is linked with whom: greedy by score, so that one person more or less moves little.

*Rule.*  Pairs are walked through by falling score on the grid, equal ones by the hashes of both
ids.  A pair becomes a link if the first person still has fewer than K links and the second fewer
than t.  The order is total and a function of the two persons alone.

*Lemma (one token).*  Let one person have room for one link less.  At each moment of the walk the
two runs differ in the room of exactly one person, by one.  Proof: at a pair of which that person is
no part, or has room left in both runs, both do the same.  Else one run takes the pair, if the other
person has room, and the other run does not; afterwards the rooms of the first person are equal and
those of the second differ by one, the other way round.  ∎  So the links of both runs differ along
one path, of which every second one is in each run, at scores s₁ ≥ s₂ ≥ …, and the path goes from
one table to the other at every step.

*Consequences.*  To remove a person is to take away K (or t) units of room, one after another.  For
each unit, and for every threshold, as links above it are a first part of the walk:

- with K = 1, of the second table: at most one person of the first loses a link, nobody wins one; of
  the first table: the person loses the link and at most one other wins one;
- link scores by person, the largest first: of the second table they move by (s₁ − s₂) + (s₃ − s₄) +
  … ≤ s₁ in L1; of the first by s₁ + (s₂ − s₃) + … ≤ s₁ + s₂, which two persons who want the same
  one attain.

*Why not the t best of each person of the second table:* one more person of the first would push
somebody out of the list of everybody whom they resemble, and no number of persons bounds that.

References:
    [GI89] Gusfield, Irving. The stable marriage problem: structure and algorithms. MIT Press 1989,
        sec. 1.3: greedy by one order is the stable matching of preferences that agree.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPairs:
    """Pairs of persons with the score of each; exact and secret.

    Attributes:
        first: Index of the person in the first table; shape (pairs,).
        second: Index in the second.
        score: On the grid of :data:`confide.jobs.linkage.spec.STEPS`.
    """

    first: Ints
    second: Ints
    score: Ints


def linked(
    pairs: ScoredPairs,
    *,
    first_ids: Sequence[str],
    second_ids: Sequence[str],
    room_first: int,
    room_second: int,
) -> ScoredPairs:
    """Return the pairs that become links, by falling score.

    Args:
        pairs: Every pair that counts.
        first_ids: Of the persons of the first table; each once.
        second_ids: Of the second.
        room_first: K, links that a person of the first table may have.
        room_second: t, those of one of the second.

    Example:
        Two persons want the same one; the better pair has it, and the other takes the next:

        >>> pairs = ScoredPairs(first=np.array([0, 1, 1]), second=np.array([0, 0, 1]),
        ...                     score=np.array([1000, 990, 980]))
        >>> kept = linked(pairs, first_ids=["a", "b"], second_ids=["x", "y"], room_first=1,
        ...               room_second=1)
        >>> list(zip(kept.first.tolist(), kept.second.tolist()))
        [(0, 0), (1, 1)]
    """
    ones, others = _places(first_ids), _places(second_ids)
    order = np.lexsort((others[pairs.second], ones[pairs.first], -pairs.score))
    free = np.full(len(first_ids), room_first), np.full(len(second_ids), room_second)
    kept = []
    for place in order.tolist():
        one, other = pairs.first[place], pairs.second[place]
        if free[0][one] and free[1][other]:
            free[0][one] -= 1
            free[1][other] -= 1
            kept.append(place)
    taken = np.array(kept, dtype=np.int64)
    return ScoredPairs(
        first=pairs.first[taken], second=pairs.second[taken], score=pairs.score[taken]
    )


def _places(ids: Sequence[str]) -> Ints:
    """Return the place of each id in the order of their hashes; who else is there shifts alike."""
    hashes = [hashlib.sha256(each.encode()).digest() for each in ids]
    found = np.empty(len(ids), dtype=np.int64)
    found[sorted(range(len(ids)), key=hashes.__getitem__)] = np.arange(len(ids))
    return found


def best_scores(links: ScoredPairs, *, persons: int, most: int) -> Ints:
    """Return the scores of each person's links, the largest first, filled up with 0.

    Args:
        links: Of :func:`linked`.
        persons: How many the first table has.
        most: K.

    Returns:
        Shape (persons, K).
    """
    found = np.zeros((persons, most), dtype=np.int64)
    used = np.zeros(persons, dtype=np.int64)
    for one, score in zip(links.first.tolist(), links.score.tolist(), strict=True):
        found[one, used[one]] = score
        used[one] += 1
    return found
