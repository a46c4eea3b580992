"""A public description of visits over time, for tests of series and running counts."""

import datetime as dt
from fractions import Fraction

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.expression import BinOf, ColumnOf
from confide.tables.relation import EPOCH
from confide.tables.schema import Column, Dataset, Derived, Kind, Table


def day(text: str) -> int:
    return dt.date.fromisoformat(text).toordinal() - EPOCH


def visits(
    *,
    measure: Measure = Measure.ZCDP,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    entity: Entity = Entity.PATIENT,
) -> Dataset:
    """Visits with a day, the day of the event, a ward, hours since admission and a heart rate."""

    def date(name: str) -> Column:
        low, high = day("2026-01-01"), day("2026-12-31")
        return Column(name=name, kind=Kind.DATE, source=name, lower=low, upper=high)

    codes = (("a", 0), ("b", 1))
    return Dataset(
        id="ward",
        lineage="ward",
        snapshot="1",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        population_at_most=10**6,
        tables=(
            Table(
                name="visits",
                source="visits",
                columns=(
                    date("reported"),
                    date("happened"),
                    Column(
                        name="ward",
                        kind=Kind.CATEGORY,
                        source="ward",
                        keys=("a", "b"),
                        codes=codes,
                    ),
                    Column(name="hour", kind=Kind.NUMBER, source="hour", lower=0, upper=48),
                    Column(
                        name="rate",
                        kind=Kind.NUMBER,
                        source="rate",
                        lower=30,
                        upper=200,
                        unit="/min",
                    ),
                ),
            ),
        ),
        derived=(
            Derived(
                name="hours",
                of=BinOf(of=ColumnOf(table="visits", column="hour"), edges=tuple(range(0, 49, 4))),
            ),
        ),
    )
