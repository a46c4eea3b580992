"""Random counts of random clinics, and a search for sums of published cells that are wrong."""

import datetime as dt
import random
from collections import Counter
from dataclasses import dataclass

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.tables import cell_sums as rule
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import (
    BinOf,
    CaseOf,
    DatePart,
    DaysOf,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from reference_engine import Reference
from rows_world import EVENTS, KEY, PERSON, ask, col, dataset, days, val

START, END = dt.date(2019, 5, 1), dt.date(2024, 4, 1)
AGE, SEX, CODE, DAY = col("age", "person"), col("sex", "person"), col("code"), col("day")
FINE = BinOf(of=AGE, edges=(0, 20, 40, 60, 80, 120))
COARSE = BinOf(of=AGE, edges=(20, 40, 80))
ASKEW = BinOf(of=AGE, edges=(0, 30, 120))
MONTHS = PartOf(of=DAY, part=DatePart.MONTH, since=days(2020, 1, 1), until=days(2020, 12, 31))
QUARTERS = PartOf(of=DAY, part=DatePart.QUARTER, since=days(2020, 1, 1), until=days(2020, 12, 31))
WEEKS = PartOf(of=DAY, part=DatePart.WEEK, since=days(2020, 1, 1), until=days(2020, 12, 31))
OLD = Between(of=AGE, lower=60)
ANY = val("any ß")

FINE_OR_NONE, SEX_OR_NONE = OrMissing(of=FINE), OrMissing(of=SEX)
CODE_OR_NONE = OrMissing(of=CODE)
USABLE = QualityOf(of=AGE)

YOUNG = IsIn(of=FINE, values=(0, 1))
STAGE = CaseOf(keys=("young", "old", "between"), cases=((YOUNG, 0), (OLD, 1), (Between(of=AGE), 2)))
ALL_STAGES = CaseOf(
    keys=("old or other", "male", "rest"),
    cases=((Not(of=Between(of=AGE, upper=59)), 0), (IsIn(of=SEX, values=(0,)), 1), (Everything(), 2)),
)  # fmt: skip
STAY = DaysOf(start=val("first"), end=DAY, lower=0, upper=200)
WAIT = BinOf(of=STAY, edges=(0, 1, 30, 200))
CODES = CaseOf(keys=("ß", "rest"), cases=((IsIn(of=CODE, values=(1,)), 0), (Between(of=STAY), 1)))

AXES = {
    "person": [
        FINE,
        COARSE,
        ASKEW,
        SEX,
        ANY,
        Holds(of=OLD),
        FINE_OR_NONE,
        SEX_OR_NONE,
        USABLE,
        STAGE,
        ALL_STAGES,
        OrMissing(of=STAGE),
    ],
    "events": [
        STAGE,
        ALL_STAGES,
        WAIT,
        CODES,
        OrMissing(of=CODES),
        FINE,
        COARSE,
        SEX,
        CODE,
        ANY,
        FINE_OR_NONE,
        CODE_OR_NONE,
        MONTHS,
        QUARTERS,
        WEEKS,
        Holds(of=OLD),
    ],
}
CONDITIONS = {
    "person": [
        OLD,
        Not(of=OLD),
        Between(of=AGE, lower=20, upper=39),
        Between(of=AGE),
        IsIn(of=SEX, values=(0, 1)),
        IsIn(of=FINE, values=(1, 2)),
        AnyOf(of=(OLD, Between(of=AGE, upper=19))),
        IsIn(of=ANY, values=(1,)),
        IsIn(of=STAGE, values=(0,)),
        IsIn(of=ALL_STAGES, values=(0, 2)),
    ],
    "events": [
        OLD,
        Between(of=DAY, lower=days(2020, 1, 1), upper=days(2020, 12, 31)),
        Between(of=DAY, lower=days(2020, 4, 1), upper=days(2020, 6, 30)),
        IsIn(of=CODE, values=(0, 1, 2)),
        Between(of=CODE),
        IsIn(of=SEX, values=(0, 2)),
        Between(of=AGE),
        Between(of=val("how many"), lower=1),
        Between(of=STAY, upper=29),
        IsIn(of=CODES, values=(0,)),
        IsIn(of=STAGE, values=(1, 2)),
    ],
}
BOUNDS = {
    "person": [CellBound(max_cells=1, max_rows_per_cell=1)],
    "events": [
        CellBound(max_cells=1),
        CellBound(max_cells=2),
        CellBound(max_cells=1, max_rows_per_cell=2),
        RowBound(max_rows=1),
        RowBound(max_rows=2),
    ],
}


def question(chance, table, *, unit):
    conditions = chance.sample(CONDITIONS[table], chance.choice([0, 0, 1, 1, 2]))
    where = All(of=tuple(conditions)) if conditions else Everything()
    axes = chance.sample(AXES[table], chance.choice([0, 1, 1, 2, 2]))
    bounds = OneEvent() if unit is Entity.EVENT else chance.choice(BOUNDS[table])
    return ask(table=table, axes=axes, where=where, bounds=bounds)


def database(chance):
    people = [
        {
            "pid": p,
            "sex": chance.choice(["8507", "8532", None, "x"]),
            "age": chance.choice([None, -5, 0, 15, 20, 25, 39, 40, 59, 60, 75, 80, 100, 120, 500]),
            "db": 0,
        }
        for p in range(25)
        for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))  # of several rows one is kept
    ]
    events = [
        {
            "pid": p,
            "code": chance.choice(["ß", "a", "a\0b", None, "?"]),
            "pressure": chance.choice([None, 55.0]),
            "day": chance.choice(
                [None, dt.date(2020, 3, 31), dt.date(2020, 4, 1), dt.date(2020, 12, 31)]
                + [START + dt.timedelta(days=chance.randrange((END - START).days))] * 4
            ),
            "db": 0,
        }
        for p in range(25)
        for _ in range(chance.choice([0, 1, 2, 5]))
    ]
    return {PERSON.source: people, EVENTS.source: events}


@dataclass(frozen=True)
class Searched:
    """What a search for counterexamples found."""

    wrong: int
    answered: Counter
    refused: Counter


def search(*, questions: int, seed: int) -> Searched:
    """Ask random pairs of counts of random databases; ``wrong`` sums differ from the oracle's."""
    chance = random.Random(seed)
    to = dataset()
    worlds = [Reference(to, database(chance), KEY) for _ in range(6)]
    wrong, answered, refused = 0, Counter(), Counter()
    for _ in range(questions):
        table = chance.choice(["person", "events"])
        published = question(chance, table, unit=Entity.PATIENT)
        asked = question(chance, table, unit=Entity.PATIENT)
        if chance.random() < 0.8:  # mostly more conditions and fewer groups than were published
            both = (published.relation.where, asked.relation.where)
            groups = [axis for axis in published.axes if chance.random() < 0.4]
            axes = groups if chance.random() < 0.6 else asked.axes
            asked = ask(table=table, axes=axes, bounds=asked.bounds, where=All(of=both))
        try:
            sums = rule.cell_sums(asked, published, dataset=to)
        except ContractError as reason:
            refused[str(reason)] += 1
            continue
        answered[table, bool(published.axes), bool(asked.axes)] += 1
        for world in worlds:
            wanted, given = world.aggregate((asked, published))
            wrong += sums.totals(given) != wanted
    return Searched(wrong=wrong, answered=answered, refused=refused)
