"""Cells of Arrow at the edges of what their types say."""

import pyarrow as pa
import pytest

from confide.rows.sources.arrow_cells import AFTER, BEFORE, _as, _near, _runs, _within_digits


@pytest.mark.parametrize(("unit", "per_second"), [("s", 1), ("ms", 10**3), ("us", 10**6)])
def test_moments_outside_the_years_1_to_9999_stand_just_outside(unit, per_second):
    first, last = BEFORE * per_second, AFTER * per_second
    given = pa.array([first - 1, first, 0, None, last, last + 1]).cast(pa.timestamp(unit))
    found = _near(given).cast(pa.int64()).to_pylist()
    ends = [BEFORE * 10**6, AFTER * 10**6]
    assert found == [ends[0], ends[0], 0, None, ends[1], ends[1]]


@pytest.mark.skipif(not hasattr(pa, "decimal64"), reason="this pyarrow has no short decimals")
@pytest.mark.parametrize(("name", "whole"), [("decimal32", "int32"), ("decimal64", "int64")])
def test_short_decimals_of_more_digits_than_declared_are_missing(name, whole):
    cells = pa.array([99, 100, -99, -100, 0], getattr(pa, whole)())
    decimals = _as(cells, kind=getattr(pa, name)(2, 0))
    found = _as(_within_digits(decimals), kind=getattr(pa, whole)())
    assert found.to_pylist() == [99, None, -99, None, 0]


class Slice:
    """Three cells from the second on, of runs that end where it is said."""

    offset = 1

    def __init__(self, *ends):
        self.run_ends = pa.array(ends, pa.int32())

    def __len__(self):
        return 3


def test_runs_that_end_before_the_last_cell_or_do_not_rise_are_refused():
    assert _runs(Slice(1, 2, 4)).to_pylist() == [1, 2, 2]
    for ends in ((1, 2, 3), (1, 2), (), (2, 2, 4), (4, 1)):
        with pytest.raises(pa.ArrowInvalid):
            _runs(Slice(*ends))
