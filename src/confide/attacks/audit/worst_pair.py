"""The pair of neighbouring databases at which a statistic loses most, for a black-box audit.

Targets of the sensitivity search are tried, each with nobody else in the database, and the one
whose exact vectors move furthest, in units of the plan's noise, is taken.

*Privacy:* no data of anybody are read.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.exact_loss import log_chance_of_set
from confide.attacks.audit.generate import Neighbours, neighbours
from confide.attacks.audit.generated_schema import ALPHABETS, base, schema
from confide.attacks.audit.searched import worst_of
from confide.attacks.audit.sensitivity_search import batched, by_database, exact_vectors
from confide.errors import UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.entropy import Entropy
from confide.noise.mechanism import Mechanism
from confide.noise.set_selection import SetSelection
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive
from confide.plans.plan import Noisy, Plan, Question, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.rows.engine import Exact
from confide.statistics.audited import Worst
from confide.tables.schema import Dataset

SEARCHED = 200
EPSILON, EPSILON_OF_CHOICES = Fraction(2), Fraction(1)
"""Loss of a release: small enough that events happen, large enough that they are told apart.

Under ``zcdp`` it is half of it: where σ is less than a step of the lattice, discrete Gaussian noise
is ρ-zCDP but its trade-off curve is not that of a Gaussian, by which it is judged.
"""
_RENAMED, _RENAMED_CHOICES = 2, 6
_FOR_CHOICES = 2_000

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTrial:
    """One statistic under one accounting.

    Attributes:
        statistic: Over the generated tables, or the generated network.
        measure: How losses are accounted.
        adjacency: How the two databases differ.
        entity: Whose change.
    """

    statistic: Statistic
    measure: Measure
    adjacency: Adjacency
    entity: Entity = Entity.PATIENT

    @property
    def name(self) -> str:
        """What is released, and under what."""
        how = f"{self.entity.value}, {self.adjacency.value}, {self.measure.value}"
        return f"{type(self.statistic).__name__} {self.statistic.id}, {how}"

    @property
    def worst(self) -> Worst:
        """Where its worst neighbours are."""
        return worst_of(self.statistic)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCopies(Statistic):
    """A statistic of each of many copies of a database at once.

    Its sensitivity is that of one copy: a patient is in one only.

    Attributes:
        of: The statistic.
        copies: How many.
    """

    of: Statistic
    copies: int

    @classmethod
    def made(cls, of: Statistic, *, copies: int) -> Self:
        """Return so many copies of a statistic, under its id."""
        return cls(id=of.id, table=of.table, of=of, copies=copies)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return those of the statistic, copy by copy."""
        return tuple(
            replace(asked, aggregate=batched(asked.aggregate, databases=self.copies))
            for asked in self.of.questions(dataset)
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return that of one copy."""
        return self.of.forecast(mechanisms, dataset=dataset, level=level)

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return nothing: the audit looks at the noisy numbers."""
        del noisy, mechanisms, dataset, simulation
        return ()


def audited_dataset(trial: KindTrial, *, databases: int) -> Dataset:
    """Return the public description of so many databases, under the trial's accounting."""
    return schema(
        databases=databases,
        entity=trial.entity,
        adjacency=trial.adjacency,
        measure=trial.measure,
    )


def _nano(epsilon: Fraction, measure: Measure) -> int:
    """Return the charge: ε under ``pure``, (ε/2)²/2 under ``zcdp``."""
    return int((epsilon if measure is Measure.PURE else epsilon**2 / 8) * NANO)


def audited_plan(statistics: Sequence[Statistic], *, dataset: Dataset, epsilon: Fraction) -> Plan:
    """Return a plan in which each statistic loses ``epsilon``, or (ε/2)²/2 under ``zcdp``."""
    return make_plan(
        [Ask(statistic=statistic) for statistic in statistics],
        study=Study(id="audit"),
        dataset=dataset,
        nano=_nano(epsilon, dataset.measure) * len(statistics),
    )


def neighbour_of(drawn: Neighbours, adjacency: Adjacency) -> Mapping[str, Any]:
    """Return the version of the databases that the trial compares with."""
    return drawn.absent if adjacency is Adjacency.ADD_REMOVE else drawn.replaced


def worst_pairs(trials: Sequence[KindTrial], *, entropy: Entropy) -> tuple[Neighbours, ...]:
    """Return, for each trial, the one database that loses most of those that L1 draws.

    Which rows of a patient are kept depends on the id, so the least loss under several ids counts.

    Args:
        trials: Of one unit, adjacency and measure.
        entropy: Of the search.
    """
    if not trials:
        return ()
    one = trials[0]
    drawn = neighbours(SEARCHED, entity=one.entity, entropy=entropy).alone()
    dataset = audited_dataset(one, databases=SEARCHED)
    statistics = [DatabaseCopies.made(trial.statistic, copies=SEARCHED) for trial in trials]
    plan = audited_plan(statistics, dataset=dataset, epsilon=EPSILON)
    turns = [_losses(plan, drawn.renamed(turn), trial=one) for turn in range(_RENAMED)]
    return tuple(
        drawn.only(int(np.argmax(np.min([turn[s.id] for turn in turns], axis=0))))
        for s in statistics
    )


def _losses(plan: Plan, drawn: Neighbours, *, trial: KindTrial) -> dict[str, Numbers]:
    """Return the loss of each database by each statistic, from exact vectors."""
    losses: dict[str, Numbers] = {s.id: np.zeros(drawn.databases) for s in plan.statistics}
    aggregates = tuple(m.aggregate for m in plan.measurements)
    vectors = (
        exact_vectors(frames, plan.dataset, aggregates)
        for frames in (drawn.present, neighbour_of(drawn, trial.adjacency))
    )
    for measurement, one, other in zip(plan.measurements, *vectors, strict=True):
        first, second = (numbers_of(v, databases=drawn.databases) for v in (one, other))
        moved = np.abs(first - second) / scale_of(measurement.mechanism)
        match plan.dataset.measure:
            case Measure.PURE:
                losses[measurement.statistic] += moved.sum(axis=1)
            case Measure.ZCDP:
                losses[measurement.statistic] += (moved**2).sum(axis=1) / 2
            case _:
                assert_never(plan.dataset.measure)
    return losses


def corner(*, entropy: Entropy) -> Neighbours:
    """Return a database of one patient at a corner of all bounds, and the empty one."""
    drawn = neighbours(SEARCHED, entity=Entity.PATIENT, entropy=entropy).alone()
    kept = drawn.present["events"]
    least = {name: ALPHABETS[name][0] for name in ("change", "whole", "amount")}
    table = kept.slice(0, 1)
    for name, value in least.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, _as_column(value, like=table[name]))
    first = Neighbours(
        databases=SEARCHED,
        present={**drawn.present, "events": table},
        absent={**drawn.absent, "events": kept.slice(0, 0)},
        replaced={**drawn.replaced, "events": kept.slice(0, 0)},
    )
    high, low = (int(table[name][0].as_py()) for name in ("db_high", "db_low"))
    return first.only(high * base(SEARCHED) + low)


