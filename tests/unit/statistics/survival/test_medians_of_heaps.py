"""A median within a bin in which all events are at one time."""

import pyarrow as pa
import pytest

from one_table import released

COLUMNS = {
    "status": {"categories": ["alive", "dead"]},
    "days": {"kind": "number", "lower": 0, "upper": 400, "unit": "d"},
}
ASKED = {"id": "s", "kind": "survival", "time": "days", "status": "status", "bins": 8}
ASKED |= {"censored": ["alive"]}


@pytest.mark.parametrize("visit", [201, 209, 225, 248])
def test_the_interval_of_a_median_reaches_to_the_ends_of_its_bins(visit, tmp_path):
    """Three of ten die on day 31, three on one visit between days 200 and 250."""
    died = [day for day in (31, 31, 31, visit, visit, visit) for _ in range(100)]
    days = died + [400] * 400
    trial = pa.table(
        {
            "pid": [str(i) for i in range(1_000)],
            "status": ["dead"] * len(died) + ["alive"] * 400,
            "days": days,
        }
    )
    release = released(ASKED, table=trial, columns=COLUMNS, name="trial", folder=tmp_path)
    found = release.of("s")
    (median,) = [each for each in found if each.quantity == "median survival"]
    assert (median.lower, median.upper) == (200, 249)
    assert 200 <= median.value <= 249
