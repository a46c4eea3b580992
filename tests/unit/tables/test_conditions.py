"""What public facts say of a condition: whether a value can lack, and what holds in a cell."""

import itertools
from dataclasses import replace

import pytest

from confide.errors import ContractError
from confide.tables.conditions.conditions import require_possible
from confide.tables.conditions.known import where_told
from confide.tables.conditions.spans import Span, cells_of, outside, truth_in
from confide.tables.conditions.unknown import beyond, can_be_unknown
from confide.tables.expression import BinOf, ColumnOf, DatePart, OrMissing, PartOf, ValueOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.per_patient import CountOf, HasAny
from confide.tables.schema import Outside
from noisy_answers import dataset


def column(name: str) -> ColumnOf:
    return ColumnOf(table="participants", column=name)


AGE, SEX, BMI, BORN = map(column, ("age", "sex", "bmi", "born"))  # 0 … 100, two, 100 … 701, days
BANDS = BinOf(of=AGE, edges=(20, 40, 60))
PLAIN = dataset()
VALUES = (
    HasAny(name="ever", table="visits", where=Everything()),
    CountOf(name="stays", table="visits", where=Everything(), at_most=4),
)
OF_VALUES = replace(PLAIN, per_patient=VALUES)


def with_column(name: str, **more):
    """Return the data set with a column declared otherwise."""
    people, *others = PLAIN.tables
    changed = tuple(replace(c, **more) if c.name == name else c for c in people.columns)
    return replace(PLAIN, tables=(replace(people, columns=changed), *others))


def unknown(expression, *, to=PLAIN, table="participants", **more) -> bool:
    return can_be_unknown(expression, table=table, dataset=to, **more)


@pytest.mark.parametrize(
    ("name", "declared", "lacks"),
    [
        ("sex", {}, True),
        ("sex", {"nulls": 0}, True),
        ("sex", {"other": 1}, True),
        ("sex", {"nulls": 0, "other": 1}, False),
        ("age", {}, True),
        ("age", {"nulls": 50}, False),
        ("age", {"nulls": 50, "outside": Outside.DROP}, True),
        ("born", {"nulls": 0}, True),
    ],
)
def test_a_column_can_lack_a_value_unless_everything_else_becomes_one(name, declared, lacks):
    to = with_column(name, **declared)
    assert unknown(column(name), to=to) is lacks
    assert unknown(column(name), to=to, table="visits") is True  # a person may have no row there
    assert unknown(OrMissing(of=column(name)), to=to) is False
    span = (Span(of=column(name)),) if lacks else ()
    assert outside(column(name), table="participants", dataset=to) == span


def test_whether_and_how_often_is_always_known():
    for name in ("ever", "stays"):
        assert unknown(ValueOf(name=name), to=OF_VALUES) is False
        assert outside(ValueOf(name=name), table="participants", dataset=OF_VALUES) == ()


@pytest.mark.parametrize(
    ("where", "leaves"),
    [
        (Everything(), True),
        (Between(of=AGE, lower=20, upper=60), False),
        (Between(of=AGE, lower=19, upper=60), True),
        (Between(of=AGE, lower=20, upper=61), True),
        (Between(of=AGE, lower=20), True),
        (Between(of=AGE, upper=60), True),
        (IsIn(of=AGE, values=(35, 20, 60)), False),
        (IsIn(of=AGE, values=(35, 19)), True),
        (IsIn(of=AGE, values=(61, 35)), True),
        (IsIn(of=AGE, values=()), True),
        (IsIn(of=SEX, values=(0,)), True),  # says nothing of the age
        (IsIn(of=BMI, values=(20, 60)), True),
        (All(of=(Between(of=AGE, lower=20), Between(of=AGE, upper=60))), False),
        (All(of=(Between(of=AGE, lower=10), Between(of=AGE, lower=30, upper=50))), False),
        (All(of=(Between(of=AGE, lower=20), Between(of=BMI, upper=60))), True),
        (All(of=(Between(of=AGE, lower=10), Between(of=AGE, upper=70))), True),
        (AnyOf(of=(Between(of=AGE, lower=20, upper=60),)), True),
    ],
)
def test_an_age_is_in_no_band_only_where_the_rows_that_are_kept_reach_beyond_them(where, leaves):
    assert beyond(BANDS, dataset=PLAIN, where=where) is leaves
    kept = [age for age in range(101) if _holds(where, age)]
    assert leaves is (min(kept) < 20 or max(kept) > 60)


