"""Which modules of PyTorch can be trained: validation, structure and weights as bytes.

*Privacy:* a row's output may depend on that row alone.  Batch normalisation mixes rows of a batch,
so no clip of one patient's gradient bounds what they move; and its running means are statistics of
the data that nothing hides.  Buffers are refused for the same reason: what a module keeps beside
its weights is not noised.  Whether a module's own code mixes rows is tried on made-up numbers, as a
courtesy: in training it never runs (:mod:`.row_program`), and each row is by itself.

References:
    [YSSTMPS21] Yousefpour et al. Opacus: user-friendly differential privacy library in PyTorch.
        2021. https://arxiv.org/abs/2109.12298
"""

import contextlib
import copy
import hashlib
import math
import threading
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from confide.errors import ContractError, MissingExtraError
from confide.jobs.learning.kinks import with_kinks
from confide.jobs.learning.losses import loss_of
from confide.jobs.learning.row_program import RowProgram, digest_of, row_program
from confide.plans.canonical import canonical_bytes

CLIP = Fraction(4)
"""Of modules that are not linear; fixed beforehand, on public cohorts.  Smaller ones cut the
gradients of rare outcomes and make predictions too sure."""
_ROWS = 5
_SWITCH = threading.Lock()


def validated(module: Any, *, features: int, classes: int) -> Any:
    """Return a copy of a module in float64 and training mode, if DP-SGD can train it.

    Args:
        module: Of PyTorch; it is left as it is.
        features: Numbers that a row has.
        classes: Of the outcome.

    Raises:
        ContractError: If it cannot; the fix is named.
        MissingExtraError: Without the extra ``learning``.
    """
    try:
        import opacus  # noqa: F401 - whose validator is asked
        import safetensors.torch  # noqa: F401 - needed after the charge
        import torch
        from opacus.validators import ModuleValidator
    except ImportError as error:
        raise MissingExtraError("PyTorch, Opacus or safetensors", extra="learning") from error
    if not isinstance(module, torch.nn.Module):
        raise ContractError(
            f"Expected a torch.nn.Module, got a {type(module).__name__}.",
            hint="Write module=torch.nn.Sequential(...).",
        )
    for name, part in module.named_modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):  # noqa: SLF001
            raise ContractError(
                f"Layer {name or 'itself'!r} is a {type(part).__name__}, which mixes the rows of a "
                "batch.",
                hint="Use torch.nn.LayerNorm or torch.nn.GroupNorm instead.",
            )
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):  # noqa: SLF001
            raise ContractError(
                f"Layer {name!r} is a {type(part).__name__}, whose coins are not ours.",
                hint="Leave it out: the noise of DP-SGD regularises already.",
            )
    if next(iter(module.buffers()), None) is not None:
        raise ContractError(
            "The module has buffers, which keep numbers that no noise hides.",
            hint="Make them parameters with requires_grad=False, or constants in forward.",
        )
    problems = ModuleValidator.validate(module, strict=False)
    if problems:
        raise ContractError(
            f"Opacus cannot give gradients by row: {str(problems[0]).splitlines()[0][:200]}",
            hint="Replace the layer; opacus.validators.ModuleValidator.fix suggests by what.",
        )
    try:
        found = copy.deepcopy(module).double().train()
    except (TypeError, RuntimeError) as broken:
        raise ContractError(f"The module cannot be copied: {str(broken)[:200]}") from None
    if not any(each.requires_grad for each in found.parameters()):
        raise ContractError("The module has no weights to train.")
    _try(copy.deepcopy(found), features=features, classes=classes)
    return found


def program_of(module: Any, *, features: int, classes: int) -> RowProgram:
    """Return what a module does to one row, after a full pass of it on made-up rows.

    Args:
        module: By :func:`validated`; its code runs on copies of it, and on made-up rows alone.
        features: Numbers that a row has.
        classes: Of the outcome.

    Raises:
        ContractError: If it cannot be told, or is not what the module's own gradient is.
    """
    import torch

    trial = copy.deepcopy(module)
    rows = _made_up(features)
    with torch.no_grad():
        outputs = int(copy.deepcopy(module)(rows).shape[1])
    program = row_program(trial, features=features, outputs=outputs)
    of = torch.arange(_ROWS) % classes
    held = {name: each.detach() for name, each in module.named_parameters()}
    trained, frozen = (
        [held[name] for name in names] for names in (program.trained, program.frozen)
    )
    problem, same = "", False
    try:
        each = torch.func.vmap(with_kinks(program), in_dims=(None, None, 0, 0), randomness="error")
        with _rules_alone():
            found = each(trained, frozen, rows, of)[0]
        plain = torch.stack([_plain(module, rows[[i]], of[[i]], outputs) for i in range(_ROWS)])
        same = torch.allclose(found, plain, equal_nan=True)
    except Exception as broken:  # noqa: BLE001 - the module's own code, on made-up rows
        problem = (str(broken).splitlines() or [type(broken).__name__])[0][:200]
    if problem:
        raise ContractError(
            f"A pass on made-up rows failed: {problem}",
            hint="In forward use PyTorch's operations on tensors alone.",
        )
    if not same:
        raise ContractError(
            "The module's gradient of a row is not the same each time, or depends on more than the "
            "row and the weights.",
            hint="Draw no random numbers in forward, and keep nothing from one call to the next.",
        )
    return program


