"""Sums of values of one sign that the noise drowns: their interval is no point."""

from fractions import Fraction

import pytest

import confide

pd = pytest.importorskip("pandas", reason="pandas is not installed")

SUMS, PEOPLE = 200, 30


def dataset(lower, upper):
    columns = {"x": {"kind": "number", "lower": str(lower), "upper": str(upper), "unit": "d"}}
    return {
        "dataset": {"id": "sums", "lineage": "sums", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "10"}},
        "tables": {"people": {"rows-per-patient": "1", "columns": columns}},
    }


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-100, 0), (-100, 100)])
def test_no_interval_of_a_sum_is_a_point_however_far_below_zero_the_noise_led(
    tmp_path, lower, upper
):
    value = (lower + upper) // 2
    frame = pd.DataFrame({"pid": range(PEOPLE), "x": [value] * PEOPLE})
    asked = [{"id": f"s{i}", "kind": "sum", "table": "people", "column": "x"} for i in range(SUMS)]
    with confide.open(dataset(lower, upper), frames={"people": frame}, folder=tmp_path) as ws:
        found = list(ws.release(ws.plan(*asked, epsilon=Fraction(2))).estimates)
    assert len(found) == SUMS
    assert all(each.lower < each.upper for each in found)
    assert all(min(lower, 0) * PEOPLE * 1e9 <= each.lower <= each.value for each in found)
    assert all(each.value <= each.upper <= max(upper, 0) * PEOPLE * 1e9 for each in found)
    held = sum(each.lower <= value * PEOPLE <= each.upper for each in found)
    assert held >= 0.88 * SUMS  # 95 % and four standard deviations
