"""A small world of patients and events, and random databases over the poison alphabet."""

import datetime as dt
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Plain, Product
from confide.tables.bound_contributions import CellBound, CellOrder, RowBound
from confide.tables.by_code import Accepted, InUnit, Units
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DatePart,
    DaysOf,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Outside, Table

KEY = b"a key for tests only"
E_ACUTE_NFC, E_ACUTE_NFD = "\u00e9", "e\u0301"
DATABASES = 500

TEXTS = [
    None, "", E_ACUTE_NFC, E_ACUTE_NFD, "ß", "ss", "a\0b", "a", "A", "'; DROP TABLE s; --",
    "a\0", E_ACUTE_NFD + "\0a", E_ACUTE_NFC + "\0", "\0" + E_ACUTE_NFD, "\0\u0301",
]  # fmt: skip
ENDS = [E_ACUTE_NFD + "\0", E_ACUTE_NFC + "\0a", "\0\u0301", "\0" + E_ACUTE_NFD]
"""What ids end in that a reader of C strings takes for one another."""
LOWER, UPPER = 50.0, 60.0
NUMBERS = [
    None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, -1e308, 2.0**53 - 1, 2.0**53, 5e-324,
    LOWER, UPPER, math.nextafter(LOWER, -math.inf), math.nextafter(UPPER, math.inf),
    math.nextafter(LOWER, math.inf), 49.95, 49.94999, 60.05, 55.55, 55.25, 54.999999,
]  # fmt: skip
BIG = [None, 0.0, 2.0**53, -(2.0**53), 2.0**53 - 1, 2.0**60, -math.inf, math.nan, 0.5, -0.5, 1.5]
INTEGERS = [None, -(2**63), 2**63 - 1, 0, 1, -1, 7, 2**53 + 1]
DAYS = [
    None, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2020, 2, 29), dt.date(2020, 3, 1),
    dt.date(2019, 12, 31), dt.date(2020, 1, 1), dt.date(2024, 2, 29), dt.date(1970, 1, 1),
]  # fmt: skip
NUMBER_TEXTS = [None, "", "12", " 12 ", "1e2", "nan", "inf", "-0", "twelve", "0x12", "12,5", "\0"]
DATE_TEXTS = [None, "", "2020-02-29", "2020-02-29 23:59:59", "2020-02-30", "yesterday", "\0"]
WIDE = [f"c{i}" for i in range(40)]
JUDGED = ("code", "pressure", "typed", "day", "written", "wide")


def days(*ymd: int) -> int:
    return (dt.date(*ymd) - dt.date(1970, 1, 1)).days


def category(name: str, codes: dict[str, int], keys: int, **more) -> Column:
    labels = tuple(f"{name} {i}" for i in range(keys))
    return Column(
        name=name, kind=Kind.CATEGORY, source=name, keys=labels, codes=tuple(codes.items()), **more
    )


def number(name: str, lower: int, upper: int, **more) -> Column:
    return Column(name=name, kind=Kind.NUMBER, source=name, lower=lower, upper=upper, **more)


