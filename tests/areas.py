"""Public facts about areas within areas, for tests of hierarchies and rates."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.spine import Spine

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])


def squares(labels, *, degrees: bool = True):
    """Return a row of neighbouring squares, a degree (or 100 km) each."""
    size = 1.0 if degrees else 100_000.0
    origin = (-77.0, 42.0) if degrees else (400_000.0, 4_700_000.0)
    return {
        label: (SQUARE / 10 * size + np.array(origin) + np.array([place * size, 0.0]),)
        for place, label in enumerate(labels)
    }


def tract_column(labels: Sequence[str]) -> Column:
    codes = tuple((label, place) for place, label in enumerate(labels))
    return Column(name="tract", kind=Kind.CATEGORY, source="tract", keys=tuple(labels), codes=codes)


def land(
    counties: Sequence[int],
    *,
    population: Sequence[int] = (),
    measure: Measure = Measure.ZCDP,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    entity: Entity = Entity.PATIENT,
    levels: int = 2,
) -> Dataset:
    """Counties with so many tracts each: persons with one row, visits with any number.

    With three levels, two neighbouring counties make a state.
    """
    areas = [
        (f"t{county}.{tract}", f"c{county}", f"s{county // 2}")[:levels]
        for county, tracts in enumerate(counties)
        for tract in range(tracts)
    ]
    labels = [area[0] for area in areas]
    sick = Column(
        name="sick",
        kind=Kind.CATEGORY,
        source="sick",
        keys=("no", "yes"),
        codes=(("no", 0), ("yes", 1)),
    )
    return Dataset(
        id="land",
        lineage="land",
        snapshot="1",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        selection_delta=Fraction(1, 10**7),
        tables=(
            Table(
                name="persons",
                source="persons",
                columns=(tract_column(labels), sick),
                one_row_per_patient=True,
            ),
            Table(name="visits", source="visits", columns=(tract_column(labels), sick)),
        ),
        spines=(
            Spine(
                name="place",
                levels=("tract", "county", "state")[:levels],
                areas=tuple(areas),
                population=tuple(population),
                because="census of 2020",
            ),
        ),
    )


def without_spines(dataset: Dataset) -> Dataset:
    return replace(dataset, spines=())
