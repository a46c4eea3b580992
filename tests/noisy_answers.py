"""Public facts, exact vectors and noisy answers for tests of statistics."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import Mechanism
from confide.plans.estimates import Estimate
from confide.plans.plan import Statistic
from confide.plans.pricing.allocate import mechanism_for
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.aggregates.refined import GridCounts, RefinedAggregate
from confide.tables.aggregates.shapes import Measured
from confide.tables.expression import BinOf, ColumnOf
from confide.tables.schema import Column, Dataset, Derived, Kind, Table
from seeded import SeededEntropy

SIMULATION = Simulation(payload_digest="00" * 32)


def dataset(
    *,
    measure: Measure = Measure.PURE,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    entity: Entity = Entity.PATIENT,
    delta: Fraction = Fraction(1, 10**6),
) -> Dataset:
    """Two tables: participants with one row each, visits with any number."""
    participants = Table(
        name="participants",
        source="participants",
        one_row_per_patient=True,
        columns=(
            _categories("sex", "male", "female"),
            _categories("diabetes", "no", "yes"),
            Column(name="age", kind=Kind.NUMBER, source="age", lower=0, upper=100, unit="a"),
            Column(
                name="pressure",
                kind=Kind.NUMBER,
                source="pressure",
                lower=80,
                upper=200,
                unit="mm[Hg]",
            ),
            Column(
                name="bmi",
                kind=Kind.NUMBER,
                source="bmi",
                lower=100,
                upper=701,
                scale=Fraction(1, 10),
                unit="kg/m2",
            ),
            Column(name="born", kind=Kind.DATE, source="born", lower=-20_000, upper=20_000),
            Column(name="city", kind=Kind.TEXT, source="city"),
        ),
    )
    visits = Table(
        name="visits",
        source="visits",
        columns=(
            _categories("ward", "a", "b", "c"),
            Column(name="days", kind=Kind.NUMBER, source="days", lower=0, upper=30, unit="d"),
            Column(name="reason", kind=Kind.TEXT, source="reason"),
        ),
    )
    return Dataset(
        id="clinic",
        lineage="clinic",
        snapshot="1",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=delta,
        selection_delta=delta / 2,
        tables=(participants, visits),
        derived=(
            Derived(
                name="age_band",
                of=BinOf(of=ColumnOf(table="participants", column="age"), edges=(0, 40, 65, 100)),
            ),
        ),
    )


def _categories(name: str, *keys: str) -> Column:
    codes = tuple((key, i) for i, key in enumerate(keys))
    return Column(name=name, kind=Kind.CATEGORY, source=name, keys=keys, codes=codes)


def mechanisms(
    statistic: Statistic, *, to: Dataset, spend: float | Fraction, delta: Fraction = Fraction(0)
) -> dict[str, Mechanism]:
    """Return the noise of a statistic that is given ``spend`` in the data set's measure."""
    questions = statistic.questions(to)
    total = sum(question.weight for question in questions)
    return {
        question.name: mechanism_for(
            question,
            nano=int(Fraction(spend) * NANO * question.weight / total),
            atto=int(delta * ATTO),
            dataset=to,
        )
        for question in questions
    }


def estimate(
    statistic: Statistic,
    noisy: Mapping[str, tuple[int, ...]],
    *,
    to: Dataset,
    noise: Mapping[str, Mechanism],
) -> tuple[Estimate, ...]:
    """Return what a statistic makes of noisy answers."""
    return statistic.estimate(noisy, mechanisms=noise, dataset=to, simulation=SIMULATION)


def draws(
    exact: Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]],
    *,
    noise: Mapping[str, Mechanism],
    runs: int,
    seed: int,
    asked: Mapping[str, Measured] | None = None,
    to: Dataset | None = None,
) -> Iterator[dict[str, tuple[int, ...]]]:
    """Yield noisy answers; ``exact`` is one world, or one for each run.

    ``asked`` and ``to`` are needed of what answers in turn.
    """
    entropy = SeededEntropy(seed)
    worlds = [exact] * runs if isinstance(exact, Mapping) else list(exact)
    tables: dict[str, list[list[int]]] = {}
    for name, mechanism in noise.items():
        assert isinstance(mechanism, DiscreteLaplace | DiscreteGaussian)
        aggregate = (asked or {}).get(name)
        if isinstance(aggregate, RefinedAggregate):
            tables[name] = [
                in_turn(aggregate, world[name], mechanism=mechanism, to=to, entropy=entropy)
                for world in worlds
            ]
            continue
        vectors = np.array([world[name] for world in worlds], dtype=np.int64)
        drawn = mechanism.sample(vectors.size, entropy=entropy)
        tables[name] = (vectors + drawn.reshape(vectors.shape)).tolist()
    for run in range(len(worlds)):
        yield {name: tuple(table[run]) for name, table in tables.items()}


def in_turn(
    aggregate: RefinedAggregate,
    rows: GridCounts,
    *,
    mechanism: DiscreteLaplace | DiscreteGaussian,
    to: Dataset,
    entropy: SeededEntropy,
) -> list[int]:
    """Return noisy answers to what is asked in turn."""
    noisy: list[int] = []
    while ask := ask_in_turn(aggregate, noisy, mechanism=mechanism, dataset=to):
        exact = np.array(rows.answer(ask), dtype=np.int64)
        noisy += (exact + mechanism.sample(exact.size, entropy=entropy)).tolist()
    return noisy


def moments(values: NDArray[np.int64], *, lower: int, upper: int, degree: int) -> tuple[int, ...]:
    """Return the exact vector of a moment aggregate of one cell."""
    below, above = upper - values, values - lower
    columns = (below, above) if degree == 1 else (below * below, 2 * below * above, above * above)
    return tuple(int(column.sum()) for column in columns)
