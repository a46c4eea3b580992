"""Domains of expressions: as many public labels as values, each as people write it."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError, UnboundedError, UnknownNameError
from confide.privacy.unit import Entity
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DatePart,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.grid import in_words, on_grid
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import EPOCH, Relation, check, day_range, domain
from confide.tables.schema import Domain, Kind
from noisy_answers import dataset


def column(name: str, *, table: str = "participants") -> ColumnOf:
    return ColumnOf(table=table, column=name)


def day(*date: int) -> int:
    return dt.date(*date).toordinal() - EPOCH


AGE, SEX, BMI, BORN, CITY = map(column, ("age", "sex", "bmi", "born", "city"))
VALUES = (
    HasAny(name="ever", table="visits", where=Everything()),
    CountOf(name="stays", table="visits", where=Everything(), at_most=4),
    AtEnd(
        name="birth",
        which=Which.FIRST,
        table="participants",
        column="born",
        by="born",
        where=Everything(),
    ),
    DaysBetween(name="since", start="birth", end="birth", lower=-5, upper=9),
)
TO = replace(dataset(), per_patient=VALUES)


@pytest.mark.parametrize(
    ("part", "first", "last"),
    [
        (DatePart.YEAR, "1999", "2001"),
        (DatePart.QUARTER, "1999-Q4", "2001-Q1"),
        (DatePart.MONTH, "1999-12", "2001-01"),
        (DatePart.WEEK, "1999-W52", "2001-W05"),
        (DatePart.DAY, "1999-12-31", "2001-01-31"),
    ],
)
def test_calendar_parts_are_labelled_as_people_write_them_one_each(part, first, last):
    since, until = day(1999, 12, 31), day(2001, 1, 31)
    of = domain(PartOf(of=BORN, part=part, since=since, until=until), dataset=TO)
    dates = [dt.date.fromordinal(n + EPOCH) for n in range(since, until + 1)]
    written = dict.fromkeys(map(_written(part), dates))
    assert of.keys == tuple(written)
    assert (of.keys[0], of.keys[-1]) == (first, last)
    assert of.size() == len(of.keys)


def _written(part):
    match part:
        case DatePart.QUARTER:
            return lambda date: f"{date:%Y}-Q{'111222333444'[date.month - 1]}"
        case _:
            text = {
                DatePart.YEAR: "%Y",
                DatePart.MONTH: "%Y-%m",
                DatePart.WEEK: "%G-W%V",
                DatePart.DAY: "%Y-%m-%d",
            }[part]
            return lambda date: date.strftime(text)


def test_days_that_are_counted_are_within_the_declared_ones():
    for since, until in ((-20_001, 0), (0, 20_001), (5, 4)):
        with pytest.raises(ContractError, match="Expected a range of days within 1915-03-31"):
            day_range(PartOf(of=BORN, part=DatePart.DAY, since=since, until=until), dataset=TO)
    with pytest.raises(ContractError, match="Only a date has calendar parts"):
        domain(PartOf(of=AGE, part=DatePart.DAY), dataset=TO)
    one = PartOf(of=BORN, part=DatePart.DAY, since=4, until=4)
    assert day_range(one, dataset=TO) == (4, 4)
    assert day_range(PartOf(of=BORN, part=DatePart.YEAR), dataset=TO) == (-20_000, 20_000)


@pytest.mark.parametrize(
    ("of", "kind", "ends", "keys"),
    [
        (ValueOf(name="ever"), Kind.CATEGORY, (0, 1), ("no", "yes")),
        (ValueOf(name="stays"), Kind.NUMBER, (0, 4), ()),
        (ValueOf(name="birth"), Kind.DATE, (-20_000, 20_000), ()),
        (ValueOf(name="since"), Kind.NUMBER, (-5, 9), ()),
        (Holds(of=Between(of=AGE)), Kind.CATEGORY, (0, 1), ("no", "yes")),
        (OrMissing(of=AGE), Kind.NUMBER, (0, 101), ()),
        (OrMissing(of=SEX), Kind.CATEGORY, (0, 2), ("male", "female", "missing")),
        (QualityOf(of=AGE), Kind.CATEGORY, (0, 2), ("ok", "missing", "out of range")),
        (QualityOf(of=BORN), Kind.CATEGORY, (0, 2), ("ok", "missing", "out of range")),
        (QualityOf(of=SEX), Kind.CATEGORY, (0, 2), ("ok", "missing", "unknown code")),
        (QualityOf(of=CITY), Kind.CATEGORY, (0, 1), ("ok", "missing")),
        (BinOf(of=AGE, edges=(0, 40, 65, 100)), Kind.CATEGORY, (0, 2), ("0-39", "40-64", "65-100")),
        (BinOf(of=AGE, edges=(0, 1, 99, 100, 101)), Kind.CATEGORY, (0, 3),
         ("0", "1-98", "99", "100")),
        (BinOf(of=BMI, edges=(100, 185, 250, 701)), Kind.CATEGORY, (0, 2),
         ("10-18.4", "18.5-24.9", "25-70.1")),
        (BinOf(of=ValueOf(name="since"), edges=(-5, 0, 9)), Kind.CATEGORY, (0, 1),
         ("-5 to -1", "0-9")),
        (BinOf(of=BORN, edges=(0, 365, 730)), Kind.CATEGORY, (0, 1),
         ("1970-01-01 to 1970-12-31", "1971-01-01 to 1972-01-01")),
    ],
)  # fmt: skip
def test_a_domain_has_a_label_for_each_of_its_values_or_none(of, kind, ends, keys):
    found = domain(of, dataset=TO)
    assert (found.kind, (found.lower, found.upper), found.keys) == (kind, ends, keys)
    assert not keys or found.size() == len(keys)


def test_categories_are_not_cut_into_bins_and_texts_have_no_public_values():
    with pytest.raises(ContractError, match="Categories cannot be cut into bins"):
        domain(BinOf(of=SEX, edges=(0, 1)), dataset=TO)
    with pytest.raises(UnboundedError, match="holds text"):
        domain(CITY, dataset=TO)
    with pytest.raises(UnknownNameError, match="shoe"):
        domain(Holds(of=Not(of=IsIn(of=column("shoe"), values=(1,)))), dataset=TO)


def test_cells_as_they_came_only_group_the_rows_of_their_own_table():
    quality, people = QualityOf(of=AGE), Relation(table="participants")
    check(people, quality, dataset=TO)
    check(people, SEX, quality, dataset=TO)
    asked = IsIn(of=quality, values=(1,))
    for relation, reads in (
        (Relation(table="visits"), (quality,)),
        (Relation(table="participants", where=asked), ()),
        (Relation(table="participants", where=All(of=(Everything(), Not(of=asked)))), (SEX,)),
        (Relation(table="participants", where=AnyOf(of=(asked,))), (SEX,)),
        (people, (Holds(of=asked),)),
    ):
        with pytest.raises(ContractError, match="can only group the rows of its own table"):
            check(relation, *reads, dataset=TO)


def test_a_join_multiplies_no_rows_and_events_read_nothing_of_their_person():
    visits, days = Relation(table="visits"), column("days", table="visits")
    check(visits, AGE, days, ValueOf(name="ever"), dataset=TO)
    for relation, reads in (
        (Relation(table="participants"), (days,)),
        (Relation(table="participants", where=Between(of=days, lower=1)), (AGE,)),
    ):
        with pytest.raises(ContractError, match="'visits' may hold several rows per patient"):
            check(relation, *reads, dataset=TO)
    events = replace(TO, unit=replace(TO.unit, entity=Entity.EVENT))
    check(visits, days, dataset=events)
    for read, what in ((AGE, "the join to 'participants'"), (ValueOf(name="ever"), "value 'ever'")):
        with pytest.raises(ContractError, match=f"{what} is refused"):
            check(visits, read, dataset=events)


def grid(lower: int, upper: int, *, step: str) -> Domain:
    return Domain(kind=Kind.NUMBER, lower=lower, upper=upper, scale=Fraction(step))


@pytest.mark.parametrize(
    ("number", "of", "step"),
    [
        ("1.2", grid(0, 20, step="1"), "0.1"),
        ("1.25", grid(0, 20, step="1"), "0.01"),
        ("3", grid(1, 9, step="0.5"), None),
        ("3.2", grid(1, 9, step="0.5"), "0.1"),  # from 0.5 to 4.5
        ("1", grid(-3, 8, step="0.25"), None),
        ("0.1", grid(-3, 8, step="0.25"), "0.01"),  # from -0.75 to 2
        ("1/2", grid(1, 6, step="1/3"), "1/6"),
        ("7/2", grid(3, 9, step="5"), "0.1"),
        ("1e-18", grid(0, 9, step="1"), "0.000000000000000001"),
        ("5e-19", grid(0, 9, step="1"), "1/2000000000000000000"),
    ],
)
def test_a_number_off_the_grid_is_answered_with_a_step_that_holds_it_and_the_bounds(
    number, of, step
):
    physical = Fraction(number)
    if step is None:
        assert on_grid(physical, of=of, name="crea") * of.scale == physical
        return
    with pytest.raises(ContractError, match=r"crea: .* is not on the grid of steps of ") as refused:
        on_grid(physical, of=of, name="crea")
    assert f"Write step: {step} for the column" in str(refused.value)
    for each in (physical, of.lower * of.scale, of.upper * of.scale):
        assert (each / Fraction(step)).denominator == 1


def test_a_number_is_written_in_decimals_where_they_end():
    for text in ("0", "12", "-3", "0.5", "-0.125", "0.000000000000000001", "1/3", "-22/7"):
        assert in_words(Fraction(text)) == text
