"""Deep synthesis: what a generator that DP-SGD trains states of itself, before it reads.

::

    vae    an encoder and a decoder learn from rows; both by noisy gradients; the decoder generates
    gan    a discriminator learns from rows, by noisy gradients; a generator from it, and from none

A step is one of DP-SGD (:mod:`confide.jobs.learning.dp_sgd`): patients by Poisson sampling, the
gradients of a patient's rows summed and clipped once, discrete Gaussian noise on whole numbers, a
public divisor.

*Lemma.*  The loss of a row is a function of that row, of the weights, and (in a VAE) of latent
coins that follow from a key of the step and the row itself (:mod:`.latent`).  So for every key the
sum moves by a whole vector of L2 norm at most R when a patient comes or goes, as in [ACGMMTZ16];
steps compose adaptively.  In a GAN the discriminator's gradient on made-up rows, and all of the
generator's, are functions of weights that were noised before, and of public coins [XLWWZ18].  ∎

*Privacy:* columns, bins, categories and the planning number of rows are public, and fix the
networks and their first weights.

*Utility:* a baseline.  Noise on each of some thousand weights costs more than noise on the counts
of a few tables (docs/design/068-deep-synthesis.md).

References:
    [ACGMMTZ16] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang. Deep learning with
        differential privacy. CCS 2016. https://arxiv.org/abs/1607.00133
    [XLWWZ18] Xie, Lin, Wang, Wang, Zhou. Differentially private generative adversarial network.
        2018. https://arxiv.org/abs/1802.06739
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.learning.dp_sgd import MOST_CHECKPOINTS, MOST_STEPS, REACH, clipped_steps
from confide.jobs.learning.poisson_sampler import PoissonSampler
from confide.jobs.synthesis.criteria import Criteria
from confide.jobs.synthesis.learnable import MOST_COLUMNS, MOST_MODEL_CELLS, require_levels
from confide.jobs.synthesis.model.fit import Impossible
from confide.jobs.synthesis.model.junction_tree import junction_tree
from confide.jobs.synthesis.rules import (
    Never,
    NotAfter,
    all_orders,
    impossible_cells,
    require_possible,
)
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.events import JobEvent
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.tables.records import Records, check_records
from confide.tables.relation import domain
from confide.tables.schema import Dataset

MOST_WIDTH = 2000
"""Levels of all columns together: inputs and outputs of the networks."""
MOST_UNITS = 1000
LONGEST_NOISE = 4.0
"""Norm of the noise of a step, in clips of the patients expected in a batch, at which steps are
noise."""


class Generator(enum.Enum):
    """What makes rows."""

    VAE = "vae"
    GAN = "gan"


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class DeepSynthesis:
    """Training of a generator by noisy gradients, from which synthetic rows are drawn.

    Attributes:
        reads: The columns, in order; numbers in public bins.
        columns: What they are called in the synthetic table.
        generator: What makes rows.
        rows: Public planning number of rows, which the table has.
        hidden: Units of the one hidden layer of each network.
        latent: Numbers from which a row is made.
        clip: C, in the unit of the gradient.
        rate: q, probability of each patient in a batch.
        patients: n, public planning number of patients.
        steps: Number of batches.
        sigma_squared: Of the noise, in squares of C/R.
        learning_rate: Of Adam.
        checkpoints: Parts into which the training is cut; each ends with durable weights.
        never: Levels that no row has together.
        order: Numbers or dates of which one is never above the other.
        accept: What the table is accepted by, agreed on beforehand; it moves nothing that is drawn.
    """

    kind: ClassVar[str] = "deep-synthesis"
    counts_rows: ClassVar[bool] = False  # a table has as many rows as were declared

    reads: Records
    columns: tuple[str, ...]
    generator: Generator
    rows: int
    hidden: int
    latent: int
    clip: Fraction
    rate: Fraction
    patients: int
    steps: int
    sigma_squared: Fraction
    learning_rate: Fraction
    checkpoints: int
    never: tuple[Never, ...] = ()
    order: tuple[NotAfter, ...] = ()
    accept: Criteria | None = None

    def __post_init__(self) -> None:
        for name, most in (
            ("rows", 10**10),
            ("patients", 10**10),
            ("hidden", MOST_UNITS),
            ("latent", MOST_UNITS),
            ("steps", MOST_STEPS),
            ("checkpoints", min(self.steps, MOST_CHECKPOINTS)),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value <= most:
                raise InvalidParameterError(f"Expected {name} from 1 to {most}, got {value}.")
        for name in ("clip", "learning_rate"):
            value = getattr(self, name)
            if not isinstance(value, Fraction) or not 0 < value < 10**9:
                raise InvalidParameterError(f"Expected an exact {name} > 0, got {value}.")
        names = self.columns
        if len(names) != len(self.reads.reads) or len(set(names)) != len(names):
            raise ContractError("Expected a name of its own for each column.")
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise ContractError(f"Expected 2 to {MOST_COLUMNS} columns, got {len(names)}.")
        for rule in self.rules:
            for name in rule.columns:
                if name not in names:
                    raise ContractError(f"No column of the table is called {name!r}.")
        if self.accept is not None:
            self.accept.require_known(names, found=[])

    @property
    def target(self) -> str:
        """No column: a generator learns all of them alike."""
        return ""

    @property
    def rules(self) -> tuple[Never | NotAfter, ...]:
        """What cannot be."""
        return (*self.never, *all_orders(self.order))

    @property
    def sampler(self) -> PoissonSampler:
        """What draws patients."""
        return PoissonSampler(rate=self.rate)

    @property
    def noise(self) -> DiscreteGaussian:
        """What hides sums of gradients."""
        return DiscreteGaussian(sigma_squared=self.sigma_squared)

    @property
    def batch(self) -> int:
        """Patients expected in a batch, in whole numbers; at least 1."""
        return max(1, round(self.rate * self.patients))

    @property
    def unit(self) -> Fraction:
        """What a whole number is worth in a gradient: C/(R·q·n), whatever the batch."""
        return self.clip / (REACH * self.rate * self.patients)

    def step_of(self, part: int) -> int:
        """Return how many steps are done when so many parts are: all at the last one."""
        return self.steps * part // self.checkpoints

    def moved(self, adjacency: Adjacency) -> tuple[int, int]:
        """Return L1 and squared L2 by which one patient moves a table of counts of rows."""
        most = self.reads.bounds.max_rows
        times = 2 if adjacency is Adjacency.SUBSTITUTE else 1
        return times * most, times * most**2

    def impossible(self, dataset: Dataset) -> tuple[Impossible, ...]:
        """Return the cells that rules forbid."""
        return impossible_cells(
            self.rules, columns=self.columns, reads=self.reads.reads, dataset=dataset
        )

    def sizes(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(domain(each, dataset=dataset).size() for each in self.reads.reads)

    def parameters(self, dataset: Dataset) -> int:
        """Return the number of weights whose gradients are noised."""
        return trained_weights(
            self.generator, width=sum(self.sizes(dataset)), hidden=self.hidden, latent=self.latent
        )

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the one event: so many steps, each on a fresh sample.

        Raises:
            ContractError: If the job does not suit the data set, or the noise would drown it.
        """
        check_records(self.reads, dataset=dataset)
        self._check(dataset)
        parameters = self.parameters(dataset)
        return (
            clipped_steps(self.sampler, noise=self.noise, parameters=parameters, steps=self.steps),
        )

    def drowned(self, dataset: Dataset) -> float:
        """Return the norm of a step's noise, in clips of the patients expected in a batch."""
        norm = self.noise.standard_deviation() * math.sqrt(self.parameters(dataset)) / REACH
        return norm / float(self.rate * self.patients)

    def _check(self, dataset: Dataset) -> None:
        if dataset.adjacency is not Adjacency.ADD_REMOVE:
            raise ContractError(
                "A generator is trained on Poisson samples, of which no bound is proved here for a "
                "patient who is replaced.",
                hint="Write adjacency: add-remove in dataset.yaml, or method: tree.",
            )
        sizes = self.sizes(dataset)
        require_levels(dict(zip(self.columns, sizes, strict=True)))
        if sum(sizes) > MOST_WIDTH:
            raise ContractError(
                f"The columns have {sum(sizes):,} levels together; a network takes "
                f"{MOST_WIDTH:,} at most.",
                hint="Put columns into coarser bins, or write method: tree.",
            )
        joined = [each.variables for each in self.impossible(dataset)]
        require_possible(
            junction_tree(sizes, joined=joined, most_cells=MOST_MODEL_CELLS),
            impossible=self.impossible(dataset),
            columns=self.columns,
            reads=self.reads.reads,
            dataset=dataset,
        )
        drowned = self.drowned(dataset)
        if drowned > LONGEST_NOISE:
            enough = math.ceil(self.rows * drowned / LONGEST_NOISE)
            raise ContractError(
                f"Noise would drown the training: a step's noise is {drowned:.1f} times as long as "
                f"all that its patients can add (at most {LONGEST_NOISE:g} is accepted).",
                hint=f"At this budget {enough:,} rows would do, or fewer columns or levels; "
                "method: tree asks for less.",
            )


def trained_weights(generator: Generator, *, width: int, hidden: int, latent: int) -> int:
    """Return the number of weights that rows move.

    Example:
        >>> trained_weights(Generator.GAN, width=3, hidden=2, latent=1)
        11
    """
    first = width * hidden + hidden
    match generator:
        case Generator.GAN:
            return first + hidden + 1
        case Generator.VAE:
            encoder = first + 2 * latent * (hidden + 1)
            return encoder + latent * hidden + hidden + width * (hidden + 1)
