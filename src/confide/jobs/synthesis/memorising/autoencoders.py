"""A VAE on made-up patients, without noise and with it; the former exists nowhere else.

Without noise it is trained as anybody would: no clip, as many steps as it takes.
With noise it is the job itself, of a network that noise does not drown.

*Privacy:* nobody is in these rows: they are drawn by coins inside, and no caller hands rows over
who had them from anywhere else.
"""

from fractions import Fraction

import numpy as np

from confide.arrays import Ints
from confide.errors import MissingExtraError
from confide.jobs.learning.dp_sgd import sampled_noise
from confide.jobs.learning.walk import one_thread
from confide.jobs.synthesis.deep.generated import BaselineData, RowMaker
from confide.jobs.synthesis.deep.networks import (
    NetworkForm,
    one_hot,
    starting_weights,
    vae_loss,
    views,
)
from confide.jobs.synthesis.deep.spec import DeepSynthesis, Generator
from confide.jobs.synthesis.deep.training import DeepTraining
from confide.jobs.synthesis.memorising.made_up import Clinic, records_of
from confide.noise.entropy import Entropy
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.release.jobs.job_answer import JobAnswer

HIDDEN, SMALL, LATENT = 64, 8, 3
"""Units without noise, and of the one with noise; latent numbers of both."""
STEPS, RATE, WEIGHT = 2000, 0.01, 0.1
"""Of the one without noise: passes, Adam's rate, weight of the distance from the prior, which is
below 1, as is usual for tables."""
_TIMES = 10
"""Rows a row of the data: whoever has the weights may draw as many as they like."""
_DELTA = Fraction(1, 10**7)


def vae_table(rows: Ints, *, clinic: Clinic, epsilon: Fraction | None, entropy: Entropy) -> Ints:
    """Return a table of ten times as many rows, of a VAE that learned made-up ones.

    Args:
        rows: Levels; shape (rows, columns).
        clinic: Whose they are.
        epsilon: None for no noise.
        entropy: Of everything.

    Raises:
        MissingExtraError: Without the extra ``learning``.
    """
    try:
        import torch  # noqa: F401 - needed by either
    except ImportError as error:
        raise MissingExtraError("PyTorch", extra="learning") from error
    if epsilon is not None:
        return _with_noise(rows, clinic=clinic, epsilon=epsilon, entropy=entropy)
    digest = entropy.words(4).tobytes().hex()
    return _without_noise(rows, clinic=clinic, digest=digest)


def _without_noise(rows: Ints, *, clinic: Clinic, digest: str) -> Ints:
    import torch

    form = NetworkForm(sizes=(clinic.levels,) * len(clinic.columns), hidden=HIDDEN, latent=LATENT)
    coins = Simulation(payload_digest=digest).generator("autoencoder")
    start = starting_weights(form.autoencoder, coins=coins).astype(np.float32)
    flat = torch.nn.Parameter(torch.from_numpy(start))
    shown = one_hot(rows, sizes=form.sizes).astype(np.float32)
    optimizer = torch.optim.Adam([flat], lr=RATE)
    with one_thread():
        for _ in range(STEPS):
            latent = coins.standard_normal((len(rows), form.latent)).astype(np.float32)
            given = torch.from_numpy(np.hstack([shown, latent]))
            optimizer.zero_grad()
            loss = vae_loss(form, views(flat, form.autoencoder), given, weight=WEIGHT)
            loss.mean().backward()
            optimizer.step()
    weights = {
        name: each.detach().numpy().astype(np.float64)
        for name, each in views(flat, form.autoencoder).items()
    }
    return RowMaker(form=form, weights=weights).rows(_TIMES * len(rows), coins=coins)


def private_vae(clinic: Clinic, *, rows: int, epsilon: Fraction) -> DeepSynthesis:
    """Return the job: a hundred steps, a tenth of the patients in each."""
    of, dataset = clinic.spec(epsilon), clinic.dataset
    rate, steps = Fraction(1, 10), 100
    return DeepSynthesis(
        reads=of.reads,
        columns=of.columns,
        generator=Generator.VAE,
        rows=rows,
        hidden=SMALL,
        latent=LATENT,
        clip=Fraction(2),
        rate=rate,
        patients=rows,
        steps=steps,
        sigma_squared=sampled_noise(
            of.rho, delta=_DELTA, rate=rate, steps=steps, measure=Measure(dataset.measure)
        ),
        learning_rate=Fraction(1, 50),
        checkpoints=1,
    )


def _with_noise(rows: Ints, *, clinic: Clinic, epsilon: Fraction, entropy: Entropy) -> Ints:
    spec = private_vae(clinic, rows=len(rows), epsilon=epsilon)
    plan = plan_job(spec, study=Study(id="made-up"), dataset=clinic.dataset, delta=_DELTA)
    runner = DeepTraining(spec, plan=plan)
    files = runner.advanced(
        records_of(rows),
        part=1,
        before=runner.opened(),
        entropy=entropy,
        progress=lambda _: None,
    )
    return BaselineData.of(JobAnswer(plan=plan, files=files)).levels(rows=_TIMES * len(rows))
