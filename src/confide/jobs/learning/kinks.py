"""Which rows stand at a kink of a module: where the last bits of a float turn its gradient.

The gradient of a rectifier jumps at 0.  A sum that is 0 for a row alone may be 10⁻¹⁷ in a batch, as
it is added up in another order there; then the row's gradient is another one, however little the
two sums differ.  So rows whose argument is within NEAR of 0, in parts of its largest size, are
named, and so is every row if the module does what is not known to be smooth.

*Privacy:* a row that is not named is further from every kink than floats differ by, here 2²² times
their rounding, so it is on the same side in each batch.  What a module does is read off its program
(:mod:`.row_program`), operation by operation; an operation that is on no list counts as a kink, and
so does what looks up by an index that depends on the row.  What goes back does so only through what
went forth at the same place, where its kinks are told of.  So an operation that may fail on a row's
numbers is never run on a block of rows.

*Utility:* of a million arguments one or none is so near to 0; a module that takes largest numbers
or cuts them costs a pass for each patient.
"""

import operator
from typing import Any

from confide.jobs.learning.operations import (
    AT_ZERO,
    BACK_THROUGH,
    LOOKS_UP,
    SMOOTH,
    arguments,
    name_of_operation,
    of_row,
    value_of,
)
from confide.jobs.learning.row_program import RowProgram

NEAR = 2.0**-30


def smooth(program: RowProgram) -> bool:
    """Return whether all kinks of a module are ones of which the rows can be told."""
    own = of_row(program.graph)
    return all(_is_smooth(each, own=own) for each in program.graph.graph.nodes)


def _is_smooth(node: Any, *, own: frozenset[Any]) -> bool:
    if node.op != "call_function" or node.target is operator.getitem:
        return True
    name = name_of_operation(node)
    if node in own and _is_short(node):  # lanes and margins are of numbers of 8 bytes
        return False
    if name in LOOKS_UP:  # by class alone, or by what is the same for everybody
        return not any(each in own and not _floats(each) for each in node.all_input_nodes)
    if name in ("div.Tensor", "div.Scalar"):  # by a number, not by what a row may take to 0
        return isinstance(arguments(node)["other"], int | float)
    if name == "pow.Tensor_Scalar":
        exponent = arguments(node)["exponent"]
        return isinstance(exponent, int) and exponent >= 0
    told = name in AT_ZERO or name == "softplus.default"
    return (
        name in SMOOTH or name in BACK_THROUGH or told
    )  # of what goes back, what went forth tells


def _is_short(node: Any) -> bool:
    """Return whether an operation gives floating-point numbers of less than 8 bytes."""
    import torch

    held = value_of(node)
    each = held if isinstance(held, tuple | list) else (held,)
    return any(isinstance(one, torch.Tensor) and one.dtype == torch.float32 for one in each)


def _floats(node: Any) -> bool:
    return bool(value_of(node).dtype.is_floating_point)


def with_kinks(program: RowProgram) -> Any:
    """Return the program that also says whether its row stands at a kink it can be told of.

    It is a plain function, one line an operation: an interpreter writes what it does, and what
    fails, into logs; calls of modules run hooks.
    """
    import torch

    nodes, near = torch.fx.Graph(), None
    gradient = nodes.graph_copy(program.graph.graph, {})
    for node in list(nodes.nodes):
        name = name_of_operation(node)
        with nodes.inserting_before(node):
            if name in AT_ZERO:
                found = nodes.call_function(_near, (arguments(node)["self"],))
            elif name == "softplus.default":  # a straight line from there on
                given = arguments(node)
                beside = (given["self"], given["beta"], given["threshold"])
                found = nodes.call_function(_near, beside)
            else:
                continue
            near = found if near is None else nodes.call_function(operator.or_, (near, found))
    nodes.output((*gradient, nodes.call_function(_never) if near is None else near))
    lines = torch.fx.GraphModule(program.graph, nodes)

    def run(trained: list[Any], frozen: list[Any], row: Any, of: Any) -> tuple[Any, Any]:
        found: tuple[Any, Any] = lines.forward(*trained, *frozen, row, of)
        return found

    return run


def _near(argument: Any, beta: float = 1.0, edge: float = 0.0) -> Any:
    import torch

    beside = argument * beta - edge
    sizes = torch.abs(beside)
    far = sizes.amin() > NEAR * torch.clamp(sizes.amax(), min=1.0)
    return torch.logical_not(far)  # what is no number is not far


def _never() -> Any:
    import torch

    return torch.zeros((), dtype=torch.bool)
