"""Cells that are said to add up do so on every database; the oracle is the engine in plain Python."""

import datetime as dt
import random
from collections import Counter
from dataclasses import replace

import pytest

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.cell_sums import cell_sums
from confide.tables.expression import BinOf, DatePart, Holds, OrMissing, PartOf, QualityOf
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

AXES = {
    "person": [FINE, COARSE, ASKEW, SEX, ANY, Holds(of=OLD), FINE_OR_NONE, SEX_OR_NONE, USABLE],
    "events": [
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


def test_cells_that_are_said_to_add_up_do_on_every_database():
    chance = random.Random(20261)
    to = dataset()
    worlds = [Reference(to, database(chance), KEY) for _ in range(6)]
    answered, refused = Counter(), Counter()
    for _ in range(6000):
        table = chance.choice(["person", "events"])
        published = question(chance, table, unit=Entity.PATIENT)
        asked = question(chance, table, unit=Entity.PATIENT)
        if chance.random() < 0.8:  # mostly more conditions and fewer groups than were published
            both = (published.relation.where, asked.relation.where)
            groups = [axis for axis in published.axes if chance.random() < 0.4]
            asked = replace(asked, axes=tuple(groups)) if chance.random() < 0.6 else asked
            asked = ask(table=table, axes=asked.axes, bounds=asked.bounds, where=All(of=both))
        try:
            sums = cell_sums(asked, published, dataset=to)
        except ContractError as reason:
            refused[str(reason)] += 1
            continue
        answered[table, bool(published.axes), bool(asked.axes)] += 1
        for world in worlds:
            wanted, given = world.aggregate((asked, published))
            assert sums.totals(given) == wanted
    assert answered["person", True, True] > 50  # not vacuous
    assert answered["events", True, True] > 20
    assert answered["events", True, False] > 20
    assert len(refused) >= 6, refused


def test_events_as_privacy_units_add_up_over_any_axis():
    chance = random.Random(7)
    events = [
        CODE,
        MONTHS,
        QUARTERS,
        BinOf(of=col("pressure"), edges=(500, 550, 600)),
    ]
    to = dataset(Entity.EVENT, per_patient=())
    rows = database(chance)
    world = Reference(to, rows, KEY)
    one = OneEvent()
    published = ask(axes=[CODE, MONTHS], bounds=one)
    asked = ask(axes=[QUARTERS], where=IsIn(of=CODE, values=(1, 2)), bounds=one)
    sums = cell_sums(asked, published, dataset=to)
    wanted, given = world.aggregate((asked, published))
    assert sums.totals(given) == wanted
    assert sum(wanted) > 0
    with pytest.raises(ContractError, match="not part of the groups"):
        cell_sums(ask(axes=[events[3]], bounds=one), published, dataset=to)


def refusal(asked, published):
    with pytest.raises(ContractError) as caught:
        cell_sums(asked, published, dataset=dataset())
    return str(caught.value)


def test_patients_in_several_cells_do_not_add_up_to_patients():
    once, twice = CellBound(max_cells=1), CellBound(max_cells=2)
    assert refusal(ask(bounds=once), ask(axes=[CODE], bounds=twice)) == (
        "a patient counts once in each of several cells"
    )
    some = ask(bounds=once, where=IsIn(of=CODE, values=(0, 1)))
    assert (
        refusal(some, ask(axes=[CODE], bounds=once)) == "a patient can be in several of its cells"
    )
    known = ask(bounds=once, where=Between(of=CODE))
    whole = cell_sums(known, ask(axes=[CODE], bounds=once), dataset=dataset())
    assert whole.counts() == (5,)


def test_cells_that_are_not_aligned_are_refused():
    once = CellBound(max_cells=1)
    fine = ask("person", axes=[FINE], bounds=once)
    assert "not part of the groups" in refusal(ask("person", axes=[ASKEW], bounds=once), fine)
    sixty = ask("person", bounds=once, where=Between(of=AGE, lower=30, upper=59))
    assert "whether a condition holds" in refusal(sixty, fine)
    days_of_weeks = ask(axes=[MONTHS], bounds=RowBound(max_rows=1))
    assert "not part" in refusal(days_of_weeks, ask(axes=[WEEKS], bounds=RowBound(max_rows=1)))


def test_rows_that_no_published_cell_holds_are_not_counted_as_none():
    once = CellBound(max_cells=1)
    total, by_age = ask("person", bounds=once), ask("person", axes=[FINE], bounds=once)
    assert "unknown or outside" in refusal(total, by_age)
    known = ask("person", bounds=once, where=Between(of=AGE))
    assert cell_sums(known, by_age, dataset=dataset()).counts() == (5,)


def test_a_cell_for_the_missing_makes_a_total():
    once = CellBound(max_cells=1)
    everyone = ask("person", bounds=once)
    by_age = ask("person", axes=[FINE_OR_NONE], bounds=once)
    assert cell_sums(everyone, by_age, dataset=dataset()).counts() == (6,)
    known = ask("person", axes=[FINE], bounds=once)
    assert cell_sums(known, by_age, dataset=dataset()).counts() == (1, 1, 1, 1, 1)


def test_other_rows_bounds_and_tables_are_refused():
    once = CellBound(max_cells=1)
    some = ask("person", axes=[SEX], bounds=once, where=OLD)
    assert refusal(ask("person", axes=[SEX], bounds=once), some) == "it is about other rows"
    assert "another table" in refusal(ask(bounds=once), ask("person", bounds=once))
    two, three = (ask(bounds=RowBound(max_rows=m)) for m in (2, 3))
    assert "another number of rows" in refusal(two, three)


def test_months_add_up_to_quarters_and_a_quarter_of_days_to_one():
    rows = RowBound(max_rows=1)
    by_person = ask(axes=[MONTHS], bounds=rows)
    in_some = ask(
        bounds=rows, where=Between(of=DAY, lower=days(2020, 4, 1), upper=days(2020, 6, 30))
    )
    assert refusal(in_some, by_person) == "a patient can be in several of its cells"
    to = dataset(Entity.EVENT, per_patient=())
    event = OneEvent()
    months = ask(axes=[MONTHS], bounds=event)
    quarters = cell_sums(ask(axes=[QUARTERS], bounds=event), months, dataset=to)
    assert quarters.counts() == (3, 3, 3, 3)
    one = ask(bounds=event, where=in_some.relation.where)
    assert list(cell_sums(one, months, dataset=to).places()).count(0) == 3


def test_counts_by_quality_add_up_unless_another_quality_is_asked():
    once = CellBound(max_cells=1)
    old, sex = Holds(of=OLD), QualityOf(of=SEX)
    published = ask("person", axes=[old, USABLE, sex], bounds=once)
    whole = cell_sums(ask("person", axes=[old], bounds=once), published, dataset=dataset())
    assert whole.counts() == (9, 9)
    by_one = ask("person", axes=[old, USABLE], bounds=once)
    assert refusal(by_one, published) == "it keeps other rows of a patient"
