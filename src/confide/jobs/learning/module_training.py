"""Training of a module by DP-SGD, part by part, from one durable checkpoint to the next.

*Privacy:* noise is drawn by the gate's entropy on whole numbers; what follows (the optimizer, the
checkpoint) is post-processing.  Batches and what patients add never leave :meth:`ModuleTraining.
advanced`; nor does what works on them: it is the module's program with weights of its own, both of
which die there.  Progress tells steps and the ε that they cost, which are public.

References:
    [ACGMMTZ16] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang. Deep learning with
        differential privacy. CCS 2016. https://arxiv.org/abs/1607.00133
"""

import copy
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import ContractError
from confide.jobs.learning.dp_sgd import DPSGD
from confide.jobs.learning.modules import weights_digest
from confide.jobs.learning.per_patient_gradients import PerPatientGradients, Rows
from confide.jobs.learning.row_program import RowProgram
from confide.jobs.learning.walk import CHECKPOINT, MODEL, NoisyWalk, loaded, one_thread, start
from confide.noise.entropy import Entropy
from confide.plans.job import JobPlan, job_loss
from confide.privacy.accounting.compose import to_approximate
from confide.privacy.measure import Measure
from confide.release.quiet import no_output
from confide.rows.records import RecordRows
from confide.tables.records import Records
from confide.tables.relation import domain
from confide.tables.schema import Dataset

Hiding: TypeAlias = Callable[[Ints, Entropy], Ints]
"""From an exact sum of gradients to a noisy one; called once a step."""
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
        hide: Hiding | None = None,
    ) -> None:
        """Take what is public; no module, so that none of its code sees a patient.

        Args:
            spec: What is planned.
            plan: Of it.
            program: Of the module.
            first: The weights that the training starts from, by name.
            delta: At which progress tells ε.
            hide: What makes a noisy sum of an exact one; the noise of the spec when None.

        Raises:
            ContractError: If program or weights are not those of the plan.
        """
        require_planned(program, first=first, planned=(spec.program, spec.first_weights))
        self._spec, self._plan, self._program = spec, plan, program
        self._first, self._delta = dict(first), delta
        self._hide = hide or (lambda total, entropy: spec.noise.randomize(total, entropy=entropy))

    @property
    def parts(self) -> int:
        """Number of parts, each of which ends with durable weights."""
        return self._spec.checkpoints

    def opened(self) -> Mapping[str, bytes]:
        """Return the weights that the training starts from."""
        return {CHECKPOINT: start(self._first)}

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
        spec = self._spec
        walk = NoisyWalk(spec, program=self._program, content=before[CHECKPOINT])
        of = rows_of(rows, reads=spec.reads, dataset=self._plan.dataset)
        clip = float(spec.clip)
        gradients = PerPatientGradients(self._program, weights=walk.tensors, clip=clip)
        with one_thread():
            for step in range(spec.step_of(part - 1), spec.step_of(part)):
                self._tell(step, progress)
                chosen = spec.sampler.draw(of.patients, entropy=entropy)
                with no_output():  # a line of a library tells of a pass, and passes of patients
                    total = gradients.summed(of.of(chosen))
                walk.step(self._hide(total, entropy), number=step)
        return {MODEL: walk.model()} if part == self.parts else {CHECKPOINT: walk.checkpoint()}

    def _tell(self, step: int, progress: Callable[[str], None]) -> None:
        every = max(1, self._spec.steps // _TOLD)
        if step % every == 0 and step:
            spent = epsilon_so_far(self._spec, self._plan, steps=step, delta=self._delta)
            progress(f"step {step} of {self._spec.steps}, ε so far {float(spent):.3f}")


def require_planned(
    program: RowProgram, *, first: Mapping[str, Any], planned: tuple[str, str]
) -> None:
    """Refuse a module that is not the one of a plan.

    Args:
        program: Of the module.
        first: The weights that the training starts from, by name.
        planned: Digests of both.

    Raises:
        ContractError: If it is another.
    """
    if planned != (program.digest, weights_digest(first)):
        raise ContractError("The module is not the one of the plan.", hint="Plan it again.")


def epsilon_so_far(spec: DPSGD, plan: JobPlan, *, steps: int, delta: Fraction) -> Fraction:
    """Return the ε at ``delta`` of the first steps of a training; all of it was charged."""
    (event,) = plan.events
    first = spec.sampler.event(
        spec.noise, l1=event.l1, l2_squared=event.l2_squared, steps=steps, because=event.because
    )
    loss = job_loss((first,), measure=Measure.PURE, delta=delta)
    return to_approximate(loss, delta=delta).epsilon


def rows_of(rows: RecordRows, *, reads: Records, dataset: Dataset) -> Rows:
    """Return rows as inputs in [−1, 1] and classes, from whole numbers and public domains."""
    columns = rows.reveal_to_job()
    *covariates, outcome = reads.reads
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


def published(module: Any, content: bytes) -> Any:
    """Return a fresh copy of a module with published weights, for predictions.

    Args:
        module: That has seen no row; it is left as it is.
        content: Saved weights.
    """
    import torch

    weights, fresh = loaded(content)[0], copy.deepcopy(module)
    with torch.no_grad():
        for name, each in fresh.named_parameters():
            each.copy_(weights[name])
    return fresh.eval()
