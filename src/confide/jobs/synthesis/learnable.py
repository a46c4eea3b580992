"""What would do where noise drowns a synthesis, in words; public settings alone."""

import math
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import AddedNoise
from confide.privacy.accounting.concentrated import epsilon_beside

DROWNS = 0.25
"""Expected total-variation error of single columns, from noise alone, at which nothing is learnt.

It is an average over columns.
"""


def amount_times(factor: float, *, rho: Fraction, epsilon: Fraction, delta: Fraction) -> str:
    """Return the budget that gives noise which is smaller by a factor, as text."""
    if epsilon:
        enough = epsilon * Fraction(math.ceil(factor * 100), 100)
        return f"ε = {_rounded_up(enough):.3g}"
    enough = rho * Fraction(math.ceil(factor**2 * 100), 100)
    told = f"rho={_rounded_up(enough):.3g}"
    if delta > 0:
        told += f", which is ε = {epsilon_beside(enough, delta=delta)}"
    return told


def require_learnable(
    noise: AddedNoise,
    *,
    sizes: tuple[int, ...],
    rows: int,
    rho: Fraction,
    epsilon: Fraction,
    delta: Fraction,
) -> None:
    """Refuse columns that noise would drown.

    Args:
        noise: Of a level of a column.
        sizes: Levels of each column.
        rows: Public planning number.
        rho: The whole charge, in zCDP; 0 where ε is named.
        epsilon: The whole charge, in pure DP; 0 where ρ is named.
        delta: At which losses are told.

    Raises:
        ContractError: With the number that would do.
    """
    error = noise.mean_absolute() * sum(sizes) / (2 * len(sizes) * rows)
    if error <= DROWNS:
        return
    enough = math.ceil(rows * error / DROWNS)
    told = amount_times(error / DROWNS, rho=rho, epsilon=epsilon, delta=delta)
    raise ContractError(
        f"Noise would drown the table: columns alone would be off by {error:.2f} on average "
        f"(total variation; at most {DROWNS} is accepted).",
        hint=f"With {rows:,} rows {told} would do; at this budget, {enough:,} rows or "
        "fewer columns or levels.",
    )


def _rounded_up(amount: Fraction) -> float:
    """Return an amount at three digits, never below it."""
    places = 2 - math.floor(math.log10(amount))
    return math.ceil(amount * Fraction(10) ** places) / 10.0**places
