"""What compares groups of few events says so, number by number."""

import pyarrow as pa
import pytest

from one_table import released

COMPARED = {
    "log-rank p-value",
    "log-rank statistic",
    "hazard ratio",
    "difference in restricted mean",
    "difference in survival",
    "concordance",
}


@pytest.mark.parametrize(("events", "few"), [(0, True), (8, True), (60, False)])
def test_every_comparison_of_groups_with_few_events_is_flagged(events, few, tmp_path):
    columns = {
        "arm": {"categories": ["old", "new"]},
        "status": {"categories": ["alive", "dead"]},
        "days": {"kind": "number", "lower": 0, "upper": 400, "unit": "d"},
    }
    trial = pa.table(
        {
            "pid": [str(i) for i in range(800)],
            "arm": ["old", "new"] * 400,
            "status": ["dead" if i // 2 < events else "alive" for i in range(800)],
            "days": [5 * (i // 2) + 3 if i // 2 < events else 400 for i in range(800)],
        }
    )
    asked = {"id": "s", "kind": "survival", "time": "days", "status": "status", "bins": 8}
    asked |= {"censored": ["alive"], "by": ["arm"]}
    release = released(asked, table=trial, columns=columns, name="trial", folder=tmp_path)
    found = release.of("s")
    compared = [each for each in found if each.quantity in COMPARED]
    assert {each.quantity for each in compared} == COMPARED
    shown = [each for each in compared if each.value is not None]
    assert {"few events" in each.flags for each in shown} == {few}
