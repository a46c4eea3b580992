"""The walk of weights along noisy gradients: all of it post-processing, and the same everywhere.

Whoever knows where a training starts, its settings and its noisy sums walks the same way, without a
row: so do sites that add gradients up, and the coordinator who tells them the sums.

The model is the mean of the weights after each step of the second half [PJ92]: noise averages out,
and steps may be longer.

References:
    [PJ92] Polyak, Juditsky. Acceleration of stochastic approximation by averaging. SIAM J. Control
        and Optimization 30(4), 1992. https://doi.org/10.1137/0330046
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol, assert_never

import numpy as np

from confide.arrays import Ints
from confide.jobs.learning.dp_sgd import Optimizer
from confide.jobs.learning.row_program import RowProgram
from confide.release.together import Together

CHECKPOINT, MODEL = "checkpoint.safetensors", "model.safetensors"
_STATE, _AVERAGE = "state.", "average"


class WalkSettings(Protocol):
    """What of a training says how weights walk: public, and of any kind of noisy sums."""

    @property
    def parameters(self) -> int:
        """Number of weights that are trained."""

    @property
    def steps(self) -> int:
        """Number of noisy sums."""

    @property
    def unit(self) -> Fraction:
        """What a whole number of a sum is worth in a gradient."""

    @property
    def optimizer(self) -> Optimizer:
        """What is made of noisy sums."""

    @property
    def learning_rate(self) -> Fraction:
        """Its step."""


class NoisyWalk:
    """Weights on their way; ``tensors`` are those that gradients are taken at, trained and frozen.

    Args:
        spec: What is planned.
        program: Of the module.
        content: What :func:`start` or :meth:`checkpoint` saved.
    """

    def __init__(self, spec: WalkSettings, *, program: RowProgram, content: bytes) -> None:
        import torch
        from torch.nn.utils import parameters_to_vector

        self._spec, self._unit = spec, float(spec.unit)
        self._weights, state = loaded(content)
        self._average = state.pop(_AVERAGE, None)
        trained, frozen = (
            [self._weights[n] for n in of] for of in (program.trained, program.frozen)
        )
        self.tensors = (trained, frozen)
        self._flat = torch.nn.Parameter(parameters_to_vector(trained).detach().clone())
        self._optimizer = _optimizer(spec, self._flat, state=state)

    def step(self, noisy: Ints, *, number: int) -> None:
        """Take one step.

        Args:
            noisy: Sum of gradients with its noise, in units of the spec; shape (parameters,).
            number: Of the step, from 0.
        """
        import torch
        from torch.nn.utils import vector_to_parameters

        self._flat.grad = torch.from_numpy(noisy.astype(np.float64) * self._unit)
        self._optimizer.step()
        vector_to_parameters(self._flat.detach().clone(), self.tensors[0])
        half = self._spec.steps // 2
        self._average = _averaged(self._average, self._flat.detach(), of=number - half + 1)

    def checkpoint(self) -> bytes:
        """Return what another walk goes on from."""
        kept = dict(self._optimizer.state[self._flat]) | {_AVERAGE: self._average}
        return _saved(self._weights, kept)

    def model(self) -> bytes:
        """Return the mean of the weights of the second half; the walk is over."""
        from torch.nn.utils import vector_to_parameters

        vector_to_parameters(self._average, self.tensors[0])
        return _saved(self._weights, {})


def start(first: Mapping[str, Any]) -> bytes:
    """Return what a walk begins at: weights by name."""
    return _saved(first, {})


def walked(
    spec: WalkSettings, *, program: RowProgram, first: Mapping[str, Any], sums: Iterable[Ints]
) -> bytes:
    """Return the model that all noisy sums of a training lead to.

    Args:
        spec: What is planned.
        program: Of the module.
        first: The weights that it starts from, by name.
        sums: One a step; each of shape (parameters,).
    """
    walk = NoisyWalk(spec, program=program, content=start(first))
    with one_thread():
        for number, noisy in enumerate(sums):
            walk.step(noisy, number=number)
    return walk.model()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: the same bits each time, and faster for small modules.

    PyTorch keeps the number by thread, and one for those that come; a thread that never asked takes
    the latter when it first computes.
    """
    import torch

    with _AS_BEFORE.held() as before:
        torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def _threads(stack: contextlib.ExitStack) -> int:  # noqa: ARG001 - who leaves puts it back
    import torch

    return int(torch.get_num_threads())


_AS_BEFORE = Together(_threads)


def _optimizer(spec: WalkSettings, flat: Any, *, state: Mapping[str, Any]) -> Any:
    """Return an optimizer of one vector, in the state that a checkpoint holds."""
    import torch

    rate = float(spec.learning_rate)
    match spec.optimizer:
        case Optimizer.SGD:
            found: Any = torch.optim.SGD([flat], lr=rate)
        case Optimizer.MOMENTUM:
            found = torch.optim.SGD([flat], lr=rate, momentum=0.9)
        case Optimizer.ADAM:
            found = torch.optim.Adam([flat], lr=rate)
        case _:
            assert_never(spec.optimizer)
    if state:
        found.state[flat] = dict(state)
    return found


def _averaged(average: Any, latest: Any, *, of: int) -> Any:
    """Return the mean of the weights after so many steps of the second half; None before it."""
    if of <= 1:
        return latest.clone() if of == 1 else None
    return average + (latest - average) / of


def _saved(weights: Mapping[str, Any], state: Mapping[str, Any]) -> bytes:
    from safetensors.torch import save

    tensors = {name: each.detach().contiguous() for name, each in weights.items()}
    kept = {f"{_STATE}{name}": each for name, each in state.items() if each is not None}
    return bytes(save(tensors | kept))


def loaded(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return saved weights by name, and the state of the optimizer."""
    from safetensors.torch import load

    tensors = load(content)
    state = {
        name.removeprefix(_STATE): each for name, each in tensors.items() if name.startswith(_STATE)
    }
    return {name: each for name, each in tensors.items() if not name.startswith(_STATE)}, state
