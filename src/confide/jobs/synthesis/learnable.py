"""What cannot be learnt: refused, in words, with what would do; public settings alone."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError
from confide.noise.mechanism import AddedNoise
from confide.privacy.accounting.concentrated import epsilon_beside

MOST_COLUMNS = 100
MOST_LEVELS = 1000
MOST_MODEL_CELLS = 10**7
DROWNS = 0.25
"""Expected total-variation error of single columns, from noise alone, at which nothing is learnt.

It is an average over columns.
"""


def amount_times(factor: float, *, rho: Fraction, epsilon: Fraction, delta: Fraction) -> str:
    """Return the budget that gives noise which is smaller by a factor, as text.

    Example:
        >>> amount_times(2, rho=Fraction(1, 8), epsilon=Fraction(0), delta=Fraction("1e-6"))
        'ρ = 0.5 (ε = 5.22)'
    """
    if epsilon:
        enough = epsilon * Fraction(math.ceil(factor * 100), 100)
        return f"ε = {_rounded_up(enough):.3g}"
    enough = rho * Fraction(math.ceil(factor**2 * 100), 100)
    told = f"ρ = {_rounded_up(enough):.3g}"
    if delta > 0:
        told += f" (ε = {epsilon_beside(enough, delta=delta)})"
    return told


def require_amount(rho: Fraction, epsilon: Fraction, *, rows: int) -> None:
    """Refuse a charge that is none, or in two measures, and a planning number out of range.

    Raises:
        InvalidParameterError: If they are.
    """
    amounts = (rho, epsilon)
    if not all(isinstance(each, Fraction) and each >= 0 for each in amounts):
        raise InvalidParameterError(f"Expected an exact rho > 0 or epsilon > 0, got {amounts}.")
    if sum(each > 0 for each in amounts) != 1:
        raise InvalidParameterError("Expected rho > 0 or epsilon > 0, and not both.")
    if not isinstance(rows, int) or not 1 <= rows <= 10**10:
        raise InvalidParameterError(f"Expected rows from 1 to 1e10, got {rows}.")


def require_columns(
    columns: Sequence[str], *, reads: int, named: Sequence[str], together: Sequence[Sequence[str]]
) -> None:
    """Refuse columns that are too few, too many or called alike, and names of none of them.

    Args:
        columns: Names.
        reads: How many are read.
        named: What other settings call columns.
        together: Columns that have to be measured together.

    Raises:
        ContractError: If they are.
    """
    if len(columns) != reads or len(set(columns)) != len(columns):
        raise ContractError("Expected a name of its own for each column.")
    if not 2 <= len(columns) <= MOST_COLUMNS:
        raise ContractError(
            f"Expected 2 to {MOST_COLUMNS} columns, got {len(columns)}.",
            hint=f"Synthesise the {MOST_COLUMNS} columns that matter most; each further one "
            "takes its part of the budget.",
        )
    for name in named:
        if name not in columns:
            raise ContractError(f"No column of the table is called {name!r}.")
    if any(not 2 <= len(set(group)) == len(group) <= 4 for group in together):
        raise ContractError("Expected 2 to 4 different columns together.")


def require_small(cells: int, *, tables: int, largest: int) -> None:
    """Refuse a model that may become too wide.

    Args:
        cells: Of what is measured whatever is chosen.
        tables: How many may be chosen beside it.
        largest: Cells of the largest of them.

    Raises:
        ContractError: With the number that would do.
    """
    if cells + tables * largest > MOST_MODEL_CELLS:
        raise ContractError(
            f"Tables of up to {largest:,} cells make a model of more than {MOST_MODEL_CELLS:,}.",
            hint=f"Use coarser bins: {tables} tables of at most "
            f"{(MOST_MODEL_CELLS - cells) // max(1, tables):,} cells would do.",
        )


def require_levels(sizes: Mapping[str, int]) -> None:
    """Refuse columns of one level, or of too many.

    Args:
        sizes: How many, by column.

    Raises:
        ContractError: Naming the column.
    """
    for name, size in sizes.items():
        if size < 2:
            raise ContractError(
                f"Column {name!r} has one level only, so there is nothing to learn of it.",
                hint="Leave it out, and add it to the synthetic rows.",
            )
        if size > MOST_LEVELS:
            raise ContractError(
                f"Column {name!r} has {size:,} levels; at most {MOST_LEVELS:,} can be learnt.",
                hint="Put it into public bins, ten or twenty as a rule.",
            )


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
