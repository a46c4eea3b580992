"""Counts over cells of a grid: what may be declared, what steps are worth, what is secret."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.tables.aggregates import refined
from confide.tables.aggregates.refined import MOST_FINE, AskCells, GridCounts, RefinedAggregate
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation, domain
from noisy_answers import dataset

TO = dataset()
DAYS = ColumnOf(table="visits", column="days")
WIDE = RefinedAggregate(
    relation=Relation(table="visits"),
    by=(),
    of=DAYS,
    lower=0,
    upper=2 * MOST_FINE,
    fine=MOST_FINE,
    at=(Fraction(1, 2),),
    expect=None,
    weights=(1, 100),
    bounds=RowBound(max_rows=1),
)


@pytest.mark.parametrize(
    ("change", "whole"),
    [
        ({"fine": 2}, True),
        ({"fine": 1}, False),
        ({"fine": MOST_FINE + 1}, False),
        ({"fine": 2**15}, False),
        ({"upper": MOST_FINE}, True),
        ({"upper": MOST_FINE - 1}, False),
        ({"weights": (100, 1)}, True),
        ({"weights": (0, 1)}, False),
        ({"weights": (1, 0)}, False),
        ({"weights": (101, 1)}, False),
        ({"weights": (1, 1, 1)}, False),
        ({"at": ()}, False),
        ({"at": (Fraction(1, 2), Fraction(1))}, False),
        ({"at": (Fraction(0),)}, False),
    ],
)
def test_a_grid_has_some_cells_two_weights_and_quantiles_to_look_for(change, whole):
    if whole:
        replace(WIDE, **change)
    else:
        with pytest.raises(InvalidParameterError):
            replace(WIDE, **change)


def test_a_grid_is_between_the_declared_bounds_and_of_so_many_cells_in_all(monkeypatch):
    within = domain(DAYS, dataset=TO)
    declared = replace(WIDE, lower=within.lower, upper=within.upper, fine=9)
    monkeypatch.setattr(refined, "MOST_FINE_IN_ALL", 10)
    declared.check(TO)
    with pytest.raises(InvalidParameterError, match="fewer cells"):
        replace(declared, missing=True).check(TO)
    with pytest.raises(InvalidParameterError, match="fewer cells"):
        replace(declared, fine=10).check(TO)
    with pytest.raises(ContractError, match="declared bounds"):
        replace(declared, upper=within.upper - 1).check(TO)


def test_a_row_of_the_second_answer_is_worth_its_weight():
    assert replace(WIDE, weights=(3, 7)).step(TO).size == Fraction(1, 7)


def test_rows_of_unknown_value_are_a_last_cell_of_each_answer_and_move_it_no_further():
    kept = replace(WIDE, lower=0, upper=30, fine=30, missing=True)
    assert (kept.cells, kept.whole((0, 7, 31))) == (32, (0, 7, 31, 32))
    (part,) = kept.parts()
    assert part.coordinates(TO) == kept.cells
    assert replace(kept, missing=False).whole((0, 7, 31)) == (0, 7, 31)
    counts = GridCounts([1] * 31 + [5], groups=1)
    ask = AskCells(edges=(kept.whole((0, 7, 31)),), length=4, weight=3)
    assert counts.answer(ask) == (21, 72, 15, 0)
    claimed = kept.sensitivity(TO, counted="rows")
    assert claimed == replace(kept, missing=False).sensitivity(TO, counted="rows")
    assert (claimed.l1, claimed.l2_squared) == (101, 1 + 100**2)


def test_counts_over_a_grid_answer_questions_and_show_nothing():
    counts = GridCounts([5, 6, 7, 1, 2, 3], groups=2)
    ask = AskCells(edges=((0, 1, 3), (0, 3)), length=3, weight=2)
    assert counts.answer(ask) == (10, 26, 0, 12, 0, 0)
    assert f"{counts} {counts!r}" == "<secret> <secret>"
    for other in (None, AskCells(edges=((0, 3),), length=1, weight=1)):
        with pytest.raises(UnsupportedError):
            counts.answer(other)