PERSON = Table(
    name="person",
    source="person",
    one_row_per_patient=True,
    columns=(
        category("sex", {"8507": 0, "8532": 1}, 3, other=2),
        number("age", 0, 120),
        number("db", 0, DATABASES),
    ),
)
EVENTS = Table(
    name="events",
    source="events",
    columns=(
        category(
            "code", {E_ACUTE_NFD: 0, "ß": 1, "a": 2, "a\0b": 3, E_ACUTE_NFC + "\0a": 2}, 5, nulls=4
        ),
        number("pressure", 500, 600, scale=Fraction(1, 10), unit="mm[Hg]"),
        number("strict", 500, 600, scale=Fraction(1, 10), outside=Outside.DROP, nulls=555),
        number("thirds", 0, 30, scale=Fraction(10, 3)),
        number("big", -(2**53), 2**53, outside=Outside.DROP),
        number("whole", -5, 7),
        number("typed", 0, 200, nulls=3),
        Column(
            name="day",
            kind=Kind.DATE,
            source="day",
            lower=days(2019, 6, 1),
            upper=days(2024, 3, 1),
        ),
        Column(
            name="written",
            kind=Kind.DATE,
            source="written",
            lower=days(2020, 1, 1),
            upper=days(2020, 12, 31),
            nulls=days(2020, 7, 1),
        ),
        Column(name="note", kind=Kind.TEXT, source="note"),
        category("wide", {code: i % 37 for i, code in enumerate(WIDE)}, 38, other=37),
        number("db", 0, DATABASES),
    ),
)
CODED = Table(
    name="coded",
    source="events",
    only=(Accepted(source="code", codes=(E_ACUTE_NFD, "a", "ß")),),
    without=(Accepted(source="whole", codes=("7",)), Accepted(source="typed", codes=("nan", "12"))),
    columns=(
        number(
            "pressure",
            500,
            1400,
            scale=Fraction(1, 10),
            absent=("50", "55.25"),
            units=Units(
                source="wide",
                known=(
                    *(InUnit(code=code, unit="mm[Hg]") for code in WIDE[:12]),
                    *(InUnit(code=code, unit="x", times=Fraction(9, 4)) for code in WIDE[12:24]),
                    InUnit(code=WIDE[24], unit="y", times=Fraction(1, 3), plus=Fraction(-160, 9)),
                    InUnit(code="unknown", unit="z", plus=Fraction(40)),
                ),
            ),
        ),
        category("whole", {"0": 0, "1": 1, "-1": 2}, 4, nulls=3, other=2, absent=("1",)),
        Column(name="note", kind=Kind.TEXT, source="note", absent=("ß", E_ACUTE_NFD)),
        number("typed", 0, 200, absent=("12.0", "100", "n/a")),
        Column(
            name="written",
            kind=Kind.DATE,
            source="written",
            lower=days(2020, 1, 1),
            upper=days(2020, 12, 31),
            absent=("2020-2-29", "unknown"),
        ),
        number("db", 0, DATABASES),
    ),
)
"""Rows of some codes, in three units and more, with codes that mean missing, spelled in other ways."""


def col(name: str, table: str = "events") -> ColumnOf:
    return ColumnOf(table=table, column=name)


EDGES = tuple(range(DATABASES + 1))
DB = BinOf(of=col("db"), edges=EDGES)
DB_OF_PERSON = BinOf(of=col("db", "person"), edges=EDGES)


STAY = DaysOf(start=col("written"), end=col("day"), lower=-30, upper=200)
STAY_INSIDE = DaysOf(start=col("written"), end=col("day"), lower=0, upper=150, inside=True)
SINCE_FIRST = DaysOf(start=ValueOf(name="first"), end=col("day"), lower=0, upper=90)
AGREED = All(of=(Between(of=col("pressure")), Between(of=col("code")), Between(of=col("typed"))))
GROUPS = CaseOf(
    keys=("low", "ß or long", "far", "rest", "unknown"),
    cases=(
        (All(of=(Between(of=col("pressure"), upper=545), Not(of=IsIn(of=col("code"), values=(4,))))), 0),
        (AnyOf(of=(IsIn(of=col("code"), values=(1, 2)), Between(of=STAY, lower=100))), 1),
        (Between(of=col("typed"), lower=50), 2),
        (AGREED, 3),
        (Everything(), 4),
    ),
)  # fmt: skip
"""The first that holds; the last two are what `else` and `missing` of a file become."""
OPEN_GROUPS = CaseOf(
    keys=("early", "old"),
    cases=((Between(of=col("day"), upper=days(2020, 3, 1)), 0), (Between(of=col("age", "person"), lower=60), 1)),
)  # fmt: skip


