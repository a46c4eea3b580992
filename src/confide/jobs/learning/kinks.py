"""Which rows stand at a kink of a module: where the last bits of a float turn its gradient.

The gradient of a rectifier jumps at 0.  A sum that is 0 for a row alone may be 10⁻¹⁷ in a batch, as
it is added up in another order there; then the row's gradient is another one, however little the
two sums differ.  So rows whose argument is within NEAR of 0, in parts of its largest size, are
named, and so is every row if the module does what has kinks elsewhere or compares numbers.

*Privacy:* a row that is not named is further from every kink than floats differ by, here 2²² times
their rounding, so it is on the same side in each batch.  What a module does in its forward pass is
seen operation by operation, in its layers and in code of its own alike.

*Utility:* of a million arguments one or none is so near to 0; a module that takes largest numbers
or cuts them costs a pass for each patient.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAR = 2.0**-30
_AT_ZERO = frozenset({"relu", "leaky_relu", "elu", "_prelu_kernel"})
_SOFTPLUS = (1.0, 20.0)
"""Its steepness, and where PyTorch goes on with a straight line, if nothing is said."""
_ELSEWHERE = (
    *("hardtanh", "hardswish", "hardsigmoid", "hardshrink", "softshrink", "threshold", "rrelu"),
    *("max", "min", "amax", "amin", "maximum", "minimum", "fmax", "fmin", "aminmax", "median"),
    *("abs", "sgn", "sign", "clamp", "clamp_min", "clamp_max", "where", "masked_fill", "heaviside"),
    *("gt", "ge", "lt", "le", "eq", "ne", "topk", "sort", "argmax", "argmin", "kthvalue", "mode"),
    *("floor", "ceil", "round", "trunc", "frac", "fmod", "remainder", "isnan", "bucketize"),
    *("max_pool1d", "max_pool2d_with_indices", "max_pool3d_with_indices"),
    *("adaptive_max_pool2d", "adaptive_max_pool3d", "_local_scalar_dense", "_to_copy"),
)
_KINKED = frozenset(_ELSEWHERE)


def forward_with_kinks(forward: Callable[[], Any], *, rows: int) -> tuple[Any, NDArray[np.bool_]]:
    """Return what a forward pass returns, and which of its rows stand at a kink.

    Args:
        forward: Runs the module.
        rows: Of the batch.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    found = np.zeros(rows, dtype=np.bool_)

    class Watching(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = str(func._schema.name).removeprefix("aten::").rstrip("_")  # noqa: SLF001
            if name in _KINKED:
                found[:] = True
            elif name in _AT_ZERO:
                _mark(found, args[0].detach())
            elif name == "softplus":  # a straight line from there on
                beta, edge = tuple(args[1:]) + _SOFTPLUS[len(args) - 1 :]
                _mark(found, args[0].detach() * beta - edge)
            return func(*args, **(kwargs or {}))

    def _mark(into: NDArray[np.bool_], argument: Any) -> None:
        if argument.ndim == 0 or argument.shape[0] != rows:
            into[:] = True
            return
        sizes = torch.abs(argument.reshape(rows, -1))
        if sizes.shape[1]:
            far = sizes.amin(dim=1) > NEAR * torch.clamp(sizes.amax(dim=1), min=1.0)
            into |= ~far.numpy()  # what is no number is not far

    with Watching():
        outputs = forward()
    return outputs, found
