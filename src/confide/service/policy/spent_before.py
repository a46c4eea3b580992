"""What was spent before under the caps of a policy, as people write it."""

import math
from collections.abc import Iterable

from confide.errors import ContractError
from confide.privacy.amount import NANO
from confide.statistics.section import exact


def spent_from(given: Iterable[str]) -> dict[str, int]:
    """Return what was spent before, in 1e-9, by cap or cap and window; rounded up.

    Raises:
        ContractError: If a text is not ID=AMOUNT.

    Example:
        >>> spent_from(["annual@2027=0.12"])
        {'annual@2027': 120000000}
    """
    found: dict[str, int] = {}
    for text in given:
        key, _, number = text.rpartition("=")
        try:
            amount = exact(number)
        except ValueError:
            key = ""
        if not key or amount < 0 or key in found:
            raise ContractError(
                f"Expected what was spent once for each cap, got {text[:60]!r}.",
                hint="Write --spent ethics-annual=0.12, or --spent ethics-annual@2027=0.12.",
            )
        found[key] = math.ceil(amount * NANO)
    return found
