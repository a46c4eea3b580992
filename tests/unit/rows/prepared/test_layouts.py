"""Columns of prepared copies are as narrow as they are declared, and no narrower."""

from confide.rows.prepared.layouts import _columns
from confide.tables.schema import Table
from rows_world import number


def test_numbers_up_to_32_bits_are_stored_in_32_and_others_in_64():
    most = 2**31 - 1
    bounds = [(0, most), (0, most + 1), (-most, 0), (-most - 1, 0), (0, 2**40)]
    columns = tuple(number(f"x{i}", *each) for i, each in enumerate(bounds))
    found = _columns(Table(name="t", source="t", columns=columns), texts=())
    assert ["INT" in each.sql("confideduckdb") for each in found] == [
        True,
        False,
        True,
        False,
        False,
    ]