def asked_of_days_and_cases(db: BinOf):
    """Aggregates of dates subtracted within a row, and of the first case that holds."""
    stays = BinOf(of=STAY, edges=(-30, 0, 7, 60, 200))
    return (
        ask(axes=[db, stays]),
        ask(axes=[db], value=Centred(of=STAY)),
        ask(axes=[db], value=CentredSquare(of=STAY_INSIDE), bounds=RowBound(max_rows=2)),
        ask(axes=[db, BinOf(of=STAY_INSIDE, edges=(3, 30, 31, 150))]),
        ask(axes=[db], value=Plain(of=OrMissing(of=STAY_INSIDE)), bounds=CellBound(max_cells=1)),
        ask(axes=[db], value=Plain(of=SINCE_FIRST), where=Between(of=STAY, lower=-5)),
        ask(axes=[db, GROUPS]),
        ask(axes=[db, OrMissing(of=OPEN_GROUPS)], bounds=CellBound(max_cells=2)),
        ask(axes=[db, OPEN_GROUPS], value=Centred(of=col("pressure"))),
        ask(axes=[db], where=IsIn(of=GROUPS, values=(1, 4)), bounds=RowBound(max_rows=2)),
        ask(axes=[db, Holds(of=IsIn(of=OPEN_GROUPS, values=(0,)))]),
    )


def val(name: str) -> ValueOf:
    return ValueOf(name=name)


PER_PATIENT = (
    AtEnd(name="first", which=Which.FIRST, table="events", column="day", by="day", where=Everything()),
    AtEnd(name="last", which=Which.LAST, table="events", column="written", by="day", where=Everything()),
    AtEnd(
        name="first a",
        which=Which.FIRST,
        table="events",
        column="day",
        by="day",
        where=IsIn(of=col("code"), values=(2, 3)),
    ),
    AtEnd(
        name="pressure before",
        which=Which.LAST,
        table="events",
        column="pressure",
        by="day",
        where=Everything(),
        before="first a",
    ),
    HasAny(name="any ß", table="events", where=IsIn(of=col("code"), values=(1,))),
    CountOf(name="how many", table="events", where=Not(of=Between(of=col("pressure"))), at_most=2),
    DaysBetween(name="follow-up", start="first", end="last", lower=-100, upper=1000),
)  # fmt: skip


def dataset(entity: Entity = Entity.PATIENT, **changes) -> Dataset:
    given = {
        "id": "world",
        "lineage": "world",
        "snapshot": "1",
        "unit": PrivacyUnit(entity=entity, id_column="pid"),
        "adjacency": Adjacency.ADD_REMOVE,
        "measure": Measure.PURE,
        "tables": (PERSON, EVENTS, CODED),
        "population_at_most": 10**6,
        "per_patient": PER_PATIENT,
    }
    return Dataset(**{**given, **changes})


def ask(table="events", axes=(), value=None, bounds=None, where=None) -> Aggregate:
    return Aggregate(
        relation=Relation(table=table, where=where or Everything()),
        axes=tuple(axes),
        value=value or Ones(),
        bounds=bounds or RowBound(max_rows=2),
    )


def asked_of_codes() -> tuple[Aggregate | KeyedAggregate, ...]:
    """What is asked of a table whose rows are chosen by codes and units."""
    db = BinOf(of=col("db", "coded"), edges=EDGES)
    pressure, state = col("pressure", "coded"), col("whole", "coded")
    typed, written = col("typed", "coded"), col("written", "coded")
    return (
        ask("coded", axes=[db, state], bounds=RowBound(max_rows=1)),
        ask("coded", axes=[db], value=Plain(of=pressure), bounds=RowBound(max_rows=2)),
        ask("coded", axes=[db], value=Centred(of=pressure), bounds=CellBound(max_cells=1)),
        ask("coded", axes=[db, QualityOf(of=pressure)]),
        ask("coded", axes=[db, QualityOf(of=state)]),
        ask("coded", axes=[db, QualityOf(of=typed)]),
        ask("coded", axes=[db, QualityOf(of=written)]),
        ask("coded", axes=[db], value=Plain(of=typed), bounds=RowBound(max_rows=2)),
        KeyedAggregate(
            relation=Relation(table="coded"),
            key=col("note", "coded"),
            bounds=CellBound(max_cells=1),
        ),
    )


