"""A plan names the law under which its error holds, and what the error is under another one."""

import re

import pytest

import confide

pd = pytest.importorskip("pandas")

ROWS = 3000


def dataset():
    return {
        "dataset": {"id": "lab", "lineage": "lab", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"epsilon": "100"}},
        "tables": {
            "p": {
                "rows-per-patient": "1",
                "columns": {
                    "crp": {"kind": "number", "lower": "0", "upper": "1000", "unit": "mg/L"},
                    "age": {"kind": "number", "lower": "0", "upper": "99", "unit": "a"},
                    "days": {"kind": "number", "lower": "0", "upper": "3650", "unit": "d"},
                    "ill": {"categories": ["no", "yes"]},
                },
            }
        },
        "derived": {"band": {"of": "age", "bins": ["0", "50", "99"]}},
    }


def asked(statistic, tmp_path, *, crp=None, young=0.5):
    frame = pd.DataFrame(
        {
            "pid": range(ROWS),
            "crp": [500.0] * ROWS if crp is None else crp,
            "age": [20 if row < young * ROWS else 80 for row in range(ROWS)],
            "days": 1825,
            "ill": ["yes" if row % 10 == 0 else "no" for row in range(ROWS)],
        }
    )
    with confide.open(dataset(), frames={"p": frame}, folder=tmp_path) as ws:
        plan = ws.plan({"id": "s", "table": "p", **statistic}, epsilon="1")
        return ws.forecast(plan)["s"], ws.release(plan).of("s")


def half(found, quantity):
    (each,) = [e for e in found if e.quantity == quantity and e.covers.value == "noise"]
    return (each.upper - each.lower) / 2


def other(forecast):
    """Return the error under another law that the notes give."""
    (said,) = re.findall(r"; ±([0-9.e+-]+)", " ".join(forecast.notes))
    return float(said)


def test_the_error_of_a_median_of_evenly_spread_rows_is_what_the_plan_says_of_one(tmp_path):
    statistic = {"kind": "quantiles", "column": "crp", "at": ["0.5"], "bins": 200}
    statistic["expect"] = {"count": str(ROWS)}
    even = [1000 * row / ROWS for row in range(ROWS)]
    forecast, found = asked(statistic, tmp_path, crp=even)
    assert half(found, "quantile 0.5") > 1.5 * forecast.half_width
    assert half(found, "quantile 0.5") == pytest.approx(other(forecast), rel=0.4)
    assert any("normal law with a standard deviation of 166.7 mg/L" in n for n in forecast.notes)


def test_the_error_of_half_the_typical_deviation_is_what_the_plan_says_of_it(tmp_path):
    statistic = {"kind": "variance", "column": "crp", "expect": {"count": str(ROWS)}}
    narrow = [500 + (-1) ** row * 1000 / 12 for row in range(ROWS)]
    forecast, found = asked(statistic, tmp_path, crp=narrow)
    assert half(found, "sd") > 1.5 * forecast.half_width
    assert half(found, "sd") == pytest.approx(other(forecast), rel=0.3)
    assert any("for a standard deviation of 166.7 mg/L" in note for note in forecast.notes)


def test_medians_of_a_table_1_name_the_law_of_their_error(tmp_path):
    variable = {"column": "crp", "show": ["median-iqr"], "bins": 200}
    statistic = {"kind": "table-1", "variables": [variable], "expect": {"count": str(ROWS)}}
    even = [1000 * row / ROWS for row in range(ROWS)]
    forecast, found = asked(statistic, tmp_path, crp=even)
    (median,) = [e for e in found if e.quantity == "quantile 0.5" and e.covers.value == "noise"]
    assert (median.upper - median.lower) / 2 == pytest.approx(other(forecast), rel=0.4)


@pytest.mark.parametrize(("young", "holds"), [(0.9, True), (0.1, False)])
def test_a_standardised_rate_names_the_strata_for_which_its_error_is(young, holds, tmp_path):
    statistic = {
        "kind": "standardized-rate",
        "of": {"ill": ["yes"]},
        "strata": ["band"],
        "standard": {"0-49": "90", "50-99": "10"},
        "expect": {"count": str(ROWS), "rate": "100"},
    }
    forecast, found = asked(statistic, tmp_path, young=young)
    assert any("in the strata as the standard" in note for note in forecast.notes)
    assert (half(found, "standardised rate") < 1.3 * forecast.half_width) == holds


@pytest.mark.parametrize("kind", ["incidence", "standardized-rate"])
def test_a_rate_that_nobody_said_is_named_with_the_error_that_rests_on_it(kind, tmp_path):
    statistic = {"kind": kind, "of": {"ill": ["yes"]}, "time": "days"}
    if kind == "standardized-rate":
        statistic |= {"strata": ["band"], "standard": {"0-49": "50", "50-99": "50"}}
    without, _ = asked(statistic | {"expect": {"count": "15000"}}, tmp_path)
    assert any("for a rate of 10 per 1,000 person-years" in note for note in without.notes)
    said, _ = asked(statistic | {"expect": {"count": "15000", "rate": "20"}}, tmp_path / "said")
    assert not any("for a rate of" in note for note in said.notes)
