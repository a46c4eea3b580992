"""The survey weight of a row: a column with public bounds 0 ≤ w ≤ W, declared by the steward.

*Privacy:* a row with weight w moves a weighted sum by at most W times what it would move the plain
one, so W is a public bound like any other; weights are clipped to it.
"""

from confide.errors import ContractError
from confide.tables.expression import ColumnOf
from confide.tables.relation import column_of, domain
from confide.tables.schema import Dataset, Domain, Kind


def weight_of(table: str, *, dataset: Dataset) -> ColumnOf | None:
    """Return the weight of the rows of a table; None where none is declared.

    It is the table's own, or that of the only table with one row per patient that declares one.
    """
    own = dataset.table(table)
    if own.weight:
        return ColumnOf(table=table, column=own.weight)
    others = [t for t in dataset.tables if t.one_row_per_patient and t.weight]
    return ColumnOf(table=others[0].name, column=others[0].weight) if len(others) == 1 else None


def require_weight(table: str, *, dataset: Dataset) -> ColumnOf:
    """Return the weight of the rows of a table.

    Raises:
        ContractError: If there is none, or it is not a number whose least value is 0.
    """
    weight = weight_of(table, dataset=dataset)
    if weight is None:
        raise ContractError(
            f"Table {table!r} declares no survey weight.",
            hint="Write weight: name_of_the_column in its section of dataset.yaml.",
        )
    column = column_of(weight, dataset)
    if column.kind is not Kind.NUMBER or column.domain().lower != 0:
        raise ContractError(
            f"The weight {weight.column!r} is not a number from 0.",
            hint="Declare kind: number, lower: 0, and the largest weight as upper.",
        )
    return weight


def weight_domain(weight: ColumnOf, *, dataset: Dataset) -> Domain:
    """Return the public bounds of the weight."""
    return domain(weight, dataset=dataset)
