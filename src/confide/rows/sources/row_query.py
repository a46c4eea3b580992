"""A table that is written as a query: one SELECT over one table, whose rows come from one row each.

What is read here is its form; :mod:`.row_expressions` writes the query that runs.  Nothing of the
steward's text is run: each part that is known is built anew, and what is not known is refused.  So
a parser that took a text for something else than its writer meant can change what is counted, and
nobody's sensitivity.

*Privacy:* a row that comes out is a function of one row of the table and of one element of each of
its lists, and its person id is one of that row alone (:func:`.row_expressions.relation_of`).
Whoever is added to the table or removed from it therefore adds or removes their own rows of the
query, and nobody else's change.  Grouping, joins, windows, limits, samples, sub-queries and random
numbers have no place in this form.
"""

import re
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, TokenError

from confide.errors import ContractError
from confide.tables.schema import Table

FORM = (
    "Write SELECT expression AS name, ... FROM one_table, UNNEST(list) AS e(element) WHERE "
    "condition; UNNEST and WHERE may be left out."
)
_ONE_ROW = (
    "Each row must come from one row of one table. Leave it out: statistics group and count, "
    "`per-patient` looks at several rows of a patient, `where` and `only` choose rows."
)
_PATH = re.compile(r'\$(\.[A-Za-z_][A-Za-z0-9_]*|\."[^"\\]+"|\[[0-9]+\]|\[\*\])*', re.ASCII)
_PATHS = (
    "A path begins with $ and has keys, places and [*]: '$.code.coding[0].code', '$.entry[*]', "
    "'$.\"two words\"'."
)
MOST_LISTS = 5
MOST_DEEP = 20
"""Levels of a query; what is built of it must be written as text whoever asks, at any depth."""
_CALLED = {"with_": "WITH", "from_": "FROM", "group": "GROUP BY", "order": "ORDER BY"}
_PARTS = {"expressions", "from_", "joins", "where"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A list of the row, of which each element makes a row.

    Attributes:
        alias: Of the list, as of a table.
        name: Of its element.
        of: The list.
    """

    alias: str
    name: str
    of: exp.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """The form of a query, with expressions as they were written.

    Attributes:
        base: The table of the source, by its name, or by its schema and its name.
        alias: What the query calls it.
        lists: In order; one may be of an element of those before it.
        columns: Pairs of a name and what the column is.
        where: Which rows are rows of the table; None for all.
    """

    base: str
    alias: str
    lists: tuple[ListOf, ...]
    columns: tuple[tuple[str, exp.Expr], ...]
    where: exp.Expr | None


def row_query(table: Table) -> RowQuery:
    """Return the form of a table's query.

    Raises:
        ContractError: If it has another one.

    Example:
        >>> lab = Table(name="lab", source="lab", columns=(), query="SELECT pid FROM raw AS r")
        >>> row_query(lab).base, row_query(lab).alias
        ('raw', 'r')
    """
    query = _parsed(table)
    for part, value in query.args.items():
        if value and part not in _PARTS:
            word = _CALLED.get(part, part.strip("_").upper().replace("_", " "))
            raise refused(table, f"has {word}", hint=_ONE_ROW)
    origin = query.args.get("from_")
    base = None if origin is None else origin.this
    if not isinstance(base, exp.Table):
        raise refused(table, "names no table after FROM", hint=FORM)
    _require_plain_table(base, table=table)
    joins = query.args.get("joins") or ()
    if len(joins) > MOST_LISTS:
        hint = "Store what it flattens as a table of its own."
        raise refused(table, f"has more than {MOST_LISTS} UNNEST", hint=hint)
    where = query.args.get("where")
    return RowQuery(
        base=".".join(part.name for part in base.parts),
        alias=base.alias_or_name,
        lists=tuple(_list(join, table=table) for join in joins),
        columns=_columns(query.expressions, table=table),
        where=None if where is None else where.this,
    )


def refused(table: Table, why: str, *, hint: str) -> ContractError:
    """Return the refusal of a table's query."""
    return ContractError(f"Table {table.name!r}: its query {why}.", hint=hint)


def _parsed(table: Table) -> exp.Select:
    parsed: list[Any] = []
    try:
        _require_paths(table)
        parsed = list(filter(None, sqlglot.parse(table.query, read="duckdb")))
    except (ParseError, TokenError, ValueError, RecursionError) as error:
        if isinstance(error, ContractError):
            raise
        at = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
        where = f" (line {at['line']})" if at.get("line") else ""
        raise refused(table, f"cannot be read as SQL{where}", hint=FORM) from None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Select):
        raise refused(table, "is not one SELECT", hint=FORM)
    if _deep(parsed[0]):
        hint = "Write fewer functions within one another, IN for many =, and `where` in studies."
        raise refused(table, f"is nested in more than {MOST_DEEP} levels", hint=hint)
    return parsed[0]


