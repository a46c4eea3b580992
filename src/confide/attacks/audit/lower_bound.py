"""Lower bounds on the privacy loss, from outputs alone: what an attacker certainly achieves.

Outputs of a mechanism on two neighbouring inputs become numbers (*features*: coordinates, a linear
score learned from the difference of means, presence of a key, number of rows, kind of error).  On a
quarter of the samples an event is chosen, "feature ≥ t", "≤ t" or "= v", that tells the inputs
apart best [DWWZK18]; on the rest its chances p and q get exact confidence bounds.  Then, except
with chance ``miss``,

- ε ≥ ln((p_low − δ)/q_high)                                for a claim of (ε, δ);
- δ ≥ p_low − e^ε·q_high                                    for a claimed ε;
- μ ≥ Φ⁻¹(p_low) − Φ⁻¹(q_high), at an event fixed in advance,  for a Gaussian claim.

A Gaussian mechanism has no finite ε to test; its trade-off curve is that of μ-GDP [DRS22], and the
event half-way between the two means finds a wrong σ with the fewest samples.

*Privacy:* a bound above the claim refutes it; none below it proves anything.
*Utility:* a scale that is half of what was claimed is found in 2·10⁴ samples.

References:
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
    [DWWZK18] Ding, Wang, Wang, Zhang, Kifer. Detecting violations of differential privacy. CCS
        2018. https://doi.org/10.1145/3243734.3243818
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.confidence import lower_bound, upper_bound
from confide.errors import InvalidParameterError

THRESHOLDS = 64
ATOMS = 32
_TRAINING = 4
_CAUTION = 4.0  # standard deviations taken off while an event is chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """A lower bound and the event that gives it.

    Attributes:
        value: ε, δ or μ; at least 0.
        event: In words.
        inside: Bounded chance of the event on the input where it is likelier.
        outside: The same on the other.
        samples: Of each input, that the bounds rest on.
    """

    value: float
    event: str
    inside: float
    outside: float
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    feature: int
    relation: str
    cut: float
    swapped: bool

    def happens(self, features: NDArray[np.float64]) -> NDArray[np.bool_]:
        column = features[:, self.feature]
        match self.relation:
            case "≥":
                happened = column >= self.cut
            case "≤":
                happened = column <= self.cut
            case _:
                happened = column == self.cut
        return np.asarray(happened, dtype=np.bool_)

    def __str__(self) -> str:
        side = "without" if self.swapped else "with"
        return f"feature {self.feature} {self.relation} {self.cut:g}, likelier {side}"


def epsilon_bound(
    first: NDArray[np.float64], second: NDArray[np.float64], *, delta: float, miss: float
) -> LowerBound:
    """Return a lower bound on ε, for a claim of (ε, ``delta``).

    Args:
        first: Shape (n, features); outputs on one input.
        second: Shape (n, features); outputs on its neighbour.
        delta: Claimed δ; 0 for pure differential privacy.
        miss: Chance that the bound is wrong.

    Example:
        >>> told = np.array([[1.0]] * 900 + [[0.0]] * 100)
        >>> hidden = np.array([[1.0]] * 100 + [[0.0]] * 900)
        >>> 1.5 < epsilon_bound(told, hidden, delta=0.0, miss=1e-6).value < math.log(9)
        True
    """

    def worth(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(np.maximum(p - delta, 1e-300)) - np.log(np.maximum(q, 1e-300))

    return _best(first, second, worth=worth, miss=miss)


def delta_bound(
    first: NDArray[np.float64], second: NDArray[np.float64], *, epsilon: float, miss: float
) -> LowerBound:
    """Return a lower bound on δ, for a claimed ``epsilon``.

    Example:
        >>> told, hidden = np.ones((800, 1)), np.zeros((800, 1))
        >>> delta_bound(told, hidden, epsilon=1.0, miss=1e-6).value > 0.8
        True
    """
    grown = math.exp(epsilon)
    return _best(first, second, worth=lambda p, q: p - grown * q, miss=miss)


def mu_bound(
    first: NDArray[np.float64], second: NDArray[np.float64], *, cut: float, miss: float
) -> LowerBound:
    """Return a lower bound on μ, by the event "score ≥ cut", fixed before any output is seen.

    Args:
        first: Shape (n,); scores on the input with the larger mean.
        second: Shape (n,); scores on its neighbour.
        cut: Half-way between the means.
        miss: Chance that the bound is wrong.

    Example:
        >>> told, hidden = np.arange(1000.0), np.arange(1000.0) - 500
        >>> bound = mu_bound(told, hidden, cut=250.0, miss=1e-6)
        >>> bound.value > 0.8
        True
    """
    normal = NormalDist()
    inside, outside = _chances(first >= cut, second >= cut, miss=miss)
    gap = normal.inv_cdf(_inner(inside)) - normal.inv_cdf(_inner(outside))
    return LowerBound(
        value=max(0.0, gap),
        event=f"score ≥ {cut:g}",
        inside=inside,
        outside=outside,
        samples=int(first.size),
    )


def with_scores(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the features with linear scores added, learned on the quarter that chooses events.

    Three scores: along the difference of the means, along its signs, and in how many coordinates
    the output is on the first input's side of the middle, which is best against Laplace noise.
    Coordinates that do not differ by five standard errors are left out.
    """
    if first.shape[1] == 1:
        return first, second
    trained = first[::_TRAINING], second[::_TRAINING]
    difference = trained[0].mean(axis=0) - trained[1].mean(axis=0)
    error = np.sqrt((trained[0].var(axis=0) + trained[1].var(axis=0)) / len(trained[0]))
    direction = np.where(np.abs(difference) > 5 * error, difference, 0.0)
    weights = np.stack([direction, np.sign(direction)], axis=1)
    middle = (trained[0].mean(axis=0) + trained[1].mean(axis=0)) / 2

    def scored(features: NDArray[np.float64]) -> NDArray[np.float64]:
        ahead = ((features - middle) * np.sign(direction) > 0).sum(axis=1, keepdims=True)
        return np.hstack([features, features @ weights, ahead])

    return scored(first), scored(second)


