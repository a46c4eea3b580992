"""What is asked next of rows that answer in turn: a function of noisy answers and public facts."""

import math
from collections.abc import Sequence
from typing import TypeAlias

from confide.errors import UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.mechanism import NoiseLaw
from confide.plans.cuts.second_cells import cells_asked, next_cells
from confide.plans.mechanisms import additive
from confide.plans.plan import Measurement
from confide.plans.rounds.class_walk import AskClassScores, next_class_ask
from confide.plans.rounds.descent import Ask, next_ask
from confide.plans.rounds.wide import WideAsk, next_wide_ask
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.refined import AskCells
from confide.tables.aggregates.shapes import Fitted, InRounds, Keyed, Ranked, Refined
from confide.tables.aggregates.wide_models.scale import wide_scale_of
from confide.tables.schema import Dataset

NextAsk: TypeAlias = Ask | WideAsk | AskClassScores | AskCells


def ask_in_turn(
    aggregate: InRounds,
    noisy: Sequence[int],
    *,
    mechanism: NoiseLaw,
    dataset: Dataset,
) -> NextAsk | None:
    """Return what is asked after these noisy answers, or None where all has been asked.

    Raises:
        UnsupportedError: If the noise does not suit the aggregate.
    """
    if isinstance(aggregate, Refined):
        return next_cells(aggregate, noisy, mechanism=mechanism, dataset=dataset)
    if not isinstance(mechanism, DiscreteGaussian):
        raise UnsupportedError("The mechanism does not suit its aggregate.")
    sigma = math.sqrt(mechanism.variance())
    if aggregate.wide:
        scale = wide_scale_of(aggregate, dataset=dataset)
        following = next_class_ask if scale.several else next_wide_ask
        return following(scale, noisy, sigma=sigma)
    return next_ask(aggregate, noisy, sigma=sigma, dataset=dataset)


def answer_length(measurement: Measurement, *, dataset: Dataset) -> int:
    """Return how many numbers the noisy vector of a measurement has.

    Raises:
        UnsupportedError: If what is chosen or kept are keys, of which nobody knows how many.
    """
    return sum(answer_lengths(measurement, dataset=dataset))


def answer_lengths(measurement: Measurement, *, dataset: Dataset) -> tuple[int, ...]:
    """Return how many numbers each answer has, of what is asked in turn; else of the one there is.

    A function of public facts alone.

    Raises:
        UnsupportedError: As :func:`answer_length`.
    """
    aggregate = measurement.aggregate
    if isinstance(aggregate, Keyed):
        raise UnsupportedError("Nobody knows how many keys are kept.")
    if isinstance(aggregate, Refined):
        return cells_asked(aggregate, mechanism=additive(measurement.mechanism), dataset=dataset)
    if isinstance(aggregate, Fitted):
        scale_in = wide_scale_of if aggregate.wide else scale_of
        return scale_in(aggregate, dataset=dataset).lengths
    return (aggregate.size if isinstance(aggregate, Ranked) else aggregate.coordinates(dataset),)
