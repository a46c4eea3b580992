"""A training over sites, as one site runs it, and the model that everybody makes of the sums.

*Privacy:* what leaves a site in a step is the sum over its patients, or its one clipped update,
with its part of the noise, under masks that vanish in the sum alone; never before its charge is
durable.  All else, weights and
model, is a function of noisy sums.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError
from confide.jobs.federated.training.fedavg import FedAvg
from confide.jobs.federated.training.local_training import LocalTraining
from confide.jobs.federated.training.spec import DPSGDOverSites
from confide.jobs.learning.module_training import ModuleTraining, require_planned, rows_of
from confide.jobs.learning.row_program import RowProgram
from confide.jobs.learning.walk import (
    MODEL,
    NoisyWalk,
    WalkSettings,
    one_thread,
    start,
    walked,
)
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.entropy import Entropy
from confide.plans.job import JobPlan
from confide.release.quiet import no_output
from confide.rows.records import RecordRows

NO_UPDATE = "local training gave no finite numbers; this site adds zero and noise in this round"


class SumsAmongSites(Protocol):
    """The sums of a job, as one site takes part in them."""

    def add(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Send this site's noisy numbers of the next sum, hidden, and return the sum over sites."""


class TrainingRounds:
    """Runs a :class:`~.spec.DPSGDOverSites` at one site, and makes its files of all sums.

    Args:
        spec: What is planned.
        plan: Of it.
        program: Of the module.
        first: The weights that the training starts from, by name.
        delta: At which progress tells ε.

    Raises:
        ContractError: If program or weights are not those of the plan.
    """

    def __init__(
        self,
        spec: DPSGDOverSites,
        *,
        plan: JobPlan,
        program: RowProgram,
        first: Mapping[str, Any],
        delta: Fraction,
    ) -> None:
        self._spec, self._plan, self._program = spec, plan, program
        self._first, self._delta = dict(first), delta
        self._training(lambda total, _: total)  # refuses another module than the plan's

    def run(
        self,
        rows: RecordRows,
        *,
        among: SumsAmongSites,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return public files by name; called once, after the charge is durable."""
        part = self._spec.part

        def hide(total: Ints, entropy: Entropy) -> Ints:
            numbers = with_part(total, part=part, entropy=entropy)
            return np.array(among.add(tuple(numbers.tolist())), dtype=np.int64)

        training = self._training(hide)
        files = training.advanced(
            rows, part=1, before=training.opened(), entropy=entropy, progress=progress
        )
        return {MODEL: files[MODEL]}

    def files(self, totals: Sequence[int]) -> Mapping[str, bytes]:
        """Return the same files from the sums, one after another, as who reads no row makes them.

        Raises:
            ContractError: If there are more or fewer numbers than the plan asks for.
        """
        return _made_of(
            totals, settings=self._spec.training, program=self._program, first=self._first
        )

    def _training(self, hide: Callable[[Ints, Entropy], Ints]) -> ModuleTraining:
        return ModuleTraining(
            self._spec.training,
            plan=self._plan,
            program=self._program,
            first=self._first,
            delta=self._delta,
            hide=hide,
        )


class AveragingRounds:
    """Runs a :class:`~.fedavg.FedAvg` at one site, and makes its files of all sums.

    Args:
        spec: What is planned.
        plan: Of it.
        program: Of the module.
        first: The weights that the training starts from, by name.

    Raises:
        ContractError: If program or weights are not those of the plan.
    """

    def __init__(
        self, spec: FedAvg, *, plan: JobPlan, program: RowProgram, first: Mapping[str, Any]
    ) -> None:
        require_planned(program, first=first, planned=(spec.program, spec.first_weights))
        self._spec, self._plan, self._program = spec, plan, program
        self._first = dict(first)

    def run(
        self,
        rows: RecordRows,
        *,
        among: SumsAmongSites,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return public files by name; called once, after the charge is durable.

        ``progress`` is told, at this site and nowhere else, of a round whose update was no finite
        number: that is a fact of this site's rows.
        """
        spec = self._spec
        walk = NoisyWalk(spec, program=self._program, content=start(self._first))
        own = rows_of(rows, reads=spec.reads, dataset=self._plan.dataset)
        local = LocalTraining(spec, program=self._program, rows=own)
        with one_thread():
            for number in range(spec.steps):
                progress(f"round {number + 1} of {spec.steps}")
                with no_output():
                    update = local.update(walk.tensors)
                if update is None:
                    progress(NO_UPDATE)
                    update = np.zeros(spec.parameters, dtype=np.int64)
                noisy = with_part(update, part=spec.part, entropy=entropy)
                total = among.add(tuple(noisy.tolist()))
                walk.step(np.array(total, dtype=np.int64), number=number)
        return {MODEL: walk.model()}

    def files(self, totals: Sequence[int]) -> Mapping[str, bytes]:
        """Return the same files from the sums, one after another, as who reads no row makes them.

        Raises:
            ContractError: If there are more or fewer numbers than the plan asks for.
        """
        return _made_of(totals, settings=self._spec, program=self._program, first=self._first)


def _made_of(
    totals: Sequence[int],
    *,
    settings: WalkSettings,
    program: RowProgram,
    first: Mapping[str, Any],
) -> Mapping[str, bytes]:
    if len(totals) != settings.steps * settings.parameters:
        raise ContractError("The sums over sites are not of this plan.")
    sums = np.array(totals, dtype=np.int64).reshape(settings.steps, settings.parameters)
    return {MODEL: walked(settings, program=program, first=first, sums=sums)}


def with_part(total: Ints, *, part: GaussianParts, entropy: Entropy) -> Ints:
    """Return a site's exact sum with its part of the noise."""
    return part.noise.randomize(total, entropy=entropy)
