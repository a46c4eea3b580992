"""How far one row moves the ranks of several values at once, and the scores that this allows.

Values v₁ ≤ … ≤ v_m, for the quantiles q₁ < … < q_m of N rows, are off by ranks eᵢ = C(vᵢ) − qᵢN,
C(v) being the rows up to v.  A row in the gap j (0: up to v₁, …, m: above v_m) moves e by the
public vector d_j with entries 1[j ≤ i] − qᵢ (i from 0 to m − 1); a row replaced by d_j − d_k.  A
*face* is a vector w with |w·d| ≤ 1 for each such move d, so that w·e moves by 1 a row at most.

*Law.*  Faces are the corners of {w : |w·d| ≤ 1 for all d} in each orthant: where m independent ones
of the planes w·d = ±1 and wᵢ = 0 meet, but for 0.  Those of one value are ±1/max(q, 1 − q), or ±1
where rows are replaced, which are axes here too.

*Lemma*: faces of replaced rows hold for rows that come or go: with p_k the shares between quantiles
Σp_k·d_k = 0, so d_j = Σp_k(d_j − d_k), and |w·d_j| ≤ Σp_k = 1.  ∎

*Utility:* of all norms by which e can be judged so that a row moves it by 1, max_w w·e is the
greatest, so that values that are off lose most [HT10, sec. 4]: for quartiles the cube
2·max(|e₂|, |e₁ + e₃ − e₂|, |e₃ − e₁|).

References:
    [HT10] Hardt, Talwar. On the geometry of differential privacy. STOC 2010.
        https://arxiv.org/abs/0907.3754
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency

Face: TypeAlias = tuple[Fraction, ...]
"""Weights of the ranks e, one a quantile."""

MOST_TOGETHER = 3
"""Most quantiles that are judged together: faces are few, and so are draws that are refused."""


def require_quantiles(at: Sequence[Fraction]) -> None:
    """Refuse quantiles that are not some, ascending and strictly between 0 and 1.

    Raises:
        InvalidParameterError: If they are not, or more than three.
    """
    ascending = all(a < b for a, b in itertools.pairwise(at))
    if not 1 <= len(at) <= MOST_TOGETHER or not ascending or not all(0 < q < 1 for q in at):
        raise InvalidParameterError(
            f"Expected one to {MOST_TOGETHER} quantiles, ascending, strictly between 0 and 1."
        )


def moves_of_ranks(at: Sequence[Fraction], *, adjacency: Adjacency) -> tuple[Face, ...]:
    """Return how one row that comes, or is replaced, moves the ranks e, up to the sign.

    Example:
        >>> moves_of_ranks((Fraction(1, 4),), adjacency=Adjacency.ADD_REMOVE)
        ((Fraction(3, 4),), (Fraction(-1, 4),))
    """
    came = tuple(
        tuple(Fraction(gap <= i) - q for i, q in enumerate(at)) for gap in range(len(at) + 1)
    )
    match adjacency:
        case Adjacency.ADD_REMOVE:
            return came
        case Adjacency.SUBSTITUTE:
            pairs = itertools.combinations(came, 2)
            return tuple(tuple(a - b for a, b in zip(*pair, strict=True)) for pair in pairs)
        case _:
            assert_never(adjacency)


@cache
def faces(at: tuple[Fraction, ...], *, adjacency: Adjacency) -> tuple[Face, ...]:
    """Return the weights of ranks that one row moves by 1 at most.

    Example:
        >>> faces((Fraction(1, 4),), adjacency=Adjacency.ADD_REMOVE)
        ((Fraction(-4, 3),), (Fraction(4, 3),))
    """
    require_quantiles(at)
    of = moves_of_ranks(at, adjacency=adjacency)
    axes = [tuple(Fraction(i == k) for k in range(len(at))) for i in range(len(at))]
    planes = [(d, Fraction(side)) for d in of for side in (1, -1)] + [
        (a, Fraction(0)) for a in axes
    ]
    found = {_meeting(some) for some in itertools.combinations(planes, len(at))}
    return tuple(sorted(w for w in found if w is not None and any(w) and _is_face(w, of)))


def parts_of_row(at: tuple[Fraction, ...], *, moves: Adjacency = Adjacency.ADD_REMOVE) -> int:
    """Return in how many parts of a row utilities are whole numbers.

    Example:
        >>> parts_of_row((Fraction(1, 2),))
        1
        >>> parts_of_row((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))
        12
    """
    weights = [
        each
        for face in faces(at, adjacency=moves)
        for w, q in zip(face, at, strict=True)
        for each in (w, w * q)
    ]
    return math.lcm(*(each.denominator for each in weights))


def _is_face(w: Face, of: Sequence[Face]) -> bool:
    return all(abs(sum((a * b for a, b in zip(w, d, strict=True)), Fraction(0))) <= 1 for d in of)


def _meeting(planes: Sequence[tuple[Face, Fraction]]) -> Face | None:
    """Return the one place where as many planes as dimensions meet; None where there is none."""
    rows = [[*normal, level] for normal, level in planes]
    for column in range(len(rows)):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for other, row in enumerate(rows):
            if other != column and row[column]:
                pairs = zip(row, rows[column], strict=True)
                rows[other] = [x - row[column] * y for x, y in pairs]
    return tuple(row[-1] for row in rows)
