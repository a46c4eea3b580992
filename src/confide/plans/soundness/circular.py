"""Refuse a model that would explain an outcome by the very column that the outcome is made of.

*Utility:* such a fit separates perfectly; its coefficients are those of the noise, and it is
charged.  Names are public.
"""

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.tables.expression import ColumnOf, Expression, Holds, ValueOf
from confide.tables.filter import Predicate, sources
from confide.tables.relation import resolve
from confide.tables.schema import Dataset


def require_explained_by_others(statistic: Statistic, *, table: str, dataset: Dataset) -> None:
    """Refuse a regression that has the column of its outcome, or bins of it, as a covariate.

    The follow-up of a hazard (a model with edges of time) is part of its outcome; the person-time
    of a rate is not.

    Raises:
        ContractError: With the name of the covariate.
    """
    covariates: tuple[str, ...] = getattr(statistic, "covariates", ())
    if not covariates:
        return

    def read(expression: Expression) -> set[tuple[str, str]]:
        return {_source(each, dataset=dataset) for each in sources(expression)}

    told: set[tuple[str, str]] = set()
    condition: Predicate | None = getattr(statistic, "of", None)
    if condition is not None:
        told |= read(Holds(of=condition))
    keys = ("outcome", "events", *(("time",) if hasattr(statistic, "edges") else ()))
    for name in filter(None, (getattr(statistic, key, None) for key in keys)):
        told |= read(resolve(name, table=table, dataset=dataset))
    for name in covariates:
        if told & read(resolve(name, table=table, dataset=dataset)):
            raise ContractError(
                f"The covariate {name!r} is read from the column that the outcome is made of, so "
                "the outcome would be explained by itself.",
                hint="Leave it out of the covariates.",
            )


def _source(read: ColumnOf | ValueOf, *, dataset: Dataset) -> tuple[str, str]:
    """Return table and column of the data: one of them may be declared under several names."""
    match read:
        case ColumnOf(table=table, column=column):
            return table, dataset.table(table).column(column).source
        case ValueOf(name=name):
            return "", name