@contextlib.contextmanager
def _rules_alone() -> Iterator[None]:
    """Let an operation fail that ``vmap`` has no rule for.

    Else it is run row by row, and PyTorch's C++ says so on standard error, once a pass; whose
    number tells how many patients there are.  It is a switch of the whole process.
    """
    import torch

    switch: Any = torch._C._functorch  # noqa: SLF001
    with _SWITCH:
        before = switch._is_vmap_fallback_enabled()  # noqa: SLF001
        switch._set_vmap_fallback_enabled(False)  # noqa: SLF001
        try:
            yield
        finally:
            switch._set_vmap_fallback_enabled(before)  # noqa: SLF001


def _plain(module: Any, row: Any, of: Any, outputs: int) -> Any:
    """Return the gradient of one made-up row as PyTorch alone has it."""
    import torch

    fresh = copy.deepcopy(module)
    loss_of(outputs)(fresh(row.clone()), of).backward()
    parts = [each for each in fresh.parameters() if each.requires_grad]
    zero = torch.zeros_like
    return torch.cat([(zero(p) if p.grad is None else p.grad).reshape(-1) for p in parts])


def _made_up(features: int) -> Any:
    """Return rows of numbers in [−1, 1] that add up to nothing round: shape (_ROWS, features)."""
    import torch

    places = torch.arange(1, _ROWS * features + 1, dtype=torch.float64)
    return torch.sin(places * places * 1.7).reshape(_ROWS, features)


def _try(module: Any, *, features: int, classes: int) -> None:
    """Run a module on made-up rows: shape of its outputs, and that rows do not mix."""
    import torch

    made_up = _made_up(features)
    problem = ""
    try:
        with torch.no_grad():
            whole, first = module(made_up.clone()), module(made_up[:1].clone())
            other = module(torch.cat([made_up[:1], made_up[1:].flip(0) / 2]))
    except Exception as broken:  # noqa: BLE001 - the module's own code
        problem = (str(broken).splitlines() or [type(broken).__name__])[0][:200]
    if problem:  # made-up rows, so the message holds nothing of patients
        raise ContractError(
            f"The module does not take rows of {features} numbers: {problem}",
            hint="Each category but the first of a column is one number; a number is one.",
        )
    outputs = 1 if classes == 2 else classes
    if tuple(whole.shape) not in {(_ROWS, outputs), (_ROWS, classes)}:
        raise ContractError(
            f"Expected outputs of shape (rows, {classes}), got {tuple(whole.shape)}.",
            hint="One number a class; for two classes one number will do.",
        )
    same = torch.allclose(whole[:1], first) and torch.allclose(whole[:1], other[:1])
    if not same or not bool(torch.isfinite(whole).all()):
        raise ContractError(
            "The module's output of one row depends on other rows, or is not finite.",
            hint="Normalise by layer, not by batch; draw no random numbers in forward.",
        )


def architecture(module: Any) -> str:
    """Return the SHA-256 of a module's structure, names and shapes; not of its weights."""
    shapes = [
        [name, list(each.shape), each.requires_grad] for name, each in module.named_parameters()
    ]
    body = {"structure": repr(module), "parameters": shapes}
    return hashlib.sha256(canonical_bytes(body)).hexdigest()


def weights_digest(weights: Mapping[str, Any]) -> str:
    """Return the SHA-256 of weights by name: what a training starts from."""
    return hashlib.sha256(
        canonical_bytes({name: digest_of(each) for name, each in weights.items()})
    ).hexdigest()


def first_weights(module: Any) -> dict[str, Any]:
    """Return copies of a module's weights by name."""
    return {name: each.detach().clone() for name, each in module.named_parameters()}


def trained(module: Any) -> int:
    """Return the number of weights that are trained."""
    return sum(each.numel() for each in module.parameters() if each.requires_grad)


def usual_clip(module: Any, *, terms: int) -> Fraction:
    """Return a clip that cuts no gradient of a row, if the module is linear; else CLIP.

    A row's gradient is r·(x, 1), where ‖(x, 1)‖² ≤ columns + 1, as a number is in [−1, 1] and one
    indicator of a category at most is 1; the residual r has |r| ≤ 1, and ‖r‖ ≤ √2 over classes.

    Args:
        module: That was validated.
        terms: Number of columns.
    """
    import torch

    parts = [each for each in module.modules() if next(iter(each.children()), None) is None]
    if len(parts) != 1 or not isinstance(parts[0], torch.nn.Linear):
        return CLIP
    squared = (terms + (parts[0].bias is not None)) * (1 if parts[0].out_features == 1 else 2)
    return Fraction(math.isqrt(squared * 10**12) + 1, 10**6)
