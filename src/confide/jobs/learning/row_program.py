"""What a module does to one row, as a list of arithmetic: all that ever sees a patient's row.

A module is Python: it may keep its input, look at a whole batch, count its calls, write a file.  So
it is run once, on one made-up row, before anything is charged, and what its forward and backward
pass do to numbers is written down as a straight line of PyTorch's own operations, from weights, row
and class to the gradient of that row's loss.  Patients' rows are put through that line alone, and
each through a line of its own: ``vmap`` is the line for one row with every operation widened over
rows, so no operation has two rows to mix.

*Privacy:* by construction a row's gradient is a function of that row, its class and the weights.
Nothing of the module's own code runs on a patient's row, so that no attribute, closure, hook, class
or global can hold one.  It may be made of listed operations alone (:mod:`.operations`), which write
nothing in place, draw no coins, read no memory that is not theirs and end no process; refused is
whatever looks at a value to decide what to do next.  Constants are plain tensors of our own.

*Utility:* a few times the CPU of Opacus' hooks where modules are small
(docs/design/031-jobs-and-dp-sgd.md); layers that Opacus has no rule for, unused layers and in-place
operations work.

References:
    [YSSTMPS21] Yousefpour et al. Opacus: user-friendly differential privacy library in PyTorch.
        2021. https://arxiv.org/abs/2109.12298
"""

import hashlib
import threading
from dataclasses import dataclass
from typing import Any

from confide.errors import ContractError
from confide.jobs.learning.losses import Loss, loss_of
from confide.jobs.learning.operations import check
from confide.plans.canonical import canonical_bytes
from confide.release.quiet import no_warnings

_TRACING = threading.Lock()
"""PyTorch keeps what it patches while it traces in the process, and two traces undo each other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowProgram:
    """The gradient of one row, from weights, row and class.

    Attributes:
        graph: Operations, in order; takes the trained weights and the frozen ones, each a list in
            the module's order, a row of shape (features,) and its class; returns shape (size,).
        trained: Names of the weights that are trained.
        frozen: Names of the others.
        outputs: Numbers that the module returns for a row.
        digest: SHA-256 of the operations and of constants in them.
    """

    graph: Any
    trained: tuple[str, ...]
    frozen: tuple[str, ...]
    outputs: int
    digest: str


def row_program(
    module: Any, *, features: int, outputs: int, loss: Loss | None = None
) -> RowProgram:
    """Return what a module does to one row, by running it once on a made-up one.

    Args:
        module: In float64 and training mode; its own code runs, so hand over a copy.
        features: Numbers that a row has.
        outputs: Numbers that the module returns for it.
        loss: Of outputs and classes of rows, summed; that of classes when None.

    Raises:
        ContractError: If it cannot be written down; the fix is named.
    """
    import torch
    from torch.func import functional_call, functionalize, grad
    from torch.fx.experimental.proxy_tensor import make_fx

    held = dict(module.named_parameters())
    trained = tuple(name for name, each in held.items() if each.requires_grad)
    frozen = tuple(name for name, each in held.items() if not each.requires_grad)
    summed = loss or loss_of(outputs)

    def of_row(weights: list[Any], still: list[Any], row: Any, of: Any) -> Any:
        given = dict(zip((*trained, *frozen), (*weights, *still), strict=True))
        found = functional_call(module, given, (row.unsqueeze(0),))
        return summed(found, of.unsqueeze(0))

    def gradient(weights: list[Any], still: list[Any], row: Any, of: Any) -> Any:
        found = grad(of_row)(weights, still, row, of)
        return torch.cat([each.reshape(-1) for each in found])

    made_up = torch.linspace(-1, 1, features, dtype=torch.float64)
    start = tuple([held[name].detach().clone() for name in names] for names in (trained, frozen))
    problem = ""
    try:
        with no_warnings(), _TRACING:
            graph = make_fx(functionalize(gradient))(*start, made_up, torch.tensor(1))
    except Exception as broken:  # noqa: BLE001 - the module's own code, on a made-up row
        problem = (str(broken).splitlines() or [type(broken).__name__])[0][:200]
    if problem:
        raise ContractError(
            f"What the module does to a row cannot be written down: {problem}",
            hint="In forward use PyTorch's operations on tensors alone: no `if` on values, no "
            ".item(), no NumPy, no autograd.Function of your own.",
        )
    _simplify(graph)
    _own_constants(graph)
    check(graph)
    return RowProgram(
        graph=graph, trained=trained, frozen=frozen, outputs=outputs, digest=_digest(graph)
    )


def _simplify(graph: Any) -> None:
    """Leave out what nothing depends on; write constants so that ``vmap`` has a rule for them."""
    import torch

    aten = torch.ops.aten
    for node in graph.graph.nodes:
        if node.target is aten.fill.Scalar:
            node.target = aten.full_like.default
            _without_empty(node)
    graph.graph.eliminate_dead_code()
    graph.recompile()


def _without_empty(node: Any) -> None:
    """Let what is filled anyway be made of zeros."""
    import torch

    aten = torch.ops.aten
    zeros = {
        aten.empty.memory_format: aten.zeros.default,
        aten.empty_like.default: aten.zeros_like.default,
        aten.new_empty.default: aten.new_zeros.default,
    }
    made = node.args[0]
    if len(made.users) == 1 and made.target in zeros:
        made.target = zeros[made.target]


def _own_constants(graph: Any) -> None:
    """Copy the tensors that the module holds, so that nobody can change them or watch their use."""
    import torch

    for node in graph.graph.nodes:
        if node.op != "get_attr":
            continue
        value: Any = getattr(graph, str(node.target), None)
        if type(value) not in (torch.Tensor, torch.nn.Parameter):  # a subclass runs code of its own
            raise ContractError(
                f"The module computes with a {type(value).__name__}, which is no plain tensor.",
                hint="Use torch.tensor(...) for constants.",
            )
        delattr(graph, node.target)
        graph.register_buffer(node.target, value.detach().clone())


def _digest(graph: Any) -> str:
    """Return the SHA-256 of operations, what goes into them, and constants."""
    import torch

    lines: list[list[str]] = []
    for node in graph.graph.nodes:
        said = [str(node.name), str(node.op), str(node.target), str(node.args), str(node.kwargs)]
        if node.op == "get_attr":
            value = getattr(graph, node.target)
            if isinstance(value, torch.Tensor):
                said.append(digest_of(value))
        lines.append(said)
    return hashlib.sha256(canonical_bytes(lines)).hexdigest()


def digest_of(tensor: Any) -> str:
    """Return the SHA-256 of a tensor: its type, shape and numbers in order."""
    plain = tensor.detach().cpu().contiguous()
    front = f"{plain.dtype} {list(plain.shape)} ".encode()
    return hashlib.sha256(front + plain.numpy().tobytes()).hexdigest()
