"""Effects of two shares with intervals: difference, ratio, odds ratio; and a slope over scores.

*Interval:* each share has its own interval [l, u], Wilson's widened by the noise.  The errors of
the two are independent, so f(a) − f(b) lies within the roots of the summed squares of the distances
from f(a), f(b) to the images of their ends [New98, ZD08]: f is the identity for a difference, the
logarithm for a ratio, the logit for an odds ratio.  With the noise off this is Newcombe's interval.

References:
    [New98] Newcombe. Interval estimation for the difference between independent proportions:
        comparison of eleven methods. Statistics in Medicine 17, 1998.
        https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
    [ZD08] Zou, Donner. Construction of confidence limits about effect measures: a general approach.
        Statistics in Medicine 27(10), 2008. https://doi.org/10.1002/sim.3095
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from confide.plans.estimation.intervals import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An effect with its interval.

    Attributes:
        quantity: "difference", "ratio", "odds ratio".
        value: None where it is not defined.
        lower: None where it has no end, as a ratio to a share that may be 0.
        upper: As ``lower``.
    """

    quantity: str
    value: float | None
    lower: float | None
    upper: float | None


def effects(share: Share, *, of: Share) -> tuple[Effect, Effect, Effect]:
    """Return difference, ratio and odds ratio of a share to that of the reference.

    Example:
        Newcombe's first example, 56 of 70 against 48 of 80:

        >>> from confide.plans.estimation.intervals import Component, share
        >>> a, b = (share(x, n - x, noise=Component(variance=0.0), spread=n, least=1, level=0.95)
        ...         for x, n in ((56, 70), (48, 80)))
        >>> difference, _, _ = effects(a, of=b)
        >>> round(difference.lower, 4), round(difference.upper, 4)
        (0.0524, 0.3339)
    """
    return (
        _effect("difference", share, of, by=lambda p: p, back=lambda x: x),
        _effect("ratio", share, of, by=_log, back=math.exp),
        _effect("odds ratio", share, of, by=_logit, back=math.exp),
    )


def _effect(
    quantity: str,
    share: Share,
    reference: Share,
    *,
    by: Callable[[float], float],
    back: Callable[[float], float],
) -> Effect:
    if share.value is None or reference.value is None:
        return Effect(quantity=quantity, value=None, lower=None, upper=None)
    a, low_a, high_a = by(share.value), by(share.lower), by(share.upper)
    b, low_b, high_b = by(reference.value), by(reference.lower), by(reference.upper)
    if not (math.isfinite(a) and math.isfinite(b)):
        return Effect(quantity=quantity, value=None, lower=None, upper=None)
    down, up = math.hypot(a - low_a, high_b - b), math.hypot(high_a - a, b - low_b)
    bounded = math.isfinite(down) and math.isfinite(up)
    return Effect(
        quantity=quantity,
        value=back(a - b),
        lower=back(a - b - down) if bounded else None,
        upper=back(a - b + up) if bounded else None,
    )


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


def _logit(p: float) -> float:
    if p <= 0:
        return -math.inf
    return math.inf if p >= 1 else math.log(p / (1 - p))
