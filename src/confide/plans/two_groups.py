"""The public groups of a category that a statistic compares."""

from confide.errors import ContractError, UnknownNameError
from confide.tables.expression import Expression
from confide.tables.relation import domain
from confide.tables.schema import Dataset


def categories(axis: Expression, *, name: str, dataset: Dataset) -> tuple[str, ...]:
    """Return the labels of an axis.

    Raises:
        ContractError: If it has fewer than two.
    """
    keys = domain(axis, dataset=dataset).keys
    if len(keys) < 2:
        raise ContractError(
            f"{name!r} has no two groups to compare.",
            hint="Use a category, or cut a number into bins.",
        )
    return keys


def two_groups(
    chosen: tuple[str, ...], *, keys: tuple[str, ...], name: str
) -> tuple[tuple[int, str], tuple[int, str]]:
    """Return place and label of the reference, which comes first, and of what is compared with it.

    Raises:
        ContractError: If there are more groups than two and none were chosen.
        UnknownNameError: If a chosen one does not exist.
    """
    for key in chosen:
        if key not in keys:
            raise UnknownNameError("group", key, known=keys)
    names = chosen or keys
    if len(names) != 2 or names[0] == names[1]:
        raise ContractError(
            f"Expected two groups of {name!r}, got {len(set(names))}.",
            hint=f"Write groups: [{keys[0]}, {keys[1]}].",
        )
    first, second = names
    return (keys.index(first), first), (keys.index(second), second)
