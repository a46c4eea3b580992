"""Whether a number lies outside its bounds is judged once it is rounded to its step."""

import pyarrow as pa
import pytest

from one_table import released


@pytest.mark.parametrize(
    ("cells", "inside"),
    [
        (["100.4", "17.5"], True),
        ([100.4, 17.5], True),
        (["100.5", "17.4"], False),
        ([100.5, 17.4], False),
    ],
)
def test_a_number_is_rounded_to_its_step_before_it_is_outside_its_bounds(cells, inside, tmp_path):
    age = {"kind": "number", "lower": 18, "upper": 100, "outside": "drop"}
    people = pa.table({"pid": [str(i) for i in range(40)], "age": cells * 20})
    known = {"id": "known", "kind": "count", "where": {"age": "known"}}
    quality = {"id": "quality", "kind": "data-quality"}
    of = {"table": people, "columns": {"age": age}, "name": "people", "folder": tmp_path}
    release = released(known, quality, **of)
    assert release.of("known")[0].value == (40 if inside else 0)
    counted = {e.key[:2]: e.value for e in release.of("quality") if e.quantity == "count"}
    assert counted["age", "ok"] == (40 if inside else 0)
    assert counted["age", "out of range"] == (0 if inside else 40)
