"""Training of a module by DP-SGD, part by part, from one durable checkpoint to the next.

The model is the mean of the weights after each step of the second half [PJ92]: noise averages out,
and steps may be longer.

*Privacy:* noise is drawn by the gate's entropy on whole numbers; what follows (the optimizer, the
checkpoint) is post-processing.  Batches and what patients add never leave :meth:`ModuleTraining.
advanced`; nor does what works on them: it is the module's program with weights of its own, both of
which die there.  Progress tells steps and the ε that they cost, which are public.

References:
    [ACGMMTZ16] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang. Deep learning with
        differential privacy. CCS 2016. https://arxiv.org/abs/1607.00133
    [PJ92] Polyak, Juditsky. Acceleration of stochastic approximation by averaging. SIAM J. Control
        and Optimization 30(4), 1992. https://doi.org/10.1137/0330046
"""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import ContractError
from confide.jobs.learning.dp_sgd import DPSGD, Optimizer
from confide.jobs.learning.modules import weights_digest
from confide.jobs.learning.per_patient_gradients import PerPatientGradients, Rows
from confide.jobs.learning.row_program import RowProgram
from confide.noise.entropy import Entropy
from confide.plans.job import JobPlan, job_loss
from confide.privacy.accounting.compose import to_approximate
from confide.privacy.measure import Measure
from confide.release.quiet import no_output
from confide.release.together import Together
from confide.rows.records import RecordRows
from confide.tables.relation import domain
from confide.tables.schema import Dataset

CHECKPOINT, MODEL = "checkpoint.safetensors", "model.safetensors"
_STATE, _AVERAGE = "state.", "average"
_TOLD = 20
"""Times that progress is told in a training."""


class ModuleTraining:
    """Runs a DPSGD; satisfies :class:`confide.release.jobs.job_rounds.InParts`."""

    def __init__(
        self,
        spec: DPSGD,
        *,
        plan: JobPlan,
        program: RowProgram,
        first: Mapping[str, Any],
        delta: Fraction,
    ) -> None:
        """Take what is public; no module, so that none of its code sees a patient.

        Args:
            spec: What is planned.
            plan: Of it.
            program: Of the module.
            first: The weights that the training starts from, by name.
            delta: At which progress tells ε.

        Raises:
            ContractError: If program or weights are not those of the plan.
        """
        if (spec.program, spec.first_weights) != (program.digest, weights_digest(first)):
            raise ContractError("The module is not the one of the plan.", hint="Plan it again.")
        self._spec, self._plan, self._program = spec, plan, program
        self._first, self._delta = dict(first), delta

    @property
    def parts(self) -> int:
        """Number of parts, each of which ends with durable weights."""
        return self._spec.checkpoints

    def opened(self) -> Mapping[str, bytes]:
        """Return the weights that the training starts from."""
        return {CHECKPOINT: _saved(self._first, {})}

    def advanced(
        self,
        rows: RecordRows,
        *,
        part: int,
        before: Mapping[str, bytes],
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return the weights after some more steps; the last ones as ``model.safetensors``."""
        import torch
        from torch.nn.utils import parameters_to_vector, vector_to_parameters

        spec, program = self._spec, self._program
        weights, state = _loaded(before[CHECKPOINT])
        average = state.pop(_AVERAGE, None)
        trained, frozen = ([weights[n] for n in of] for of in (program.trained, program.frozen))
        flat = torch.nn.Parameter(parameters_to_vector(trained).detach().clone())
        optimizer = _optimizer(spec, flat, state=state)
        of = rows_of(rows, spec=spec, dataset=self._plan.dataset)
        gradients = PerPatientGradients(program, weights=(trained, frozen), clip=float(spec.clip))
        unit = float(spec.unit)
        with one_thread():
            for step in range(spec.step_of(part - 1), spec.step_of(part)):
                self._tell(step, progress)
                chosen = spec.sampler.draw(of.patients, entropy=entropy)
                with no_output():  # a line of a library tells of a pass, and passes of patients
                    total = gradients.summed(of.of(chosen))
                noisy = spec.noise.randomize(total, entropy=entropy)
                flat.grad = torch.from_numpy(noisy.astype(np.float64) * unit)
                optimizer.step()
                vector_to_parameters(flat.detach().clone(), trained)
                average = _averaged(average, flat.detach(), of=step - spec.steps // 2 + 1)
        if part == self.parts:
            vector_to_parameters(average, trained)
            return {MODEL: _saved(weights, {})}
        kept = dict(optimizer.state[flat]) | {_AVERAGE: average}
        return {CHECKPOINT: _saved(weights, kept)}

    def _tell(self, step: int, progress: Callable[[str], None]) -> None:
        every = max(1, self._spec.steps // _TOLD)
        if step % every == 0 and step:
            spent = epsilon_so_far(self._spec, self._plan, steps=step, delta=self._delta)
            progress(f"step {step} of {self._spec.steps}, ε so far {float(spent):.3f}")


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


def epsilon_so_far(spec: DPSGD, plan: JobPlan, *, steps: int, delta: Fraction) -> Fraction:
    """Return the ε at ``delta`` of the first steps of a training; all of it was charged."""
    (event,) = plan.events
    first = spec.sampler.event(
        spec.noise, l1=event.l1, l2_squared=event.l2_squared, steps=steps, because=event.because
    )
    loss = job_loss((first,), measure=Measure.PURE, delta=delta)
    return to_approximate(loss, delta=delta).epsilon


def rows_of(rows: RecordRows, *, spec: DPSGD, dataset: Dataset) -> Rows:
    """Return rows as inputs in [−1, 1] and classes, from whole numbers and public domains."""
    columns = rows.reveal_to_job()
    *covariates, outcome = spec.reads.reads
    found: list[Floats] = []
    for place, expression in enumerate(covariates):
        of = domain(expression, dataset=dataset)
        values = columns[f"e{place}"]
        if of.keys:
            found += [(values - of.lower == k).astype(np.float64) for k in range(1, len(of.keys))]
        else:
            found.append(_between(values, lower=of.lower, upper=of.upper))
    classes: Ints = columns[f"e{len(covariates)}"] - domain(outcome, dataset=dataset).lower
    return Rows(patient=columns["patient"], inputs=np.column_stack(found), classes=classes)


def _between(values: Ints, *, lower: int, upper: int) -> Floats:
    if upper == lower:
        return np.zeros(values.size)
    return np.asarray((2 * values - lower - upper) / (upper - lower), dtype=np.float64)


def _optimizer(spec: DPSGD, flat: Any, *, state: Mapping[str, Any]) -> Any:
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


def _loaded(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return saved weights by name, and the state of the optimizer."""
    from safetensors.torch import load

    tensors = load(content)
    state = {
        name.removeprefix(_STATE): each for name, each in tensors.items() if name.startswith(_STATE)
    }
    return {name: each for name, each in tensors.items() if not name.startswith(_STATE)}, state


def published(module: Any, content: bytes) -> Any:
    """Return a fresh copy of a module with published weights, for predictions.

    Args:
        module: That has seen no row; it is left as it is.
        content: Saved weights.
    """
    import torch

    weights, fresh = _loaded(content)[0], copy.deepcopy(module)
    with torch.no_grad():
        for name, each in fresh.named_parameters():
            each.copy_(weights[name])
    return fresh.eval()
