"""Our own names inside a query, always quoted; names of the data occur in ``person_rows`` alone."""

from collections.abc import Sequence

from sqlglot import exp


def own(name: str, table: str | None = None) -> exp.Column:
    """Return a column of the query, of one of its tables when given."""
    of = None if table is None else exp.to_identifier(table, quoted=True)
    return exp.column(exp.to_identifier(name, quoted=True), of)


def own_table(name: str) -> exp.Table:
    """Return a common table expression of the query."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def sub(query: exp.Query, alias: str = "q") -> exp.Subquery:
    """Return a query in parentheses, to be selected from."""
    return query.subquery(exp.to_identifier(alias, quoted=True), copy=False)


def ranked(order: Sequence[exp.Expr], *, by: Sequence[str]) -> exp.Expr:
    """Return ``rk``: the rank of a row among the rows that agree in ``by``, in the given order."""
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[own(column) for column in by],
        order=exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in order]),
    )
    return exp.alias_(window, "rk", quoted=True)
