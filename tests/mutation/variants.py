"""Variants of a module: each differs from it in one place, as a slip of the pen would.

Comparisons move by one, operators and bounds are swapped, conditions are turned round, calls that
only refuse are left out, numbers grow by one, and what is returned is lost.  Words are left as they
are: other tests read them.  A variant keeps every line where it was, so that the tests of a line
are those of its variants.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARED: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
}
CALCULATED: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.FloorDiv(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
    ast.Pow: ast.Mult(),
    ast.LShift: ast.RShift(),
    ast.RShift: ast.LShift(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
}
NAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One place of a module written otherwise.

    Attributes:
        line: Where it is, from 1.
        was: The text that stood there.
        now: The text that stands there.
        within: The function or class that it is part of.
        at_import: Whether it runs as the module is imported, not as a function of it is called.
        text: The whole module.
    """

    line: int
    was: str
    now: str
    within: str
    at_import: bool
    text: str

    @property
    def of_no_type(self) -> bool:
        """Whether it changes only what runs for a value that no type allows: mypy excludes it."""
        return self.was.startswith("assert_never(")


def variants(source: str) -> Iterator[Variant]:
    """Yield every variant of a module, in the order of its text."""
    lines = source.split("\n")
    for node, other, within, at_import in _within(ast.parse(source), name="", at_import=True):
        was = ast.get_source_segment(source, node)
        if was is None or node.end_lineno is None or node.end_col_offset is None:
            continue
        first, last = node.lineno - 1, node.end_lineno - 1
        before = lines[first].encode()[: node.col_offset].decode()
        after = lines[last].encode()[node.end_col_offset :].decode()
        now = other + "\n" * was.count("\n")  # every later line stays where it was
        if isinstance(node, ast.expr):
            now = f"({now})"
        text = "\n".join([*lines[:first], before + now + after, *lines[last + 1 :]])
        yield Variant(
            line=node.lineno, was=was, now=other, within=within, at_import=at_import, text=text
        )


def _within(node: ast.AST, *, name: str, at_import: bool) -> Iterator[tuple[Any, str, str, bool]]:
    """Yield every place, what may stand there, of what it is part, and whether it is imported."""
    called = {id(each) for each in getattr(node, "body", ())} if _is_function(node) else set()
    for child in _run_children(node):
        inner, early = name, at_import and id(child) not in called
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}".lstrip(".")
        others = [*_other_expressions(child), *(_other_statements(child) if name else ())]
        for other in others:
            yield child, other, name, early
        if isinstance(child, ast.If | ast.While) and isinstance(
            child.test, ast.Name | ast.Call | ast.Attribute
        ):
            yield child.test, f"not {ast.unparse(child.test)}", name, early
        yield from _within(child, name=inner, at_import=early)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _run_children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is run when a program runs: no decorators, no types, no docstrings, no words."""
    for field, value in ast.iter_fields(node):
        if field in {"decorator_list", "annotation", "returns", "type_params", "bases", "keywords"}:
            if field == "keywords" and not isinstance(node, ast.ClassDef):
                yield from value
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.JoinedStr) or not isinstance(each, ast.AST):
                continue
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                continue
            if isinstance(each, ast.Import | ast.ImportFrom) or _is_type(each):
                continue
            yield each


def _other_expressions(node: ast.AST) -> Iterator[str]:
    """Yield what may stand in place of an expression."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            swapped = ast.Compare(left=left, ops=[COMPARED[type(op)]], comparators=[right])
            yield ast.unparse(swapped)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in CALCULATED:
            if not _is_text(left) and not _is_text(right):
                yield ast.unparse(ast.BinOp(left=left, op=CALCULATED[type(op)], right=right))
        case ast.BoolOp(op=op, values=values):
            turned: ast.boolop = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield ast.unparse(ast.BoolOp(op=turned, values=values))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield ast.unparse(operand)
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.Name(id=name) if name in NAMED:
            yield NAMED[name]
        case ast.Attribute(value=of, attr=name) if name in NAMED:
            yield f"{ast.unparse(of)}.{NAMED[name]}"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.unparse(
                ast.IfExp(test=ast.UnaryOp(ast.Not(), test), body=body, orelse=orelse)
            )


def _other_statements(node: ast.AST) -> Iterator[str]:
    """Yield what may stand in place of a statement of a function or class."""
    match node:
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield "return None"
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield "pass"


def _is_type(node: ast.AST) -> bool:
    """Return whether a statement only gives a type a name."""
    alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).endswith("TypeAlias")
    return alias or type(node).__name__ == "TypeAlias"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
