"""Public cells: the product of labelled axes in row-major order, the last axis fastest."""

import itertools
import math

from confide.errors import ContractError, InvalidParameterError
from confide.tables.expression import ColumnOf, Expression, ValueOf
from confide.tables.relation import domain
from confide.tables.schema import Dataset

MOST_CELLS = 10**7


def cell_count(axes: tuple[Expression, ...], *, dataset: Dataset) -> int:
    """Return the number of public cells."""
    return math.prod(domain(axis, dataset=dataset).size() for axis in axes)


def cell_keys(axes: tuple[Expression, ...], *, dataset: Dataset) -> tuple[tuple[str, ...], ...]:
    """Return the labels of every cell, in the order of the vector."""
    labels = []
    for axis in axes:
        of = domain(axis, dataset=dataset)
        labels.append(of.keys or tuple(str(of.physical(v)) for v in range(of.lower, of.upper + 1)))
    return tuple(itertools.product(*labels))


def check_cells(axes: tuple[Expression, ...], *, dataset: Dataset) -> None:
    """Refuse axes without public labels, or with too many cells.

    Raises:
        ContractError: If an axis is a plain number or date.
        InvalidParameterError: If there are too many cells.
    """
    for axis in axes:
        of = domain(axis, dataset=dataset)
        if not of.keys:
            raise ContractError(
                f"Groups need public labels; {_name(axis)} is a plain number or date.",
                hint="In dataset.yaml cut it into bins, or take a part of a date: "
                "derived: {band: {of: …, bins: […]}}.",
            )
    if cell_count(axes, dataset=dataset) > MOST_CELLS:
        raise InvalidParameterError(
            "Expected at most ten million cells.", hint="Use fewer groups or coarser bins."
        )


def _name(axis: Expression) -> str:
    match axis:
        case ColumnOf(column=name) | ValueOf(name=name):
            return repr(name)
        case _:
            return "what they are made of"
