"""Headlines of several numbers: the lowest and highest without a flag, and what was set aside."""

import dataclasses

import pytest

from confide.drawing.cells import Cell
from confide.drawing.headlines import main_range, medians
from confide.drawing.quantities import digits
from confide.drawing.words import load_words
from confide.plans.estimates import Covers

WORDS = load_words("en")


def cell(name, value, *flags, low=None):
    ends = (value - 1 if low is None else low, value + 1)
    return Cell(
        key=(name,),
        quantity="mean",
        value=value,
        outer=ends,
        inner=None,
        level=0.95,
        covers=Covers.NOISE,
        unit="d",
        flags=flags,
    )


def told(*cells):
    return main_range(cells, WORDS).replace("\N{NO-BREAK SPACE}", " ")


def test_the_lowest_and_the_highest_are_told_with_their_intervals():
    found = told(cell("20-39", 5.0), cell("40-59", 7.0), cell("60-80", 6.0))
    assert found == ("From 5.0 days (95 % CI 4.0–6.0) for 20–39 to 7.0 days (6.0–8.0) for 40–59.")


def test_an_end_below_zero_is_told_with_a_word():
    assert "(95 % CI −1.0 to 1.0)" in told(cell("a", 0.0), cell("b", 7.0))


def test_a_flagged_number_is_neither_the_lowest_nor_the_highest_and_is_named():
    found = told(cell("a", 5.0), cell("b", 7.0), cell("c", 99.0, "few events"))
    assert "99" not in found
    assert found.endswith("Set aside, because flagged: “c”.")


def test_many_flagged_groups_are_counted():
    flagged = [cell(f"g{n}", 90.0 + n, "few events") for n in range(4)]
    found = told(cell("a", 5.0), cell("b", 7.0), *flagged)
    assert found.endswith("4 groups are set aside, because flagged; the table marks them.")


def test_where_one_number_alone_has_no_flag_it_is_told_as_such():
    found = told(cell("a", 5.0), cell("b", 7.0, "few events"))
    assert found == ("a: 5.0 days (95 % CI 4.0–6.0). Set aside, because flagged: “b”.")


def test_where_every_number_is_flagged_none_is_told():
    found = told(cell("a", 5.0, "few events"), cell("b", 7.0, "few events"))
    assert found == "Every number is flagged; the table says why."


def test_groups_that_show_one_number_are_told_together_and_none_is_named_twice():
    found = told(cell("men", 5.0), cell("women", 5.0, low=3.0))
    assert found == "5.0 days in each of 2 groups (95 % CIs within 3.0–6.0)."


def quantile(name, value, low, high):
    return dataclasses.replace(
        cell(name, value), quantity="quantile 0.5", outer=(low, high), inner=(value, value)
    )


@pytest.mark.parametrize(
    ("cells", "decimals"),
    [
        ([quantile("men", 4.0, 4.0, 4.0), quantile("women", 4.0, 3.0, 4.0)], 0),
        ([quantile("men", 0.8, 0.8, 0.8), quantile("women", 1.0, 1.0, 1.0)], 1),
        ([quantile("all", 0.8, 0.1 + 0.6, 0.3 * 3)], 1),
        ([quantile("men", 120.0, 110.0, 131.0)], 0),
        ([quantile("all", 3762.0, 3000.0, 4600.0)], -1),
    ],
)
def test_a_quantile_has_the_decimals_of_its_grid_and_no_others(cells, decimals):
    """Whole days are not 4.00 days, and 0.8 mg/dL that is sure is not 1 mg/dL."""
    assert digits(cells, words=WORDS) == decimals


def test_a_median_of_whole_days_is_told_in_whole_days():
    found = medians([quantile("men", 4.0, 4.0, 4.0), quantile("women", 4.0, 3.0, 4.0)], WORDS)
    assert found.replace("\N{NO-BREAK SPACE}", " ") == (
        "The median is 4 days in each of 2 groups (95 % CIs within 3–4)."
    )