def _as_column(value: float, *, like: Any) -> Any:
    """Return a column of one row with this value, of the type of another."""
    import pyarrow as pa

    return pa.array([value], type=like.type)


def numbers_of(vector: Exact, *, databases: int) -> Numbers:
    """Return a vector of whole numbers, database by database."""
    found = by_database(vector, databases=databases)
    if isinstance(found, dict):
        raise UnsupportedError("Unknown keys are audited in a trial of their own.")
    return found.astype(np.float64)


def scale_of(mechanism: Mechanism) -> float:
    """Return b of Laplace noise, in parts or whole, σ of Gaussian noise."""
    match additive(mechanism):
        case DiscreteLaplace(scale=scale) | PolyaDifference(scale=scale):
            return float(scale)
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return math.sqrt(sigma_squared)
        case other:
            assert_never(other)


def worst_choice(trial: KindTrial, *, entropy: Entropy) -> Neighbours:
    """Return the one database whose neighbour makes a likely choice least likely.

    Which rows of a patient are kept depends on the id, so the least loss under several ids counts.
    """
    drawn = neighbours(_FOR_CHOICES, entity=trial.entity, entropy=entropy).alone()
    dataset = audited_dataset(trial, databases=_FOR_CHOICES)
    statistic = DatabaseCopies.made(trial.statistic, copies=_FOR_CHOICES)
    (measurement,) = audited_plan(
        [statistic], dataset=dataset, epsilon=EPSILON_OF_CHOICES
    ).measurements
    choice = measurement.mechanism
    if not isinstance(choice, SetSelection):
        raise UnsupportedError("Choices are audited under pure differential privacy.")
    turns = [
        tuple(
            numbers_of(
                *exact_vectors(frames, dataset, (measurement.aggregate,)), databases=_FOR_CHOICES
            )
            for frames in (each.present, neighbour_of(each, trial.adjacency))
        )
        for each in map(drawn.renamed, range(_RENAMED_CHOICES))
    ]
    narrow = replace(choice, candidates=turns[0][0].shape[1])
    reaches = []
    for first, second in turns:
        moved = np.sort(first - second, axis=1)
        top, bottom = moved[:, -narrow.size :], moved[:, : narrow.size]
        reaches.append(top.sum(axis=1) - bottom.sum(axis=1))
    furthest = np.argsort(np.min(reaches, axis=0))[-SEARCHED:]
    apart = [
        min(
            _log_ratio(narrow, *(tuple(int(v) for v in each[place]) for each in turn))
            for turn in turns
        )
        for place in furthest
    ]
    return drawn.only(int(furthest[int(np.argmax(apart))]))


def _log_ratio(choice: SetSelection, first: Sequence[int], second: Sequence[int]) -> float:
    """Return the largest log-ratio of the chances of a set that is likely from the first."""
    sets = list(itertools.combinations(range(choice.candidates), choice.size))
    return max(
        log_chance_of_set(choice, first, chosen) - log_chance_of_set(choice, second, chosen)
        for chosen in sets
        if log_chance_of_set(choice, first, chosen) >= -math.log(len(sets))
    )
