"""What is asked next of rows that answer in turn: a function of noisy answers and public facts."""

import math
from collections.abc import Sequence
from typing import TypeAlias, assert_never

from confide.errors import UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.cuts.cuts import cells_asked, next_cells
from confide.plans.mechanisms import additive
from confide.plans.plan import Measurement
from confide.plans.rounds.descent import Ask, next_ask
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.refined import AskCells, RefinedAggregate
from confide.tables.aggregates.shapes import InRounds, Keyed, Ranked
from confide.tables.schema import Dataset

Asking: TypeAlias = Ask | AskCells


def ask_in_turn(
    aggregate: InRounds,
    noisy: Sequence[int],
    *,
    mechanism: DiscreteLaplace | DiscreteGaussian,
    dataset: Dataset,
) -> Asking | None:
    """Return what is asked after these noisy answers, or None where all has been asked.

    Raises:
        UnsupportedError: If the noise does not suit the aggregate.
    """
    match aggregate:
        case DescentAggregate():
            if not isinstance(mechanism, DiscreteGaussian):
                raise UnsupportedError("The mechanism does not suit its aggregate.")
            sigma = math.sqrt(mechanism.variance())
            return next_ask(aggregate, noisy, sigma=sigma, dataset=dataset)
        case RefinedAggregate():
            return next_cells(aggregate, noisy, mechanism=mechanism, dataset=dataset)
        case _:
            assert_never(aggregate)


def answer_length(measurement: Measurement, *, dataset: Dataset) -> int:
    """Return how many numbers the noisy vector of a measurement has.

    Raises:
        UnsupportedError: If what is chosen or kept are keys, of which nobody knows how many.
    """
    aggregate = measurement.aggregate
    if isinstance(aggregate, Keyed):
        raise UnsupportedError("Nobody knows how many keys are kept.")
    if isinstance(aggregate, RefinedAggregate):
        return cells_asked(aggregate, mechanism=additive(measurement.mechanism), dataset=dataset)
    return aggregate.size if isinstance(aggregate, Ranked) else aggregate.coordinates(dataset)
