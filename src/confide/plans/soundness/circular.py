"""Refuse a model that would explain an outcome by the very column that the outcome is made of.

*Utility:* such a fit separates perfectly; its coefficients are those of the noise, and it is
charged.  Names are public.
"""

from collections.abc import Iterator

from confide.errors import ContractError
from confide.plans.plan import (
    Conditioned,
    Explaining,
    InIntervals,
    Statistic,
    WithEvents,
    WithOutcome,
)
from confide.tables.expression import ColumnOf, Expression, Holds, ValueOf
from confide.tables.filter import sources
from confide.tables.relation import resolve
from confide.tables.schema import Dataset


def require_explained_by_others(statistic: Statistic, *, table: str, dataset: Dataset) -> None:
    """Refuse a regression that has the column of its outcome, or bins of it, as a covariate.

    The follow-up of a hazard (a model with edges of time) is part of its outcome; the person-time
    of a rate is not.

    Raises:
        ContractError: With the name of the covariate.
    """
    if not isinstance(statistic, Explaining) or not statistic.covariates:
        return

    def read(expression: Expression) -> set[tuple[str, str]]:
        return {_source(each, dataset=dataset) for each in sources(expression)}

    told: set[tuple[str, str]] = set()
    if isinstance(statistic, Conditioned):
        told |= read(Holds(of=statistic.of))
    for name in _outcome(statistic):
        told |= read(resolve(name, table=table, dataset=dataset))
    for name in statistic.covariates:
        if told & read(resolve(name, table=table, dataset=dataset)):
            raise ContractError(
                f"The covariate {name!r} is read from the column that the outcome is made of, so "
                "the outcome would be explained by itself.",
                hint="Leave it out of the covariates.",
            )


def _outcome(statistic: Statistic) -> Iterator[str]:
    """Yield the columns that an outcome is made of, beside its condition."""
    if isinstance(statistic, WithOutcome):
        yield statistic.outcome
    if isinstance(statistic, WithEvents) and statistic.events:
        yield statistic.events
    if isinstance(statistic, InIntervals) and statistic.time:
        yield statistic.time


def _source(read: ColumnOf | ValueOf, *, dataset: Dataset) -> tuple[str, str]:
    """Return table and column of the data: one of them may be declared under several names."""
    match read:
        case ColumnOf(table=table, column=column):
            return table, dataset.table(table).column(column).source
        case ValueOf(name=name):
            return "", name
