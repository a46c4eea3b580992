"""A median within a bin in which all events are at one time."""

import numpy as np
import pyarrow as pa
import pytest

import confide
from one_table import DATASET, released

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


@pytest.mark.parametrize("visit", [0, 49])
def test_intervals_of_means_and_hazards_reach_to_what_heaped_times_would_make_of_them(
    visit, tmp_path
):
    """All who die do so on the first day of a bin of 50, or on its last; nobody is censored."""
    days = [day + visit for day in range(0, 350, 50) for _ in range(1_000)] + [400] * 3_000
    trial = pa.table(
        {
            "pid": [str(i) for i in range(len(days))],
            "status": ["dead"] * 7_000 + ["alive"] * 3_000,
            "days": days,
        }
    )
    release = released(ASKED, table=trial, columns=COLUMNS, name="trial", folder=tmp_path)
    found = release.of("s")
    (mean,) = [each for each in found if each.quantity == "restricted mean"]
    assert mean.lower <= sum(days) / len(days) <= mean.upper
    assert mean.upper - mean.lower <= 50
    hazards = [each for each in found if each.quantity == "cumulative hazard"]
    true, left = 0.0, len(days)
    for each in hazards[:7]:
        true, left = true + 1_000 / left, left - 1_000
        assert each.lower <= true <= each.upper


def test_the_interval_of_a_median_of_months_with_a_heavy_tail_holds_the_population(tmp_path):
    """All times are whole months, a fifth of them far beyond the median; bins are no months."""
    rng = np.random.default_rng(11)
    asked = ASKED | {"bins": 12}
    tables = {"trial": {"rows-per-patient": 1, "columns": COLUMNS}}

    def times(patients):
        return 30 * np.ceil(np.exp(rng.normal(5, 0.9, patients)) / 30).astype(int)

    true, held, runs = float(np.median(times(100_001))), 0, 12
    for run in range(runs):
        days = times(600)
        frame = {
            "pid": [str(i) for i in range(600)],
            "status": np.where(days < 400, "dead", "alive"),
            "days": np.minimum(days, 400),
        }
        with confide.open(
            DATASET | {"tables": tables},
            frames={"trial": pa.table(frame)},
            folder=tmp_path / str(run),
        ) as ws:
            found = ws.release(ws.plan(asked, epsilon="1")).of("s")
        (median,) = [each for each in found if each.quantity == "median survival"]
        held += median.lower <= true <= (400 if median.upper is None else median.upper)
    assert held >= runs - 2
