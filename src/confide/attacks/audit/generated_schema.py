"""The public description of generated databases, and the alphabet that their cells are drawn from.

The alphabet holds what has broken implementations: NaN, ±∞, −0.0, ±1e308, 2⁵³ ± 1, the limits of
int64, NULL, "", Unicode twins, U+0000, first and last dates, leap days, bounds and their neighbours
in floating point [Casa22].

*Privacy:* no data of anybody are read.

References:
    [Casa22] Casacuberta, Shoemate, Vadhan, Wagaman. Widespread underestimation of sensitivity in
        differentially private libraries and how to fix it. CCS 2022.
        https://arxiv.org/abs/2207.10635
"""

import datetime as dt
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DatePart,
    DaysOf,
    PartOf,
    ValueOf,
)
from confide.tables.filter import (
    AnyOf,
    Between,
    Everything,
    IsIn,
)
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import EPOCH
from confide.tables.schema import Column, Dataset, Derived, Kind, Outside, Table
from confide.tables.spine import Spine

_FIRST_DAY, _LAST_DAY = dt.date(2024, 1, 1), dt.date(2024, 12, 31)
_INFINITE = 2**31 - 1  # a date that the engine reads as ∞


def _days(*ymd: int) -> int:
    return dt.date(*ymd).toordinal() - EPOCH


def _around(bound: float) -> tuple[float, float, float]:
    return math.nextafter(bound, -math.inf), bound, math.nextafter(bound, math.inf)


_POISON = (None, math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 2.0**53 - 1, 2.0**53 + 2)
# The first two of each number are its extremes, the first four of each label different cells.
ALPHABETS: Mapping[str, tuple[Any, ...]] = {
    "amount": (0.0, 100.0, *_POISON, *_around(0.0), *_around(100.0), 49.5, 50.0, 5e-324),
    "change": (-math.inf, math.inf, *_POISON, *_around(-30.0), *_around(30.0), 0.05, -0.05, 1.25),
    "big": (-(2.0**60), 2.0**60, *_POISON, 2.0**53, -(2.0**53), 0.5, -0.5),
    "whole": (-(2**63), 2**63 - 1, None, 0, 1, -1, 7, -7, 8, -8, 2**53 + 1),
    "code": ("A", "B", "C", "D", "\u00e9", "e\u0301", "ß", "ss", "", None, "a\0b", "a", "other"),
    "day": (
        _days(2024, 1, 31), _days(2024, 4, 1), _days(2024, 7, 1), _days(2024, 12, 31),
        _days(2024, 2, 29), _days(2020, 2, 29), _days(1, 1, 1), _days(9999, 12, 31),
        _days(2023, 12, 31), _days(2025, 1, 1), _INFINITE, -_INFINITE, None,
    ),
    "note": ("flu", "asthma", "gout", "angina", "\u00e9", "e\u0301", "ß", None, "a\0b", "a", "A"),
    "sex": ("f", "m", None, "", "x"),
    "age": (0.0, 110.0, *_POISON, 110.5, -0.5, 40.0),
}  # fmt: skip

_DIGITS = ("db_high", "db_low")


def schema(
    *, databases: int, entity: Entity, adjacency: Adjacency, measure: Measure = Measure.ZCDP
) -> Dataset:
    """Return the public description of the generated tables."""
    return Dataset(
        id="audit",
        lineage="audit",
        snapshot="generated",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        selection_delta=Fraction(1, 10**7),
        population_at_most=10**6,
        tables=(
            Table(
                name="events",
                source="events",
                columns=(*_EVENTS, *_digits(databases)),
                weight="amount",
            ),
            Table(
                name="patients",
                source="patients",
                columns=(*_PATIENTS, *_digits(databases)),
                one_row_per_patient=True,
                weight="age",
            ),
        ),
        per_patient=_VALUES if entity is Entity.PATIENT else (),
        spines=(_PLACE,),
        derived=_DERIVED if entity is Entity.PATIENT else _DERIVED[:2],
    )


def database_axes(table: str, *, databases: int) -> tuple[BinOf, BinOf]:
    """Return two axes that tell the databases of a search apart: two digits of their numbers."""
    edges = tuple(range(base(databases) + 1))
    high, low = (BinOf(of=ColumnOf(table=table, column=name), edges=edges) for name in _DIGITS)
    return high, low


def base(databases: int) -> int:
    """Return the least base in which two digits number all databases."""
    return math.isqrt(databases - 1) + 1