def _holds(where, age: int) -> bool:
    match where:
        case Between(of=of, lower=lower, upper=upper) if of == AGE:
            return (lower is None or age >= lower) and (upper is None or age <= upper)
        case IsIn(of=of, values=values) if of == AGE and values:
            return age in values
        case All(of=parts):
            return all(_holds(part, age) for part in parts)
        case _:  # of another column, or not looked into: it may be any age
            return True


def test_a_value_that_the_kept_rows_are_chosen_by_is_known_in_all_of_them():
    for where in (Between(of=AGE), IsIn(of=AGE, values=(3,)), All(of=(Between(of=AGE, upper=9),))):
        assert unknown(AGE, where=where) is False
        assert unknown(AGE, where=where, table="visits") is False
        assert unknown(BMI, where=where) is True
    assert unknown(AGE, where=Not(of=Between(of=AGE, upper=9))) is True


def test_bands_that_end_with_the_bounds_leave_nobody_out():
    to = with_column("age", nulls=50)
    for edges, leaves in (((0, 50, 100), False), ((1, 100), True), ((0, 99), True)):
        bands = BinOf(of=AGE, edges=edges)
        assert beyond(bands, dataset=to) is leaves
        assert unknown(bands, to=to) is leaves


def test_a_condition_can_be_told_wherever_the_values_that_it_reads_are_known():
    to = with_column("age", nulls=50)
    everyone, adults, women = Everything(), Between(of=AGE, lower=18), IsIn(of=SEX, values=(1,))

    def told(of, *, where=everyone):
        return where_told(where, of=of, table="participants", dataset=to)

    assert told(adults) == told(Everything()) == told(Between(of=BMI)) == Everything()
    assert told(women) == told(Not(of=women)) == Between(of=SEX)
    assert told(women, where=adults) == All(of=(adults, Between(of=SEX)))
    assert told(women, where=women) == women  # whoever is in the list has a value
    assert told(All(of=(adults, Between(of=AGE, upper=90)))) == Everything()
    assert told(AnyOf(of=(adults,))) == Everything()
    # one part that fails refutes all of them, and one that holds is enough for any
    known = Between(of=SEX)
    assert told(All(of=(women,))) == told(AnyOf(of=(women,))) == known
    fails, holds = (All(of=(Everything(), part)) for part in (Not(of=adults), adults))
    assert told(All(of=(adults, women))) == AnyOf(
        of=(All(of=(known,)), fails, All(of=(known, Not(of=women))))
    )
    assert told(AnyOf(of=(adults, women))) == AnyOf(
        of=(All(of=(known,)), holds, All(of=(known, women)))
    )


ALL_AGES = tuple(range(101))
RANGES = [
    (lower, upper)
    for lower in (None, 0, 3, 5, 7, 9)
    for upper in (None, 3, 5, 7, 9, 100)
    if (lower or 0) <= (100 if upper is None else upper)  # others are refused
]


@pytest.mark.parametrize(("lower", "upper"), RANGES)
def test_what_is_said_of_a_cell_is_what_holds_of_all_of_its_values(lower, upper):
    conditions = [Between(of=AGE, lower=lower, upper=upper), IsIn(of=AGE, values=(3, 5, 6, 7))]
    conditions += [*(Not(of=each) for each in conditions), All(of=tuple(conditions))]
    for condition in conditions:
        for low, high in ((3, 3), (3, 5), (5, 9), (5, 7), (7, 7), (6, 8), (0, 100)):
            found = {_is(condition, age) for age in range(low, high + 1)}
            said = truth_in(condition, (Span(of=AGE, low=low, high=high),), dataset=PLAIN)
            assert said is None or {said} == found
            if not isinstance(condition, All):  # parts may rule each other's values out
                assert said is (found.pop() if len(found) == 1 else None)