def _deep(query: exp.Select) -> bool:
    """Return whether it has more levels than are read; it may have so many that recursion ends."""
    level: list[Any] = [query]
    for _ in range(MOST_DEEP + 1):
        level = [child for node in level for child in node.iter_expressions()]
    return bool(level)


def _require_paths(table: Table) -> None:
    """Refuse what the parser would take for another path than it is."""
    tokens = sqlglot.tokenize(table.query, read="duckdb")
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        called = after is not None and after.token_type is TokenType.L_PAREN
        if called and token.text.lower().startswith("json"):
            raise refused(
                table,
                f"calls {token.text}",
                hint="Write json -> '$.path' for JSON, or json ->> '$.path' for text.",
            )
        if token.token_type in (TokenType.ARROW, TokenType.DARROW):
            path = after is not None and after.token_type is TokenType.STRING and after.text
            if not path or not _PATH.fullmatch(path):
                raise refused(table, "has a path that is not read", hint=_PATHS)


def _require_plain_table(base: exp.Table, *, table: Table) -> None:
    parts = (exp.Identifier,) * len(base.parts)
    others = {name for name, value in base.args.items() if value} - {"this", "db", "alias"}
    alias = base.args.get("alias")
    renamed = alias is not None and alias.args.get("columns")
    if others or renamed or not all(map(isinstance, base.parts, parts)):
        why = "reads something else than one table of the source after FROM"
        raise refused(table, why, hint=FORM)


def _list(join: exp.Join, *, table: Table) -> ListOf:
    """Return what one UNNEST says; any other join is refused."""
    unnest, kind = join.this, join.args.get("kind") or ""
    others = {name for name, value in join.args.items() if value} - {"this", "kind"}
    if not isinstance(unnest, exp.Unnest) or others or kind not in ("", "CROSS"):
        raise refused(table, "joins another table", hint=_ONE_ROW)
    alias: Any = unnest.args.get("alias") or exp.TableAlias()
    columns = alias.args.get("columns") or []
    beyond = {name for name, value in unnest.args.items() if value} - {"expressions", "alias"}
    if len(unnest.expressions) != 1 or len(columns) != 1 or beyond or not alias.name:
        hint = "Write UNNEST(list) AS e(element), with one list and one name for its element."
        raise refused(table, "has an UNNEST that is not read", hint=hint)
    return ListOf(alias=alias.name, name=columns[0].name, of=unnest.expressions[0])


def _columns(written: list[exp.Expr], *, table: Table) -> tuple[tuple[str, exp.Expr], ...]:
    columns = tuple(_named(each, table=table) for each in written)
    folded = [name.lower() for name, _ in columns]
    for name in folded:
        if folded.count(name) > 1:
            hint = "Give each column a name of its own; capitals make no difference."
            raise refused(table, f"names a column {name!r} twice", hint=hint)
    return columns


def _named(written: exp.Expr, *, table: Table) -> tuple[str, exp.Expr]:
    if isinstance(written, exp.Alias):
        return written.alias, written.this
    if isinstance(written, exp.Column | exp.Dot) and not written.find(exp.Star):
        return written.name, written
    if written.find(exp.Star):
        raise refused(table, "has a *", hint="Name each column that dataset.yaml declares.")
    raise refused(
        table, f"has no name for {shown(written)}", hint="Write a name: expression AS name."
    )


def shown(written: exp.Expr) -> str:
    """Return the beginning of what the steward wrote."""
    text = written.sql("duckdb", comments=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def identifiers(written: exp.Expr) -> list[str] | None:
    """Return the names of a column and of fields within it; None if it is something else."""
    names: list[str] = []
    while isinstance(written, exp.Dot):
        if not isinstance(written.expression, exp.Identifier):
            return None
        names.append(written.expression.name)
        written = written.this
    if not isinstance(written, exp.Column):
        return None
    if not all(isinstance(part, exp.Identifier) for part in written.parts):
        return None
    return [*(part.name for part in written.parts), *reversed(names)]
