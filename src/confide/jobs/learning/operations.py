"""PyTorch's operations that a module may be made of: a list of those that keep to one row.

PyTorch has more than two thousand.  Some read memory beside a row where a length says so, some end
the process on a number that one patient has, some have no rule by which ``vmap`` widens them and
say so on standard error once a pass.  So what may be used is a list, by overload: what works number
by number, products, sums and orders within a row, shapes, pooling and looking up, whose places are
checked against bounds; all give the same bits each time and have a rule in ``vmap``.

*Lemma* (to itself).  An operation on the list reads its arguments and writes its result and no
other memory, whatever numbers they hold; with ``vmap`` an argument is a row's own.  Three kinds
need more than their name.  What goes back through a layer trusts what it is given to be of that
layer, and reads beyond it where it is not; so it stands here only after just that one
(:data:`BACK_THROUGH`).  A table that itself depends on the row is laid end to end with others' by
``vmap``, where an index beyond it finds them; so a table may not.  Whole numbers are not divided: a
processor stops at 0, and at the least one by −1.  That the listed operations are so is read off
PyTorch's sources and tried on hostile numbers, not proved.  ∎

What may *fail* on a row's numbers, on this list, is looking up beyond a table: :data:`LOOKS_UP`.
"""

import itertools
import operator
from typing import Any

from confide.errors import ContractError


def _named(words: str) -> frozenset[str]:
    """Return operations by overload, of which ``default`` need not be said."""
    return frozenset(word if "." in word else f"{word}.default" for word in words.split())


LOOKS_UP = _named(
    "gather scatter.src scatter.value scatter_add index.Tensor index_put index_select index_add "
    "embedding embedding_dense_backward"
)
"""By an index, which is checked: fails where it is beyond its table."""

AT_ZERO = _named("relu leaky_relu elu _prelu_kernel")
"""Rectifiers, whose derivative jumps where their first argument is 0."""

SMOOTH = _named(
    # Shapes, copies and constants.
    "view _unsafe_view t transpose.int permute squeeze squeeze.dim squeeze.dims unsqueeze expand "
    "select.int slice.Tensor cat stack split.Tensor split_with_sizes unsafe_split.Tensor "
    "unbind.int clone detach alias lift_fresh_copy select_backward "
    "slice_backward unfold flip roll repeat constant_pad_nd diagonal zeros ones full zeros_like "
    "ones_like full_like new_zeros new_ones new_full scalar_tensor arange arange.start "
    "arange.start_step linspace eye eye.m "
    # Sums and products.
    "add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar neg "
    "addmm mm bmm baddbmm addmv mv dot addcmul sum sum.dim_IntList mean mean.dim cumsum "
    "convolution avg_pool2d _adaptive_avg_pool2d "
    # Functions with a bounded derivative everywhere.
    "exp expm1 sin cos tanh sigmoid erf atan gelu "
    "silu mish sinh cosh _softmax _log_softmax "
    "native_layer_norm native_group_norm "
    "log_sigmoid_forward"
)
"""Last bits of what goes in move what comes out by as little, and so does what goes back."""

BACK_THROUGH = {
    f"{back}.default": _named(forth)
    for back, forth in {
        "convolution_backward": "convolution",
        "native_layer_norm_backward": "native_layer_norm",
        "avg_pool2d_backward": "avg_pool2d",
        "_adaptive_avg_pool2d_backward": "_adaptive_avg_pool2d",
        "max_pool2d_with_indices_backward": "max_pool2d_with_indices",
        "adaptive_max_pool2d_backward": "adaptive_max_pool2d",
        "embedding_dense_backward": "embedding",
        "reflection_pad1d_backward": "reflection_pad1d",
        "replication_pad1d_backward": "replication_pad1d",
        "_softmax_backward_data": "_softmax _safe_softmax",
        "_log_softmax_backward_data": "_log_softmax",
        "tanh_backward": "tanh",
        "sigmoid_backward": "sigmoid",
        "log_sigmoid_backward": "log_sigmoid_forward",
        "gelu_backward": "gelu",
        "glu_backward": "glu",
        "threshold_backward": "relu threshold",
        "leaky_relu_backward": "leaky_relu",
        "_prelu_kernel_backward": "_prelu_kernel",
        "elu_backward": "elu celu",
        "softplus_backward": "softplus",
        "hardtanh_backward": "hardtanh",
        "hardswish_backward": "hardswish",
        "hardsigmoid_backward": "hardsigmoid",
        "hardshrink_backward": "hardshrink",
        "softshrink_backward": "softshrink",
    }.items()
}
"""What goes back, and what it must have gone forth through."""

