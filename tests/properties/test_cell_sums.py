"""Cells that are said to add up do so on every database; the oracle is the engine in plain
Python."""

import random

import pytest

from cell_worlds import (
    AGE,
    ASKEW,
    CODE,
    DAY,
    FINE,
    FINE_OR_NONE,
    MONTHS,
    OLD,
    QUARTERS,
    SEX,
    USABLE,
    WEEKS,
    database,
    search,
)
from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.cell_sums import cell_sums
from confide.tables.expression import BinOf, Holds, QualityOf
from confide.tables.filter import Between, IsIn
from reference_engine import Reference
from rows_world import KEY, ask, col, dataset, days


def test_cells_that_are_said_to_add_up_do_on_every_database():
    found = search(questions=3500, seed=20261)
    assert found.wrong == 0
    assert found.answered["person", True, True] > 50  # not vacuous
    assert found.answered["events", True, True] > 20
    assert found.answered["events", True, False] > 20
    assert len(found.refused) >= 6, found.refused


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