def menu() -> tuple[Aggregate | KeyedAggregate, ...]:
    """Every operator at least once; the first axis is the database where it can be."""
    db, of_person = DB, DB_OF_PERSON
    known = Between(of=col("pressure"))
    two = CellBound(max_cells=2, max_rows_per_cell=2)
    return (
        ask(axes=[db, col("code")], bounds=CellBound(max_cells=2)),
        ask(axes=[db, col("code")], value=Plain(of=col("pressure")), bounds=two),
        ask(axes=[db, col("code")], bounds=two, where=known),
        ask(axes=[db], value=Centred(of=col("pressure"))),
        ask(axes=[db], value=CentredSquare(of=col("pressure"))),
        ask(axes=[db], where=known),
        ask(
            axes=[db],
            value=Product(of=(Centred(of=col("pressure")), Plain(of=col("whole")))),
            bounds=two,
        ),
        ask(axes=[db], value=Centred(of=col("whole")), where=known, bounds=two),
        ask(
            axes=[db],
            value=Product(
                of=(Plain(of=col("big")), *(Centred(of=col("thirds")),) * 2, Plain(of=col("thirds")))
            ),
        ),
        ask(axes=[db], value=Plain(of=col("strict")), bounds=RowBound(max_rows=1)),
        ask(axes=[db], value=Plain(of=col("thirds")), bounds=RowBound(max_rows=3)),
        ask(axes=[db], value=CentredSquare(of=col("big")), bounds=CellBound(max_cells=1)),
        ask(axes=[db], value=Plain(of=col("whole")), where=Not(of=IsIn(of=col("code"), values=(0,)))),
        ask(axes=[db], value=Plain(of=col("typed"))),
        ask(
            axes=[db, BinOf(of=col("pressure"), edges=(500, 520, 540, 560, 580, 600))],
            bounds=CellBound(max_cells=1),
        ),
        ask(
            axes=[db, BinOf(of=col("pressure"), edges=(510, 511, 550, 551, 599))],
            bounds=CellBound(max_cells=1),
        ),
        *(ask(axes=[db, PartOf(of=col("day"), part=part)]) for part in DatePart if part is not DatePart.DAY),
        ask(axes=[PartOf(of=col("day"), part=DatePart.DAY)], bounds=CellBound(max_cells=1)),
        ask(axes=[PartOf(of=col("written"), part=DatePart.MONTH), col("wide")]),
        *(
            ask(
                axes=[db, PartOf(of=col("day"), part=DatePart.WEEK, since=days(2020, 1, 15))],
                bounds=CellBound(max_cells=k, max_rows_per_cell=2, order=CellOrder.EARLIEST),
            )
            for k in (1, 2, 2001)
        ),
        ask(
            axes=[db, col("code"), PartOf(of=col("day"), part=DatePart.MONTH, until=days(2020, 9, 9))],
            value=Plain(of=col("pressure")),
            bounds=CellBound(max_cells=2, order=CellOrder.EARLIEST),
        ),
        ask("person", axes=[of_person, col("sex", "person"), val("any ß")]),
        ask("person", axes=[of_person], value=Plain(of=val("how many"))),
        ask("person", axes=[of_person], value=Plain(of=val("follow-up"))),
        ask("person", axes=[of_person], value=Plain(of=val("pressure before"))),
        ask(axes=[db, col("sex", "person")], value=Plain(of=col("age", "person"))),
        ask(
            axes=[db, Holds(of=All(of=(known, Not(of=Between(of=col("age", "person"), lower=50)))))],
            where=AnyOf(
                of=(
                    Between(of=val("first"), upper=days(2020, 2, 29)),
                    IsIn(of=val("how many"), values=(2,)),
                    IsIn(of=col("age", "person"), values=()),
                )
            ),
        ),
        ask(axes=[db, OrMissing(of=col("sex", "person"))], bounds=CellBound(max_cells=1)),
        ask(axes=[db, OrMissing(of=BinOf(of=col("pressure"), edges=(510, 511, 550, 599)))]),
        ask(axes=[OrMissing(of=PartOf(of=col("day"), part=DatePart.YEAR)), OrMissing(of=col("wide"))]),
        ask(axes=[db, Holds(of=Between(of=col("pressure"), upper=550))]),
        ask(axes=[db, Holds(of=known)], value=Centred(of=OrMissing(of=col("pressure")))),
        ask(axes=[db, Holds(of=known)], value=CentredSquare(of=OrMissing(of=col("pressure")))),
        ask("person", axes=[of_person, QualityOf(of=col("age", "person"))]),
        *(ask(axes=[db, QualityOf(of=col(name))]) for name in JUDGED),
        ask(axes=[db, QualityOf(of=col("strict")), QualityOf(of=col("big"))], bounds=two),
        *asked_of_days_and_cases(db),
        *asked_of_codes(),
        KeyedAggregate(
            relation=Relation(table="events"), key=col("note"), bounds=CellBound(max_cells=2)
        ),
        KeyedAggregate(
            relation=Relation(table="events", where=Between(of=col("day"), lower=days(2020, 1, 1))),
            key=col("note"),
            bounds=CellBound(max_cells=1),
        ),
    )  # fmt: skip


