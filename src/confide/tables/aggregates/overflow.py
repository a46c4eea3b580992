"""Sums that cannot overflow, from public caps.

*Privacy:* a sum that wraps or saturates is another sum, of which nobody knows how far one patient
moves it; so overflow is excluded before any row is read.
"""

from confide.errors import InvalidParameterError
from confide.tables.bound_contributions import ContributionBounds, rows_per_unit
from confide.tables.schema import Dataset

LARGEST_SUM = 2**126


def check_sums(size: int, *, bounds: ContributionBounds, dataset: Dataset) -> None:
    """Refuse values of this size if their sum could pass the largest.

    Raises:
        InvalidParameterError: If the sums could pass 2^126.
    """
    if dataset.population_at_most * rows_per_unit(bounds) * size >= LARGEST_SUM:
        raise InvalidParameterError(
            "The sum could overflow: population × rows × largest value reaches 2^126.",
            hint="Narrow the bounds, use a coarser grid, or lower population-at-most.",
        )
