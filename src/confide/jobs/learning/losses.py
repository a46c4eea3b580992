"""Losses of classes: what DP-SGD takes the gradient of, smooth everywhere."""

from collections.abc import Callable
from typing import Any, TypeAlias

Loss: TypeAlias = Callable[[Any, Any], Any]
"""Of a module's outputs and the classes of rows: their sum."""


def loss_of(outputs: int) -> Loss:
    """Return the sum of losses over rows: logistic of one output, cross-entropy of several."""
    import torch

    functional = torch.nn.functional

    def logistic(found: Any, classes: Any) -> Any:
        odds = found[:, 0]
        held = classes * functional.logsigmoid(odds) + (1 - classes) * functional.logsigmoid(-odds)
        return -held.sum()

    def entropy(found: Any, classes: Any) -> Any:
        chances = functional.log_softmax(found, dim=1)
        return -chances.gather(1, classes.unsqueeze(1)).sum()

    return logistic if outputs == 1 else entropy
