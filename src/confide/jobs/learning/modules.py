"""Which modules of PyTorch can be trained: validation, structure and weights as bytes.

*Privacy:* a row's output may depend on that row alone.  Batch normalisation mixes rows of a batch,
so no clip of one patient's gradient bounds what they move; and its running means are statistics of
the data that nothing hides.  Buffers are refused for the same reason: what a module keeps beside
its weights is not noised.  Whether a module's own code mixes rows is tried on made-up numbers.

References:
    [YSSTMPS21] Yousefpour et al. Opacus: user-friendly differential privacy library in PyTorch.
        2021. https://arxiv.org/abs/2109.12298
"""

import copy
import hashlib
import math
from fractions import Fraction
from typing import Any

from confide.errors import ContractError, MissingExtraError
from confide.plans.canonical import canonical_bytes

CLIP = Fraction(4)
"""Of modules that are not linear; fixed beforehand, on public cohorts.  Smaller ones cut the
gradients of rare outcomes and make predictions too sure."""
_ROWS = 5


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
        import safetensors.torch  # noqa: F401 - needed after the charge
        import torch
        from opacus import GradSampleModule  # noqa: F401 - needed after the charge
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
    found = copy.deepcopy(module).double().train()
    if not any(each.requires_grad for each in found.parameters()):
        raise ContractError("The module has no weights to train.")
    _try(found, features=features, classes=classes)
    return found


def _try(module: Any, *, features: int, classes: int) -> None:
    """Run a module on made-up rows: shape of its outputs, and that rows do not mix."""
    import torch

    made_up = torch.linspace(-1, 1, _ROWS * features, dtype=torch.float64).reshape(_ROWS, features)
    problem = ""
    try:
        with torch.no_grad():
            whole, first = module(made_up), module(made_up[:1])
            other = module(torch.cat([made_up[:1], made_up[1:].flip(0) / 2]))
    except (RuntimeError, ValueError, TypeError, IndexError) as broken:
        problem = str(broken).splitlines()[0][:200]
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


def loss_of(outputs: int) -> Any:
    """Return the sum of losses over rows: logistic of one output, cross-entropy of several."""
    import torch

    functional = torch.nn.functional
    if outputs == 1:
        return lambda found, classes: functional.binary_cross_entropy_with_logits(
            found[:, 0], classes.to(found.dtype), reduction="sum"
        )
    return lambda found, classes: functional.cross_entropy(found, classes, reduction="sum")