def _digits(databases: int) -> tuple[Column, ...]:
    return tuple(
        Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=base(databases))
        for name in _DIGITS
    )


def _category(
    name: str, codes: Mapping[str, int], keys: str, *, source: str = "", **more: Any
) -> Column:
    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source or name,
        keys=tuple(keys),
        codes=tuple(codes.items()),
        **more,
    )


_FILLERS = {f"filler {i}": i % 4 for i in range(32)}
"""Codes that no row has; with so many, a list is joined."""

_EVENTS = (
    Column(name="amount", kind=Kind.NUMBER, source="amount", lower=0, upper=100),
    Column(
        name="change",
        kind=Kind.NUMBER,
        source="change",
        lower=-300,
        upper=300,
        scale=Fraction(1, 10),
        nulls=0,
    ),
    Column(name="big", kind=Kind.NUMBER, source="big", lower=-(2**53), upper=2**53),
    Column(name="whole", kind=Kind.NUMBER, source="whole", lower=-7, upper=7),
    Column(
        name="strict",
        kind=Kind.NUMBER,
        source="amount",
        lower=0,
        upper=100,
        outside=Outside.DROP,
    ),
    _category(
        "code", {"A": 0, "B": 1, "C": 2, "D": 3, "\u00e9": 0, "ß": 1, "a\0b": 2}, "ABCD", other=3
    ),
    Column(
        name="day",
        kind=Kind.DATE,
        source="day",
        lower=_FIRST_DAY.toordinal() - EPOCH,
        upper=_LAST_DAY.toordinal() - EPOCH,
    ),
    Column(name="note", kind=Kind.TEXT, source="note"),
    _category(  # codes that differ in case or accents alone: a row has one of them
        "listed",
        {"A": 0, "B": 1, "C": 2, "D": 3, "a": 1, "b": 2, "\u00e9": 2, "e": 0, "ß": 3, "ss": 1}
        | _FILLERS,
        "ABCD",
        source="code",
    ),
)
_PATIENTS = (
    _category("sex", {"f": 0, "m": 1}, "fm"),
    Column(name="age", kind=Kind.NUMBER, source="age", lower=0, upper=110),
)
_AMOUNT, _DAY = ColumnOf(table="events", column="amount"), ColumnOf(table="events", column="day")
_VALUES = (
    AtEnd(
        name="first",
        which=Which.FIRST,
        table="events",
        column="day",
        by="day",
        where=Between(of=_AMOUNT, lower=50),
    ),
    AtEnd(
        name="latest",
        which=Which.LAST,
        table="events",
        column="change",
        by="day",
        where=Everything(),
        before="end",
    ),
    AtEnd(name="end", which=Which.LAST, table="events", column="day", by="day", where=Everything()),
    HasAny(
        name="any",
        table="events",
        where=IsIn(of=ColumnOf(table="events", column="code"), values=(0, 2)),
    ),
    CountOf(name="many", table="events", where=Everything(), at_most=5),
    DaysBetween(name="span", start="first", end="end", lower=0, upper=100),
)
_PLACE = Spine(
    name="place",
    levels=("code", "block"),
    areas=(("A", "low"), ("B", "low"), ("C", "high"), ("D", "high")),
    population=(10, 20, 40, 80),
)
_SINCE_FIRST = DaysOf(start=ValueOf(name="first"), end=_DAY, lower=0, upper=60)
_ROUTE = CaseOf(
    keys=("A or late", "much", "rest", "unknown"),
    cases=(
        (
            AnyOf(
                of=(
                    IsIn(of=ColumnOf(table="events", column="code"), values=(0,)),
                    Between(of=_SINCE_FIRST, lower=30),
                )
            ),
            0,
        ),
        (Between(of=_AMOUNT, lower=60), 1),
        (Between(of=_AMOUNT), 2),
        (Everything(), 3),
    ),
)
_DERIVED = (
    Derived(name="quarter", of=PartOf(of=_DAY, part=DatePart.QUARTER)),
    Derived(name="band", of=BinOf(of=_AMOUNT, edges=(0, 10, 60, 100))),
    Derived(name="visits", of=BinOf(of=ValueOf(name="many"), edges=(0, 1, 3, 5))),
    Derived(name="stay", of=BinOf(of=ValueOf(name="span"), edges=(0, 50, 100))),
    Derived(name="route", of=_ROUTE),
)
