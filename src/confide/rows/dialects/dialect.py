"""What a dialect is: the writer of every operation, as a dialect of SQLGlot.

A dialect writes each class of :mod:`confide.rows.cells.operations` as text for its engine, and
whatever SQLGlot writes otherwise than the engine reads.  One that lacks an operation is refused
when it is made.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlglot import exp
from sqlglot.generator import Generator

from confide.errors import ContractError
from confide.rows.cells.operations import OPERATIONS

Writer: TypeAlias = Callable[[Any, Any], str]
"""What writes a node: of SQLGlot's generator and the node."""


def complete(writers: Mapping[type[exp.Expr], Writer]) -> dict[type[exp.Expr], Writer]:
    """Return the writers of a dialect.

    Raises:
        ContractError: If an operation is lacking.
    """
    lacking = sorted(each.__name__ for each in OPERATIONS if each not in writers)
    if lacking:
        raise ContractError(f"A dialect lacks {', '.join(lacking)}.")
    return dict(writers)


def as_tree(tree: Callable[[Any], exp.Expr]) -> Writer:
    """Return the writer that writes an operation as another tree."""

    def write(generator: Generator, node: Any) -> str:
        return generator.sql(tree(node))

    return write