def _best(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    worth: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    miss: float,
) -> LowerBound:
    """Return the bound of the event that does best on the training quarter."""
    if first.ndim != 2 or first.shape != second.shape or len(first) < 2 * _TRAINING:
        raise InvalidParameterError("Expected two samples of one shape (n, features), n ≥ 8.")
    first, second = with_scores(first, second)
    trained = first[::_TRAINING], second[::_TRAINING]
    best, most = _Event(feature=0, relation="≥", cut=-math.inf, swapped=False), -math.inf
    for event, p, q in _candidates(*trained):
        value = float(worth(np.array([_cautious(p, -1)]), np.array([_cautious(q, 1)]))[0])
        if value > most:
            best, most = event, value
    held = np.arange(len(first)) % _TRAINING != 0
    happened = best.happens(first[held]), best.happens(second[held])
    likelier, other = reversed(happened) if best.swapped else happened
    inside, outside = _chances(likelier, other, miss=miss)
    value = float(worth(np.array([inside]), np.array([outside]))[0])
    return LowerBound(
        value=max(0.0, value),
        event=str(best),
        inside=inside,
        outside=outside,
        samples=int(held.sum()),
    )


def _candidates(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> Iterator[tuple[_Event, "_Share", "_Share"]]:
    """Yield events, each in both directions, with their shares in the training samples."""
    total = len(first)
    for feature in range(first.shape[1]):
        columns = np.sort(first[:, feature]), np.sort(second[:, feature])
        pooled = np.concatenate(columns)
        levels = np.linspace(0, 1, THRESHOLDS)
        cuts = np.unique(np.quantile(pooled, levels, method="nearest"))
        values, counts = np.unique(pooled, return_counts=True)
        atoms = values[np.argsort(counts)[-ATOMS:]]
        for relation, points in (("≥", cuts), ("≤", cuts), ("=", atoms)):
            shares = [_counted(column, relation, points) / total for column in columns]
            for cut, p, q in zip(points.tolist(), *(s.tolist() for s in shares), strict=True):
                for swapped in (False, True):
                    event = _Event(feature=feature, relation=relation, cut=cut, swapped=swapped)
                    ends = (q, p) if swapped else (p, q)
                    yield event, _Share(ends[0], total), _Share(ends[1], total)


@dataclass(frozen=True, slots=True)
class _Share:
    of: float
    total: int


def _counted(
    column: NDArray[np.float64], relation: str, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return in how many sorted values each event happens."""
    below = np.searchsorted(column, points, side="left").astype(np.float64)
    up_to = np.searchsorted(column, points, side="right").astype(np.float64)
    match relation:
        case "≥":
            return column.size - below
        case "≤":
            return up_to
        case _:
            return up_to - below


def _cautious(share: _Share, direction: int) -> float:
    """Return Wilson's bound of a share, to compare events by what they will certainly give."""
    n, z = share.total, _CAUTION
    centre = (share.of + z * z / (2 * n)) / (1 + z * z / n)
    radius = z / (1 + z * z / n) * math.sqrt(share.of * (1 - share.of) / n + z * z / (4 * n * n))
    return min(1.0, max(0.0, centre + direction * radius))


def _chances(
    inside: NDArray[np.bool_], outside: NDArray[np.bool_], *, miss: float
) -> tuple[float, float]:
    return (
        lower_bound(int(inside.sum()), trials=inside.size, miss=miss / 2),
        upper_bound(int(outside.sum()), trials=outside.size, miss=miss / 2),
    )


def _inner(share: float) -> float:
    return min(max(share, 1e-300), 1 - 1e-16)
