"""Which rows stand at a kink of a module: where the last bits of a float turn its gradient.

The gradient of a rectifier jumps at 0.  A sum that is 0 for a row alone may be 10⁻¹⁷ in a batch, as
it is added up in another order there; then the row's gradient is another one, however little the
two sums differ.  So rows whose argument is within NEAR of 0, in parts of its largest size, are
named, and so is every row if the module does what is not known to be smooth.

*Privacy:* a row that is not named is further from every kink than floats differ by, here 2²² times
their rounding, so it is on the same side in each batch.  What a module does is read off its program
(:mod:`.row_program`), operation by operation; an operation that is on no list counts as a kink.

*Utility:* of a million arguments one or none is so near to 0; a module that takes largest numbers
or cuts them costs a pass for each patient.
"""

import operator
from typing import Any

from confide.jobs.learning.row_program import RowProgram, operation

NEAR = 2.0**-30
_AT_ZERO = frozenset({"relu", "leaky_relu", "elu", "_prelu_kernel"})
_SOFTPLUS = (1.0, 20.0)
"""Its steepness, and where PyTorch goes on with a straight line, if nothing is said."""
_SMOOTH = frozenset(
    (
        # Shapes, copies and constants.
        *("view", "_unsafe_view", "reshape", "t", "transpose", "permute", "squeeze", "unsqueeze"),
        *("expand", "select", "slice", "cat", "stack", "split", "split_with_sizes", "unbind"),
        *("clone", "detach", "alias", "contiguous", "lift_fresh_copy", "select_backward"),
        *("slice_backward", "unfold", "flip", "roll", "repeat", "gather", "scatter_add", "pad"),
        *("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "empty", "empty_like"),
        *(
            "new_zeros",
            "new_ones",
            "new_full",
            "fill",
            "scalar_tensor",
            "arange",
            "constant_pad_nd",
        ),
        *("index_select", "diagonal", "as_strided", "unsqueeze_copy", "view_copy", "t_copy"),
        # Sums and products.
        *(
            "add",
            "sub",
            "rsub",
            "mul",
            "neg",
            "addmm",
            "mm",
            "bmm",
            "baddbmm",
            "addmv",
            "mv",
            "dot",
        ),
        *("addcmul", "sum", "mean", "cumsum", "square"),
        *("convolution", "convolution_backward", "_convolution", "avg_pool2d", "linear"),
        *("avg_pool2d_backward", "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward"),
        # Functions with a bounded derivative everywhere, and what goes back through them.
        *("exp", "expm1", "sin", "cos", "tanh", "tanh_backward", "sigmoid", "erf", "atan"),
        *("sigmoid_backward", "gelu", "gelu_backward", "silu", "silu_backward"),
        *("mish", "mish_backward", "_softmax", "_softmax_backward_data", "_log_softmax", "cosh"),
        *("_log_softmax_backward_data", "native_layer_norm", "native_layer_norm_backward", "sinh"),
        *("native_group_norm", "native_group_norm_backward", "log_sigmoid_forward"),
        *("log_sigmoid_backward",),
        # Back through what has a kink, at which its row was named going forth.
        *("threshold_backward", "leaky_relu_backward", "elu_backward", "softplus_backward"),
        *("_prelu_kernel_backward",),
    )
)


def smooth(program: RowProgram) -> bool:
    """Return whether all kinks of a module are ones of which the rows can be told."""
    return all(_is_smooth(each) for each in program.graph.graph.nodes)


def _is_smooth(node: Any) -> bool:
    if node.op != "call_function" or node.target is operator.getitem:
        return True
    name = operation(node)
    if name == "div":  # by a number, not by what a row may take to 0
        return isinstance(node.args[1], int | float)
    if name == "pow":
        return isinstance(node.args[1], int) and node.args[1] >= 0
    return name in _SMOOTH or name in _AT_ZERO or name == "softplus"


def with_kinks(program: RowProgram) -> Any:
    """Return the program that also says whether its row stands at a kink it can be told of."""
    import torch

    class Watching(torch.fx.Interpreter):  # type: ignore[misc]
        """Runs operation by operation; ``near`` is of the row that it is run on."""

        near: Any

        def run_node(self, n: Any) -> Any:
            name = operation(n)
            if name in _AT_ZERO:
                self.near = self.near | _near(self.fetch_args_kwargs_from_env(n)[0][0])
            elif name == "softplus":  # a straight line from there on
                argument, *given = self.fetch_args_kwargs_from_env(n)[0]
                said = [*given, *_SOFTPLUS[len(given) :]]
                beta, edge = said[0], said[1]
                self.near = self.near | _near(argument * beta - edge)
            return super().run_node(n)

    def run(trained: list[Any], frozen: list[Any], row: Any, of: Any) -> tuple[Any, Any]:
        watching = Watching(program.graph)
        watching.near = torch.zeros((), dtype=torch.bool)
        found = watching.run(*trained, *frozen, row, of)
        return found, watching.near

    return run


def _near(argument: Any) -> Any:
    import torch

    sizes = torch.abs(argument)
    far = sizes.amin() > NEAR * torch.clamp(sizes.amax(), min=1.0)
    return torch.logical_not(far)  # what is no number is not far
