"""Which rows a test is about: one of each patient, in groups that are public.

A test takes its rows to be independent.  Several rows of one patient are not, so where a patient
may have several, one of them is kept, in the secretly keyed order; the test never counts them all.
"""

from confide.errors import ContractError, UnboundedError, UnknownNameError
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import domain
from confide.tables.schema import Dataset


def one_row_each(
    stated: PerPatient, *, table: str, axes: tuple[Expression, ...], dataset: Dataset
) -> ContributionBounds:
    """Return the bound that keeps one row of a patient.

    Raises:
        UnboundedError: If a patient may have several rows and no bound is stated.
        ContractError: If more than one row is asked for.
    """
    patient = dataset.unit.entity is Entity.PATIENT
    if patient and not dataset.table(table).one_row_per_patient:
        if stated.rows is None:
            raise UnboundedError(
                f"A test needs one row of each patient; table {table!r} may have several.",
                hint="Write per-patient: {rows: 1}, or ask of a table with one row per patient.",
            )
        if stated.rows != 1 or stated.cells not in (None, 1):
            raise ContractError(
                "Several rows of a patient are not independent, so a test of them is wrong.",
                hint="Write per-patient: {rows: 1}.",
            )
        stated = PerPatient(rows=1)
    return contribution_bounds(
        stated, table=table, axes=axes, counted=Counted.EVENTS, dataset=dataset
    )


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
    """Return place and label of the two groups that are compared.

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
