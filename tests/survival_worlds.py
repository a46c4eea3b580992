"""Trials for tests of survival: a published one, and thousands of simulated ones at once."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.estimation.intervals import Component, noise_component
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.statistics.survival.table import ExitTable
from confide.tables.filter import Everything
from confide.tables.per_patient import HasAny
from confide.tables.schema import Column, Dataset, Kind, Table
from seeded import SeededEntropy

# Remission of acute leukaemia in weeks, 21 children on placebo and 21 on 6-MP.  Freireich et al.
# The effect of 6-mercaptopurine on the duration of steroid-induced remissions in acute leukemia.
# Blood 21(6), 1963, as tabulated by Cox (JRSS B 34(2), 1972, table 1).
PLACEBO = (1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)
TREATED = (6, 6, 6, 7, 10, 13, 16, 22, 23)
TREATED_CENSORED = (6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)
TIMES = np.array(PLACEBO + TREATED + TREATED_CENSORED)
RELAPSED = np.array([True] * 30 + [False] * 12)
ON_TREATMENT = np.array([False] * 21 + [True] * 21)


def table_of(times: NDArray, ways: NDArray, *, bins: int, causes: int = 1) -> NDArray[np.float64]:
    """Return exits in bins of one step: shape (bins + 1, causes + 1); way ``causes`` is
    censoring."""
    exits = np.zeros((bins + 1, causes + 1))
    np.add.at(exits, (np.minimum(times, bins), ways), 1)
    return exits


def simulated(
    patients: int,
    *,
    runs: int,
    bins: int,
    hazard: float,
    censoring: float,
    rng: np.random.Generator,
    causes: tuple[float, ...] = (1.0,),
) -> NDArray[np.float64]:
    """Return exits of many trials of one arm, (runs, bins + 1, causes + 1); rates are per bin."""
    events = rng.exponential(1 / hazard, (runs, patients))
    lost = rng.exponential(1 / censoring, (runs, patients)) if censoring else np.inf
    place = np.minimum(np.minimum(events, lost), bins).astype(int)
    cause = rng.choice(len(causes), (runs, patients), p=causes)
    way = np.where(events <= lost, cause, len(causes))
    exits = np.zeros((runs, bins + 1, len(causes) + 1))
    np.add.at(exits, (np.arange(runs)[:, None], place, way), 1)
    return exits


def true_survival(*, hazard: float, bins: int) -> NDArray[np.float64]:
    """Return who are without the event at the end of each bin, of all there ever will be."""
    return np.exp(-hazard * np.arange(1, bins + 1))


def true_mean(*, hazard: float, bins: int, step: int = 30) -> float:
    """Return the mean time without the event up to the horizon, in steps of the grid."""
    return float(np.exp(-hazard / step * np.arange(1, bins * step + 1)).sum())


def laplace_noise(shape: tuple[int, ...], *, scale: int, seed: int) -> NDArray[np.int64]:
    noise = DiscreteLaplace(scale=Fraction(scale))
    return noise.sample(int(np.prod(shape)), entropy=SeededEntropy(seed)).reshape(shape)


def component(scale: int) -> Component:
    return noise_component(DiscreteLaplace(scale=Fraction(scale)))


def noisy_table(exits: NDArray, *, scale: int, seed: int, step: int = 30) -> ExitTable:
    """Return a noisy table of exits; ``scale`` 0 is no noise."""
    edges = np.arange(exits.shape[-2]) * step
    if scale == 0:
        return ExitTable(exits=exits, edges=edges, noise=Component(variance=0.0))
    noise = laplace_noise(exits.shape, scale=scale, seed=seed)
    return ExitTable(exits=exits + noise, edges=edges, noise=component(scale))


def trial_dataset(
    *,
    measure: Measure = Measure.PURE,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    entity: Entity = Entity.PATIENT,
) -> Dataset:
    """One row a child with weeks in remission, and visits with several."""

    def categories(name: str, *keys: str) -> Column:
        codes = tuple((key, place) for place, key in enumerate(keys))
        return Column(name=name, kind=Kind.CATEGORY, source=name, keys=keys, codes=codes)

    children = Table(
        name="children",
        source="children",
        one_row_per_patient=True,
        columns=(
            categories("arm", "placebo", "treated"),
            categories("status", "remission", "relapse"),
            categories("ending", "lost", "relapse", "death", "study ended"),
            Column(name="weeks", kind=Kind.NUMBER, source="weeks", lower=0, upper=40, unit="wk"),
            Column(
                name="months",
                kind=Kind.NUMBER,
                source="months",
                lower=0,
                upper=40,
                scale=Fraction(1, 2),
                unit="mo",
            ),
            Column(name="born", kind=Kind.DATE, source="born", lower=0, upper=10_000),
        ),
    )
    visits = Table(
        name="visits",
        source="visits",
        columns=(
            categories("relapse", "no", "yes"),
            Column(name="week", kind=Kind.NUMBER, source="week", lower=0, upper=40, unit="wk"),
        ),
    )
    values = (HasAny(name="seen", table="visits", where=Everything()),)
    return Dataset(
        id="remission",
        lineage="remission",
        snapshot="1963",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        tables=(children, visits),
        per_patient=values if entity is Entity.PATIENT else (),
    )