PERMITTED = (
    SMOOTH
    | AT_ZERO
    | LOOKS_UP
    | frozenset(BACK_THROUGH)
    | frozenset().union(*BACK_THROUGH.values())
    | _named(
        # Number by number.
        "softplus abs sgn sign sqrt rsqrt reciprocal log log1p log2 log10 exp2 tan asin acos asinh "
        "acosh atanh atan2 erfc logit xlogy.Tensor sinc hypot logaddexp floor ceil round "
        "trunc frac div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode remainder.Tensor "
        "remainder.Scalar fmod.Tensor fmod.Scalar pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar "
        "addcdiv lerp.Scalar lerp.Tensor nan_to_num isnan isinf hardtanh "
        "hardswish hardsigmoid hardshrink "
        "softshrink threshold celu "
        "clamp clamp.Tensor clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor maximum minimum "
        "fmax fmin _to_copy "
        # Comparisons and what is made of them.
        "eq.Scalar eq.Tensor ne.Scalar ne.Tensor lt.Scalar lt.Tensor le.Scalar le.Tensor gt.Scalar "
        "gt.Tensor ge.Scalar ge.Tensor logical_and logical_or logical_xor logical_not "
        "bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_not where.self "
        "masked_fill.Scalar "
        "bucketize.Tensor "
        # Within a row.
        "amax amin max.dim min.dim argmax argmin sort sort.stable topk any any.dim all all.dim "
        "prod.dim_int cumprod var.correction std.correction linalg_vector_norm logsumexp "
        "_safe_softmax tril triu slice_scatter select_scatter"
    )
)
"""What a module may be made of."""

_USUAL = "sums, products, shapes, comparisons, torch.where, usual layers and activations"
_INSTEAD = {
    "_trilinear": "Write torch.einsum('bi,kij,bj->bk', first, weight, second).",
    "native_batch_norm": "Use torch.nn.GroupNorm; GroupNorm(channels, channels) is InstanceNorm.",
    "mse_loss_backward": "Write (a - b) ** 2.",
    "smooth_l1_loss_backward": "Write it with torch.where.",
    "view.dtype": "Use .to(dtype).",
    "as_strided": "Use reshape, torch.cat or torch.where; write to no slice of a tensor.",
    "fill": "Use torch.where or masked_fill; write to no part of a tensor.",
    "copy": "Use torch.cat or torch.where; write to no part of a tensor.",
    "empty": "Use torch.zeros.",
    "new_empty": "Use new_zeros.",
    "linalg_": "Write it in sums and products, or compute it of public numbers beforehand.",
    "_linalg_": "Write it in sums and products, or compute it of public numbers beforehand.",
    "_cdist": "Write ((a[:, None] - b[None]) ** 2).sum(-1).",
    "_embedding_bag": "Use torch.nn.Embedding and a sum.",
    "segment_reduce": "Use reshape and sum, or scatter_add.",
    "unfold_backward": "Use reshape, or slices and torch.stack.",
    "median": "Use sort.",
}
"""What to write instead of what begins so."""


def name_of_operation(node: Any) -> str:
    """Return PyTorch's operation at a node, by overload; empty where there is none.

    Example:
        ``add.Tensor``, ``relu.default``.
    """
    import torch

    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):  # noqa: SLF001
        return ""
    return str(node.target).removeprefix("aten.")


def check(graph: Any) -> None:
    """Refuse what is not on the list, or not used as it must be.

    Raises:
        ContractError: Naming the operation and what to write instead.
    """
    own = of_row(graph)
    for node in graph.graph.nodes:
        called = node.op == "call_function" and node.target is not operator.getitem
        if called:
            _check_name(node)
        if node.op != "output":
            _check_values(node)
        if called:
            _check_use(node, own=own)


def of_row(graph: Any) -> frozenset[Any]:
    """Return the nodes that depend on the row: all that comes of the last placeholder but one."""
    *_, row, _ = (node for node in graph.graph.nodes if node.op == "placeholder")
    found = {row}
    for node in graph.graph.nodes:
        if not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return frozenset(found)


def _check_name(node: Any) -> None:
    import torch

    name = name_of_operation(node)
    if not name or node.target.namespace != "aten":
        raise ContractError(
            f"The module calls {node.target}, which is no operation of PyTorch's own.",
            hint="Write it in PyTorch's operations on tensors.",
        )
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        raise ContractError(
            f"The module draws coins ({name}) that are not ours.",
            hint="Leave them out: the noise of DP-SGD regularises already.",
        )
    if node.target._schema.is_mutable:  # noqa: SLF001
        raise ContractError(
            f"The module changes weights or a constant in its forward pass ({name}).",
            hint="Compute from them what is needed, and leave them as they are.",
        )
    if name not in PERMITTED:
        written = next((_INSTEAD[each] for each in _INSTEAD if name.startswith(each)), None)
        raise ContractError(
            f"The module uses {name}, which is not on the list of operations that keep to one row.",
            hint=written or f"Write it in {_USUAL}.",
        )
    if _in_python(node):
        raise ContractError(
            f"{name} was replaced or made by code in Python.",
            hint="Use PyTorch's operations as they come.",
        )