@dataclass
class Database:
    """Arrow tables for an engine, and the same rows as dicts for the reference."""

    frames: dict[str, pa.Table]

    @property
    def rows(self) -> dict[str, list[dict]]:
        return {name: table.to_pylist() for name, table in self.frames.items()}


def random_database(
    seed: int, *, text_ids: bool = False, patients: int = 3, events: int = 4
) -> Database:
    """``DATABASES`` small databases side by side: a patient belongs to one, the axis ``db``."""
    rng = np.random.default_rng(seed)

    def pick(alphabet, count):
        return [alphabet[i] for i in rng.integers(len(alphabet), size=count)]

    def ids(where):
        local = rng.integers(patients, size=len(where))
        whole = [int(w) * patients + int(p) - 5 for w, p in zip(where, local, strict=True)]
        if not text_ids:
            return pa.array([None if rng.random() < 0.03 else i for i in whole], pa.int64())
        suffix = pick(["", E_ACUTE_NFC, E_ACUTE_NFD, *ENDS], len(where))
        odd = pick([None, "", *["x"] * 40], len(where))
        return pa.array(
            [o if o != "x" else f"{i}{s}" for o, i, s in zip(odd, whole, suffix, strict=True)],
            pa.string(),
        )

    n_person, n_events = DATABASES * patients, DATABASES * events
    where = rng.integers(DATABASES, size=n_person)
    person = {
        "pid": ids(where),
        "sex": pa.array(pick(["8507", "8532", "0", None], n_person)),
        "age": pa.array(pick([None, 20, 49, 50, 119, 400], n_person), pa.int16()),
        "db": pa.array(where, pa.int32()),
    }
    where = rng.integers(DATABASES, size=n_events)
    event = {
        "pid": ids(where),
        "code": pa.array(pick(TEXTS, n_events)),
        "pressure": pa.array(pick(NUMBERS, n_events), pa.float64()),
        "strict": pa.array(pick(NUMBERS, n_events), pa.float64()),
        "thirds": pa.array(pick(NUMBERS, n_events), pa.float64()),
        "big": pa.array(pick(BIG, n_events), pa.float64()),
        "whole": pa.array(pick(INTEGERS, n_events), pa.int64()),
        "typed": pa.array(pick(NUMBER_TEXTS, n_events), pa.large_string()),
        "day": pa.array(pick(DAYS, n_events), pa.date32()),
        "written": pa.array(pick(DATE_TEXTS, n_events)),
        "note": pa.array(pick(TEXTS, n_events)),
        "wide": pa.array(pick([*WIDE, None, "", "unknown"], n_events)),
        "db": pa.array(where.astype(float), pa.float64()),
    }
    twice = rng.integers(n_events, size=n_events // 4)  # duplicated rows
    events_table = pa.table(event)
    doubled = pa.concat_tables([events_table, events_table.take(twice)])
    return Database(frames={"person": pa.table(person), "events": doubled})
