"""What a loss means, in words: odds, never a bare ε.

*Privacy:* every bound is rounded so that the sentence stays true.
"""

from fractions import Fraction
from typing import Any

from confide.privacy.loss import ApproxDP, PureDP
from confide.privacy.odds import odds_factor, true_positive_bound

_ACCUSED = Fraction(1, 100)


def odds(loss: ApproxDP | PureDP, *, entity: str) -> dict[str, Any]:
    """Return the odds of a loss as numbers and as two sentences."""
    factor = odds_factor(PureDP(epsilon=loss.epsilon))
    found = true_positive_bound(loss, false_positive_rate=_ACCUSED)
    delta = loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
    but = f", but for a chance of {float(delta):g}" if delta else ""
    return {
        "factor": f"{_up(factor, 2):.2f}",
        "found-of-100": f"{_up(100 * found, 1):.1f}",
        "sentences": [
            (
                f"Whatever anyone knows already, their odds that one given {entity} is in the "
                f"data change by at most a factor {_up(factor, 2):.2f}{but}."
            ),
            (
                "An attacker who may wrongly accuse 1 in 100 outsiders finds at most "
                f"{_up(100 * found, 1):.1f} in 100 members."
            ),
        ],
    }


def _up(value: float, digits: int) -> float:
    return -(-value * 10**digits // 1) / 10**digits
