"""The few SQL forms that queries are made of, as SQLGlot nodes.

Nodes are made directly, because SQLGlot's fluent methods copy the whole tree at every step; a node
may occur in several places, and is copied once, when text is generated.  Arithmetic and conditions
come in parentheses, so that no precedence is ever relied on.  Our own names are always quoted.
"""

from collections.abc import Sequence

from sqlglot import exp

from confide.rows.cells.operations import Xor

BIGINT = exp.DType.BIGINT
HUGEINT = exp.DType.INT128
INT = exp.DType.INT
SMALLINT = exp.DType.SMALLINT
TINYINT = exp.DType.TINYINT
DOUBLE = exp.DType.DOUBLE
FLOAT = exp.DType.FLOAT
DATE = exp.DType.DATE
VARCHAR = exp.DType.VARCHAR
NULL = exp.Null()
STAR = exp.Star()
AS_ONE = "as one"
"""What marks a nested query that need not be kept apart."""


def num(value: int) -> exp.Expr:
    """Return an integer literal."""
    literal = exp.Literal.number(abs(value))
    return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal


def string(value: str) -> exp.Expr:
    """Return a text literal."""
    return exp.Literal.string(value)


def own(name: str, table: str | None = None) -> exp.Column:
    """Return a column of the query, of one of its tables when given."""
    of = None if table is None else exp.to_identifier(table, quoted=True)
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=of)


def own_table(name: str, alias: str | None = None) -> exp.Table:
    """Return a common table expression or registered table of the query."""
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    return table if alias is None else aliased(table, alias)


def aliased(table: exp.Table, alias: str) -> exp.Table:
    """Return a table under another name."""
    table = table.copy()
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return table


def named(value: exp.Expr, name: str) -> exp.Expr:
    """Return a value under a name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def select(
    *columns: exp.Expr,
    of: exp.Query | exp.Table | exp.Subquery,
    alias: str = "q",
    where: Sequence[exp.Expr] = (),
    by: Sequence[exp.Expr] = (),
    joins: Sequence[exp.Join] = (),
) -> exp.Select:
    """Return SELECT columns FROM a query (under ``alias``) or table."""
    origin = of if isinstance(of, exp.Table | exp.Subquery) else nested(of, alias)
    query = exp.Select(expressions=list(columns), from_=exp.From(this=origin))
    if joins:
        query.set("joins", list(joins))
    if where:
        query.set("where", exp.Where(this=every(*where)))
    if by:
        query.set("group", exp.Group(expressions=list(by)))
    return query


def nested(query: exp.Query, alias: str = "q") -> exp.Subquery:
    """Return a query in parentheses, to be selected from."""
    return exp.Subquery(
        this=query, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    )


def as_one(query: exp.Query) -> exp.Query:
    """Let an engine that keeps nested queries apart plan a query as a whole."""
    for node in query.find_all(exp.Subquery, exp.CTE):
        node.meta[AS_ONE] = True
    return query


def left_join(table: exp.Expr, *, on: exp.Expr) -> exp.Join:
    """Return LEFT JOIN; what is joined must have at most one row per key."""
    return exp.Join(this=table, on=on, side="LEFT")


def ranked(order: Sequence[exp.Expr], *, by: Sequence[str]) -> exp.Expr:
    """Return ``rk``: the rank of a row among the rows that agree in ``by``, in the given order."""
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[own(column) for column in by],
        order=exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in order]),
    )
    return named(window, "rk")


def place(name: str) -> exp.Expr:
    """Return the place of a row, in no order: what tells it from the others, and nothing more."""
    return named(exp.Window(this=exp.RowNumber()), name)


def plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return a sum."""
    return exp.Paren(this=exp.Add(this=left, expression=right))


def minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return a difference."""
    return exp.Paren(this=exp.Sub(this=left, expression=right))


def times(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return a product."""
    return exp.Paren(this=exp.Mul(this=left, expression=right))


def over(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return a whole quotient, rounded towards zero."""
    return exp.Paren(this=exp.IntDiv(this=left, expression=right))


def rest(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return the rest of a division, with the sign of ``left``."""
    return exp.Paren(this=exp.Mod(this=left, expression=right))


def less(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return left < right."""
    return exp.Paren(this=exp.LT(this=left, expression=right))


def bit_and(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return the bits that both have."""
    return exp.Paren(this=exp.BitwiseAnd(this=left, expression=right))


def bit_xor(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return the sum without carry."""
    return Xor(this=left, expression=right)


def shifted_right(left: exp.Expr, places: int) -> exp.Expr:
    """Return an integer without its lowest bits; the sign stays."""
    return exp.Paren(this=exp.BitwiseRightShift(this=left, expression=num(places)))


def at_most(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return left ≤ right."""
    return exp.Paren(this=exp.LTE(this=left, expression=right))


def equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return left = right."""
    return exp.Paren(this=exp.EQ(this=left, expression=right))


def missing(value: exp.Expr) -> exp.Expr:
    """Return value IS NULL."""
    return exp.Paren(this=exp.Is(this=value, expression=NULL))


def negated(condition: exp.Expr) -> exp.Expr:
    """Return NOT condition."""
    return exp.Paren(this=exp.Not(this=condition))


def present(value: exp.Expr) -> exp.Expr:
    """Return NOT value IS NULL."""
    return negated(missing(value))


def every(*conditions: exp.Expr) -> exp.Expr:
    """Return the conjunction; TRUE of none."""
    return _joined(exp.And, conditions) if conditions else exp.true()


def some(*conditions: exp.Expr) -> exp.Expr:
    """Return the disjunction; FALSE of none."""
    return _joined(exp.Or, conditions) if conditions else exp.false()


def _joined(kind: type[exp.Connector], conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Halve the list, so that long ones stay shallow."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    left, right = _joined(kind, conditions[:middle]), _joined(kind, conditions[middle:])
    return exp.Paren(this=kind(this=left, expression=right))


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr) -> exp.Expr:
    """Return CASE WHEN … THEN … ELSE default END."""
    return exp.Case(
        ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=default
    )


def cast(value: exp.Expr, to: exp.DType) -> exp.Expr:
    """Return a cast that cannot fail on what it is given."""
    return exp.Cast(this=value, to=exp.DataType(this=to))


def try_cast(value: exp.Expr, to: exp.DType) -> exp.Expr:
    """Return a cast whose failure is NULL."""
    return exp.TryCast(this=value, to=exp.DataType(this=to))


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function by its name, which is ours."""
    return exp.func(function, *arguments, copy=False)
