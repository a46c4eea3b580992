"""Training of a generator, part by part, from one durable checkpoint to the next.

What generates is the mean of its weights over the second half of the steps [PJ92].  Nothing else of
a training is in its last file: a discriminator or an encoder made no row.

*Privacy:* batches and what patients add die in :meth:`DeepTraining.advanced`.  What follows from
noisy sums (optimizers, a generator that learns from a discriminator, averages) is post-processing,
with coins that are keyed by the file before.  Progress tells steps, which are public.

References:
    [PJ92] Polyak, Juditsky. Acceleration of stochastic approximation by averaging. SIAM J. Control
        and Optimization 30(4), 1992. https://doi.org/10.1137/0330046
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import MissingExtraError
from confide.jobs.learning.per_patient_gradients import PerPatientGradients, Rows
from confide.jobs.learning.walk import one_thread
from confide.jobs.synthesis.deep.latent import coins_of, key_of_step
from confide.jobs.synthesis.deep.networks import (
    NetworkForm,
    discriminated,
    gan_program,
    one_hot,
    relaxed_rows,
    starting_weights,
    vae_program,
    views,
)
from confide.jobs.synthesis.deep.spec import DeepSynthesis, Generator
from confide.noise.entropy import Entropy
from confide.plans.job import JobPlan
from confide.plans.simulation import Simulation
from confide.release.quiet import no_output
from confide.rows.records import RecordRows
from confide.tables.relation import domain

if TYPE_CHECKING:
    from confide.jobs.synthesis.deep.networks import Coins

CHECKPOINT, MODEL = "checkpoint.safetensors", "model.safetensors"
_AVERAGE = "average"
_TOLD = 20
"""Times that progress is told in a training."""

State = dict[str, Any]
"""Tensors by name."""


class DeepTraining:
    """Runs a deep synthesis; satisfies :class:`confide.release.jobs.job_rounds.InParts`."""

    def __init__(self, spec: DeepSynthesis, *, plan: JobPlan) -> None:
        """Take what is public.

        Raises:
            MissingExtraError: Without the extra ``learning``; nothing was charged.
        """
        try:
            import safetensors.torch  # noqa: F401 - needed after the charge
            import torch  # noqa: F401 - as that
        except ImportError as error:
            raise MissingExtraError("PyTorch or safetensors", extra="learning") from error
        self._spec, self._plan = spec, plan
        self._form = NetworkForm(
            sizes=spec.sizes(plan.dataset), hidden=spec.hidden, latent=spec.latent
        )

    @property
    def spec(self) -> DeepSynthesis:
        """What is planned."""
        return self._spec

    @property
    def parts(self) -> int:
        """Number of parts, each of which ends with durable weights."""
        return self._spec.checkpoints

    def opened(self) -> Mapping[str, bytes]:
        """Return the weights that the training starts from: of coins keyed by the plan."""
        import torch

        coins = Simulation(payload_digest=self._plan.digest()).generator("first weights")
        state = {
            name: torch.from_numpy(starting_weights(shapes, coins=coins))
            for name, shapes in networks(self._spec.generator, self._form).items()
        }
        return {CHECKPOINT: _saved(state)}

    def advanced(
        self,
        rows: RecordRows,
        *,
        part: int,
        before: Mapping[str, bytes],
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return the weights after some more steps; what generates as ``model.safetensors``."""
        spec, content = self._spec, before[CHECKPOINT]
        coins = Simulation(payload_digest=hashlib.sha256(content).hexdigest())
        state, of = _loaded(content), self._rows(rows)
        learner = _LEARNERS[spec.generator](
            spec, form=self._form, state=state, coins=coins.generator("made-up rows")
        )
        gradients = PerPatientGradients(
            learner.program, weights=(learner.weights, []), clip=float(spec.clip)
        )
        with one_thread():
            for step in range(spec.step_of(part - 1), spec.step_of(part)):
                if step % max(1, spec.steps // _TOLD) == 0:
                    progress(f"step {step} of {spec.steps}")
                drawn = of.of(spec.sampler.draw(of.patients, entropy=entropy))
                key = key_of_step(entropy)
                with no_output():  # a line of a library tells of a pass, and passes of patients
                    total = gradients.summed(learner.batch(drawn, key=key))
                learner.learn(self._noised(total, drawn=drawn, entropy=entropy))
                _average(state, learner.generating, of=step - spec.steps // 2 + 1)
        if part == self.parts:
            return {MODEL: _saved(views(state[_AVERAGE], self._form.decoder))}
        return {CHECKPOINT: _saved(state | learner.kept())}

    def _noised(
        self,
        total: Ints,
        *,
        drawn: Rows,  # noqa: ARG002 - how many were drawn is secret: the divisor is public
        entropy: Entropy,
    ) -> Floats:
        """Return a sum with noise, in the unit of the gradient of one patient."""
        noisy = self._spec.noise.randomize(total, entropy=entropy)
        return np.asarray(noisy.astype(np.float64) * float(self._spec.unit))

    def _rows(self, rows: RecordRows) -> Rows:
        """Return rows as levels; class 1: of the data."""
        columns = rows.reveal_to_job()
        levels = np.column_stack(
            [
                columns[f"e{place}"] - domain(each, dataset=self._plan.dataset).lower
                for place, each in enumerate(self._spec.reads.reads)
            ]
        )
        return Rows(
            patient=columns["patient"],
            inputs=levels.astype(np.float64),
            classes=np.ones(len(levels), dtype=np.int64),
        )


def networks(generator: Generator, form: NetworkForm) -> dict[str, Any]:
    """Return shapes of the weights of each network that is trained, by name."""
    match generator:
        case Generator.VAE:
            return {"autoencoder": form.autoencoder}
        case Generator.GAN:
            return {"discriminator": form.discriminator, "generator": form.decoder}


class _Autoencoder:
    """A VAE, of which every step is noised."""

    def __init__(
        self,
        spec: DeepSynthesis,
        *,
        form: NetworkForm,
        state: State,
        coins: "Coins",  # noqa: ARG002
    ) -> None:
        self._form = form
        self._steps = _Steps(state, "autoencoder", rate=float(spec.learning_rate))
        self.program = vae_program(form)
        self.weights = list(views(self._steps.flat, form.autoencoder).values())

    @property
    def generating(self) -> Any:
        """The decoder's part of the weights."""
        return self._steps.flat[-sum(each.numel() for each in self.weights[4:]) :]

    def batch(self, rows: Rows, *, key: bytes) -> Rows:
        """Return indicators of rows and their latent coins."""
        levels = rows.inputs.astype(np.int64)
        coins = coins_of(levels, key=key, latent=self._form.latent)
        inputs = np.hstack([one_hot(levels, sizes=self._form.sizes), coins])
        return Rows(patient=rows.patient, inputs=inputs, classes=rows.classes)

    def learn(self, gradient: Floats) -> None:
        """Take a step along a noisy gradient."""
        self._steps.take(gradient)

    def kept(self) -> State:
        """Return what the next part starts from."""
        return self._steps.kept()


class _Adversary:
    """A GAN: rows reach the discriminator alone, and it by noisy gradients."""

    def __init__(
        self, spec: DeepSynthesis, *, form: NetworkForm, state: State, coins: "Coins"
    ) -> None:
        self._form, self._coins, self._made = form, coins, spec.batch
        rate = float(spec.learning_rate)
        self._told = _Steps(state, "discriminator", rate=rate)
        self._making = _Steps(state, "generator", rate=rate)
        self.program = gan_program(form)
        self.weights = list(views(self._told.flat, form.discriminator).values())

    @property
    def generating(self) -> Any:
        """The generator's weights."""
        return self._making.flat

    def batch(self, rows: Rows, *, key: bytes) -> Rows:  # noqa: ARG002
        """Return indicators of rows."""
        levels = rows.inputs.astype(np.int64)
        inputs = one_hot(levels, sizes=self._form.sizes)
        return Rows(patient=rows.patient, inputs=inputs, classes=rows.classes)

    def learn(self, gradient: Floats) -> None:
        """Take a step of the discriminator, then one of the generator, which sees no row."""
        self._told.take(gradient + self._gradient(self._told.flat, data=False))
        self._making.take(self._gradient(self._making.flat, data=True))

    def _gradient(self, flat: Any, *, data: bool) -> Floats:
        """Return the gradient of the mean loss of made-up rows, called data or made up."""
        import torch

        leaf = flat.detach().clone().requires_grad_()
        made_by = leaf if data else self._making.flat
        told_by = self._told.flat if data else leaf
        rows = relaxed_rows(
            self._form, views(made_by, self._form.decoder), rows=self._made, coins=self._coins
        )
        odds = discriminated(views(told_by, self._form.discriminator), rows)
        sign = -1 if data else 1
        torch.nn.functional.softplus(sign * odds).mean().backward()
        return np.asarray(leaf.grad.numpy())

    def kept(self) -> State:
        """Return what the next part starts from."""
        return self._told.kept() | self._making.kept()


_LEARNERS: dict[Generator, Any] = {Generator.VAE: _Autoencoder, Generator.GAN: _Adversary}


class _Steps:
    """Adam on one vector of weights, in the state that a checkpoint holds."""

    def __init__(self, state: State, name: str, *, rate: float) -> None:
        import torch

        self._name = name
        self.flat = state[name].detach().clone()
        self._leaf = torch.nn.Parameter(self.flat)
        self.flat = self._leaf.data
        self._optimizer = torch.optim.Adam([self._leaf], lr=rate)
        front = f"{name}."
        held = {key[len(front) :]: each for key, each in state.items() if key.startswith(front)}
        if held:
            self._optimizer.state[self._leaf] = held

    def take(self, gradient: Floats) -> None:
        import torch

        self._leaf.grad = torch.from_numpy(np.array(gradient, dtype=np.float64))
        self._optimizer.step()

    def kept(self) -> State:
        held = self._optimizer.state[self._leaf]
        return {self._name: self.flat} | {f"{self._name}.{key}": each for key, each in held.items()}


def _average(state: State, latest: Any, *, of: int) -> None:
    """Keep the mean of weights after so many steps of the second half; nothing before it."""
    if of == 1:
        state[_AVERAGE] = latest.clone()
    elif of > 1:
        state[_AVERAGE] += (latest - state[_AVERAGE]) / of


def _saved(state: Mapping[str, Any]) -> bytes:
    from safetensors.torch import save

    return bytes(save({name: each.detach().clone().contiguous() for name, each in state.items()}))


def _loaded(content: bytes) -> State:
    from safetensors.torch import load

    return dict(load(content))
