"""synth.yaml with ``method: vae`` or ``gan``: a generator that DP-SGD trains, with fixed defaults.

Defaults were fixed beforehand, on made-up and public rows: searching for better ones on patients
would be trainings of its own.
"""

import math
from collections.abc import Set as AbstractSet
from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.learning.dp_sgd import sampled_noise
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.deep.spec import DeepSynthesis, Generator
from confide.jobs.synthesis.spec import Synthesis
from confide.tables.schema import Dataset

HIDDEN, LATENT = 16, 3
BATCH, EPOCHS = 1000, 20
FEWEST_BATCHES = 10
"""A batch is a tenth of the patients at most."""
CHECKPOINTS = 5
_CLIP = {Generator.VAE: Fraction(2), Generator.GAN: Fraction(3)}
LEARNING_RATE = {Generator.VAE: Fraction(1, 50), Generator.GAN: Fraction(3, 1000)}
PART_OF_DELTA = 10
"""Of the δ that the data set keeps for such charges, what one synthesis takes."""

_MARGINALS_ALONE = {
    "target": "A generator learns all columns alike, and takes no target.",
    "together": "A generator measures no table, so nothing is measured together.",
    "tables": "A generator gives one table: nothing in it carries the uncertainty.",
    "events": "Rows of events follow from measured columns, which a generator has none of.",
    "bins_share": "A generator finds no bins.",
    "categories_share": "A generator finds no categories.",
}


def job_of_method(
    job: Synthesis,
    *,
    method: str,
    given: AbstractSet[str],
    delta: Fraction | None,
    dataset: Dataset,
) -> tuple[AnySynthesis, Fraction]:
    """Return what the method of synth.yaml makes of a synthesis, and the δ that it is charged.

    Args:
        job: As the other keys of the file have it.
        method: "tree", "aim", or a generator.
        given: Keys that the file has.
        delta: That is to be charged, as the file has it.
        dataset: Public facts.

    Raises:
        ContractError: If keys do not go together, or no noise is enough.
    """
    generators = {each.value: each for each in Generator}
    if method not in generators:
        if delta is not None and not job.categories:
            raise ContractError(
                f"spend: method {method} draws no sample and finds no categories, and costs no δ.",
                hint="Leave delta out of spend.",
            )
        return job, Fraction(0)
    for name, why in _MARGINALS_ALONE.items():
        if name in given:
            raise ContractError(
                why, hint=f"Leave {name.replace('_', '-')} out, or write method: tree."
            )
    if job.charged:
        raise ContractError(
            "A generator finds no bins: bins: charged is for tables from marginals.",
            hint="Give the column public bins, or write method: tree.",
        )
    if job.categories:
        raise ContractError(
            "A generator finds no categories: categories: charged is for tables from marginals.",
            hint="Declare categories in dataset.yaml, or write method: tree.",
        )
    charged = delta_of(delta, dataset=dataset)
    return trained_generator(job, generators[method], delta=charged, dataset=dataset), charged


def delta_of(asked: Fraction | None, *, dataset: Dataset) -> Fraction:
    """Return the δ that is charged for steps on Poisson samples.

    Args:
        asked: As the file has it; a tenth of what the data set keeps for it when None.
        dataset: Public facts.

    Raises:
        ContractError: If the data set keeps none or less, or has a mixed ledger.
    """
    if dataset.mixed:
        raise ContractError(
            "A generator is trained on Poisson samples, which are not planned for a mixed ledger.",
            hint="Write method: tree; or measure: zcdp in dataset.yaml of a new ledger.",
        )
    if dataset.selection_delta <= 0:
        raise ContractError(
            "A generator is trained on Poisson samples, whose ε holds at a δ alone, and the data "
            "set allows none.",
            hint='Write accounting: {delta: "1e-6"} in dataset.yaml, or method: tree.',
        )
    if asked is not None and asked > dataset.selection_delta:
        raise ContractError(
            "spend: delta is more than the data set keeps for samples and selections, "
            f"{float(dataset.selection_delta):g}.",
            hint=f"Leave delta out, which is {float(dataset.selection_delta / PART_OF_DELTA):g}.",
        )
    return dataset.selection_delta / PART_OF_DELTA if asked is None else asked


def trained_generator(
    job: Synthesis,
    generator: Generator,
    *,
    delta: Fraction,
    dataset: Dataset,
) -> DeepSynthesis:
    """Return the training of a generator on the columns, bins and rules of a synthesis.

    Args:
        job: As the other keys of the file have it.
        generator: What makes rows.
        delta: Charged beside it.
        dataset: Public facts.

    Raises:
        ContractError: If patients are too few, or no noise is enough.
    """
    patients = max(1, job.rows // job.reads.bounds.max_rows)
    batch = min(BATCH, -(-patients // FEWEST_BATCHES))
    rate = Fraction(batch, patients)
    if rate == 1:
        raise ContractError(
            f"{patients} patients are too few to train a generator.", hint="Write method: tree."
        )
    steps = math.ceil(EPOCHS / rate)
    try:
        sigma_squared = sampled_noise(
            job.epsilon or job.rho, delta=delta, rate=rate, steps=steps, measure=dataset.measure
        )
    except InvalidParameterError:
        raise ContractError(
            f"No noise brings {steps} steps of a training to this budget.",
            hint="Write a larger epsilon, or method: tree.",
        ) from None
    return DeepSynthesis(
        reads=job.reads,
        columns=job.columns,
        generator=generator,
        rows=job.rows,
        hidden=HIDDEN,
        latent=LATENT,
        clip=_CLIP[generator] * job.reads.bounds.max_rows,
        rate=rate,
        patients=patients,
        steps=steps,
        sigma_squared=sigma_squared,
        learning_rate=LEARNING_RATE[generator],
        checkpoints=min(CHECKPOINTS, steps),
        never=job.never,
        order=job.order,
        accept=job.accept,
    )