def _is(condition, age: int) -> bool:
    match condition:
        case Not(of=part):
            return not _is(part, age)
        case IsIn(values=values):
            return age in values
        case _:
            return _holds(condition, age)


def test_an_unknown_value_is_in_no_range_and_in_no_list():
    for condition in (Between(of=AGE), Between(of=AGE, upper=5), IsIn(of=AGE, values=(3,))):
        assert truth_in(condition, (Span(of=AGE),), dataset=PLAIN) is False
        assert truth_in(Not(of=condition), (Span(of=AGE),), dataset=PLAIN) is True
        assert truth_in(condition, (Span(of=BMI),), dataset=PLAIN) is None


@pytest.mark.parametrize(
    "edges", [(20, 40, 60), (0, 1, 2, 100), (0, 100), (99, 100, 101), (-5, 0, 7, 200), (7, 9)]
)
def test_bins_part_the_values_and_what_is_outside_is_in_none_of_them(edges):
    bins, places = BinOf(of=AGE, edges=edges), []
    for cell in cells_of(bins, table="participants", dataset=PLAIN):
        places.append([age for span in cell for age in range(span.low, span.high + 1)])
    last = len(edges) - 2
    assert places == [
        [a for a in ALL_AGES if low <= a < high or (i == last and a == high)]
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    ]
    spans = outside(bins, table="participants", dataset=PLAIN)
    assert spans[-1] == Span(of=AGE)
    left = [age for span in spans[:-1] for age in range(span.low, span.high + 1)]
    assert sorted([*left, *(age for place in places for age in place)]) == list(ALL_AGES)


@pytest.mark.parametrize("part", DatePart)
def test_days_of_calendar_parts_follow_on_each_other_within_their_range(part):
    of = PartOf(of=BORN, part=part, since=-400, until=400)
    spans = [span for (span,) in cells_of(of, table="participants", dataset=PLAIN)]
    assert (spans[0].low, spans[-1].high) == (-400, 400)
    assert all(a.high + 1 == b.low for a, b in itertools.pairwise(spans))
    before, after, lacking = outside(of, table="participants", dataset=PLAIN)
    assert (before.low, before.high, after.low, after.high) == (-20_000, -401, 401, 20_000)
    assert lacking == Span(of=BORN)


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (Between(of=AGE, lower=40, upper=20), "no value lies from 40 to 20"),
        (Between(of=AGE, lower=101), "from 101 lies outside the declared bounds, 0 to 100"),
        (Between(of=AGE, upper=-1), "to -1 lies outside"),
        (Between(of=BMI, upper=99), "'bmi': to 9.9 lies outside the declared bounds, 10 to 70.1"),
        (Not(of=IsIn(of=AGE, values=(101, -1))), "no declared value is in 101, -1"),
        (AnyOf(of=(Everything(), IsIn(of=SEX, values=()))), "in an empty list"),
        (All(of=(Between(of=BANDS, lower=2),)), "'age': from 2 lies outside"),
        (Between(of=BORN, lower=10**9), "from 1000000000 lies outside.*1915-03-31 to 2024-10-04"),
    ],
)
def test_a_condition_that_no_row_can_satisfy_is_refused(condition, says):
    with pytest.raises(ContractError, match=says):
        require_possible(condition, dataset=PLAIN)


def test_a_condition_that_one_value_satisfies_is_taken():
    for condition in (
        Between(of=AGE, lower=100),
        Between(of=AGE, upper=0),
        Between(of=AGE, lower=20, upper=20),
        IsIn(of=AGE, values=(101, 100)),
        Everything(),
    ):
        require_possible(condition, dataset=PLAIN)
