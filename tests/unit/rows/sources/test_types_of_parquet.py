"""Types of Parquet that the engine reads as others, from the footer alone."""

import pytest

from confide.rows.cells.physical import DURATION, IN_MILLISECONDS, IN_MORE_BYTES, IN_MORE_DIGITS
from confide.rows.sources.parquet import _otherwise


@pytest.mark.parametrize(
    ("stored", "unit", "length", "precision", "expected"),
    [
        ("INT64", DURATION, None, None, DURATION),
        ("INT64", "milliseconds", None, None, IN_MILLISECONDS),
        ("INT32", None, None, None, ""),
        ("FIXED_LEN_BYTE_ARRAY", None, 16, 0, ""),
        ("FIXED_LEN_BYTE_ARRAY", None, 3, 1, IN_MORE_BYTES),
        ("FIXED_LEN_BYTE_ARRAY", None, 1, 1, ""),
        ("BYTE_ARRAY", None, 0, 4, IN_MORE_BYTES),
        ("INT32", None, 0, 4, ""),
        ("FIXED_LEN_BYTE_ARRAY", None, 16, 38, ""),
        ("FIXED_LEN_BYTE_ARRAY", None, 17, 39, IN_MORE_DIGITS),
    ],
)
def test_a_type_has_our_own_name_where_the_engine_reads_another(
    stored, unit, length, precision, expected
):
    assert _otherwise((stored, unit, length, precision, None)) == expected
