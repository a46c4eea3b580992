"""Declared codes, and the values and texts that cells of a type are compared with."""

import pytest

from confide.rows.cells.build import own
from confide.rows.cells.clean import MOST_CASES, listed, parsed
from confide.rows.cells.code_texts import _integer
from confide.rows.cells.physical import Physical, octets_for, octets_of
from rows_world import category


def test_every_code_of_many_runs_is_listed_with_its_category():
    codes = {str(10 * run + i): 2 * run + i for run in range(MOST_CASES + 1) for i in range(2)}
    found = listed(category("c", codes, len(codes)), physical=Physical.INTEGER)
    assert {value.sql(): index for value, index in found} == codes
    assert len(found) == len(codes)
    few = dict(list(codes.items())[: 2 * MOST_CASES])
    assert listed(category("c", few, len(few)), physical=Physical.INTEGER) == ()


@pytest.mark.parametrize(
    ("code", "possible"),
    [(2**63 - 1, True), (2**63, False), (1 - 2**63, True), (-(2**63), False), (10**20, False)],
)
def test_a_code_of_an_integer_column_is_possible_up_to_63_bits(code, possible):
    assert _integer(str(code)) is possible


def test_numbers_of_an_unknown_type_have_the_most_bytes():
    assert [octets_of(name) for name in ("TINYINT", "HUGEINT", "VARCHAR")] == [1, 16, 16]


def test_decimals_are_kept_in_as_few_bytes_as_hold_their_digits():
    assert [octets_for(digits) for digits in (4, 5, 9, 10, 18, 19)] == [2, 4, 4, 8, 8, 16]


def test_a_category_of_integers_is_compared_as_a_number_and_any_other_as_text():
    code, cell = category("c", {"1": 0}, 1), own("c")
    assert parsed(cell, column=code, physical=Physical.INTEGER) is cell
    for physical in (Physical.TEXT, Physical.REAL):
        assert "AS TEXT" in parsed(cell, column=code, physical=physical).sql("confideduckdb")