def _check_use(node: Any, *, own: frozenset[Any]) -> None:
    name = name_of_operation(node)
    if name.split(".")[0] in ("div", "remainder", "fmod") and not _floating(node):
        raise ContractError(
            f"The module divides whole numbers ({name}), which stops where one is 0.",
            hint="Divide floating-point numbers.",
        )
    if name in BACK_THROUGH and not _follows(node, BACK_THROUGH[name]):
        raise ContractError(
            f"The module calls {name} itself, which trusts what it is given.",
            hint=f"Leave it to PyTorch, which calls it after {min(BACK_THROUGH[name])}.",
        )
    if name == "embedding.default" and arguments(node)["weight"] in own:
        raise ContractError(
            f"The module looks up (by {name}) in a table that depends on the row.",
            hint="Use gather, or a table of weights.",
        )
    if name in ("index.Tensor", "index_put.default") and any(
        each in own and not _whole(each) for each in arguments(node)["indices"] if each is not None
    ):
        raise ContractError(
            f"The module takes a part ({name}) whose size depends on the row.",
            hint="Use torch.where.",
        )


def _follows(node: Any, forth: frozenset[str]) -> bool:
    """Return whether an operation goes back through one that stands before it.

    What both name is the same: tensors the same nodes, numbers equal.  Other tensors than the
    gradient are what the one gave.  The gradient has the shape of its first result.

    Args:
        node: ``…_backward``.
        forth: Of which it is to follow one.
    """
    before = itertools.takewhile(lambda each: each is not node, node.graph.nodes)
    return any(name_of_operation(each) in forth and _is_back_of(node, each) for each in before)


def _is_back_of(node: Any, forth: Any) -> bool:
    import torch

    back, went = arguments(node), arguments(forth)
    gave = value_of(forth)
    first = gave[0] if isinstance(gave, tuple | list) else gave
    gradient = node.target._schema.arguments[0].name  # noqa: SLF001
    of_result = back.get("self_is_result", name_of_operation(node) == "threshold_backward.default")
    for name, value in back.items():
        if name == gradient:
            fits = value_of(value).shape == first.shape
        elif isinstance(value, torch.fx.Node):
            given = (name not in went or of_result) and _given_by(value, forth)
            fits = given or value is went.get(name.removesuffix("_or_result"))
        elif name == "num_weights":
            fits = value == value_of(went["weight"]).shape[0]
        elif name == "threshold" and name not in went:  # of a rectifier
            fits = value == 0
        else:
            fits = name not in went or value == went[name]
        if not fits:
            return False
    return True


def _given_by(node: Any, forth: Any) -> bool:
    """Return whether a node is what another gave, or a part of it."""
    return node is forth or (node.target is operator.getitem and node.args[0] is forth)


def arguments(node: Any) -> dict[str, Any]:
    """Return what goes into an operation, by the names of its schema."""
    said = node.target._schema.arguments  # noqa: SLF001
    found = {each.name: each.default_value for each in said if each.has_default_value()}
    found |= {each.name: value for each, value in zip(said, node.args, strict=False)}
    return found | dict(node.kwargs)


def value_of(node: Any) -> Any:
    """Return what stands at a node, or as much of it as is public: kind and shape."""
    if node.op == "get_attr":
        return getattr(node.graph.owning_module, str(node.target))
    return node.meta.get("val")


def _check_values(node: Any) -> None:
    """Refuse numbers of unusual kinds: sparse, complex, of half precision, on another device."""
    import torch

    usual = (torch.float64, torch.float32, torch.int64, torch.int32, torch.bool)
    value = value_of(node)
    many = isinstance(value, tuple | list)
    for each in [one for one in value if one is not None] if many else (value,):
        plain = isinstance(each, torch.Tensor) and each.layout is torch.strided
        if not plain or each.dtype not in usual or each.device.type != "cpu":
            raise ContractError(
                f"The module computes with numbers of an unusual kind (at {node.name}).",
                hint="Use dense tensors of float64, float32, int64, int32 or bool, on the CPU.",
            )


def _floating(node: Any) -> bool:
    return bool(value_of(node).dtype.is_floating_point)


def _whole(node: Any) -> bool:
    import torch

    return value_of(node).dtype in (torch.int64, torch.int32)


def _in_python(node: Any) -> bool:
    """Return whether somebody registered an operation, or a kernel of it, that is not PyTorch's."""
    import torch

    name = str(node.target._schema.name)  # noqa: SLF001
    overload = node.target._schema.overload_name  # noqa: SLF001
    full = f"{name}.{overload}" if overload else name
    place = full.replace("::", "/")
    ours = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd")
    return full in torch.library._defs or any(  # noqa: SLF001
        f"{place}/{key}" in torch.library._impls  # noqa: SLF001
        for key in (*ours, "AutogradCPU", "FuncTorchBatched")
    )
