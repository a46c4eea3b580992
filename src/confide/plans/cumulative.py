"""Cumulative counts over public bins: made monotone, interpolated, and inverted for an interval.

*Privacy:* post-processing.

References:
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

from collections.abc import Sequence


def monotone(cumulative: Sequence[float]) -> list[float]:
    """Return the least-squares increasing sequence (pool adjacent violators [RWB88])."""
    blocks: list[tuple[float, int]] = []
    for value in cumulative:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, i), (b, j) = blocks.pop(-2), blocks.pop()
            blocks.append(((a * i + b * j) / (i + j), i + j))
    return [value for value, size in blocks for _ in range(size)]


def interpolated(cumulative: Sequence[float], edges: Sequence[int], *, target: float) -> float:
    """Return where an increasing cumulative count reaches ``target``, in the unit of the edges."""
    for i in range(1, len(cumulative)):
        if cumulative[i] >= target:
            below, above = cumulative[i - 1], cumulative[i]
            share = (target - below) / (above - below) if above > below else 0.5
            return edges[i - 1] + min(1.0, max(0.0, share)) * (edges[i] - edges[i - 1])
    return float(edges[-1])


def inverted(differences: Sequence[float], *, widths: Sequence[float]) -> tuple[int, int]:
    """Return the indices of the outermost edges that stay when rejected ones are left out.

    From the left, edges t are left out while C(t) is significantly below qN, so the quantile is
    above t; from the right while it is significantly above.

    Args:
        differences: C(t) − qN at each edge.
        widths: How far it may be from 0 if the quantile is at that edge.
    """
    bins = len(differences) - 1

    def rejected(t: int, *, sign: int) -> bool:
        return sign * differences[t] > max(0.0, widths[t])

    lower, upper = 0, bins
    while lower < bins - 1 and rejected(lower + 1, sign=-1):
        lower += 1
    while upper > lower + 1 and rejected(upper - 1, sign=1):
        upper -= 1
    return lower, upper
