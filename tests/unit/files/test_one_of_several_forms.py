"""A value that may have several forms is refused with words of the form that was meant."""

import pytest

import confide
from confide.errors import ContractError

DATASET = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "10"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "columns": {
                "ill": {"categories": ["no", "yes"]},
                "days": {"kind": "number", "lower": "0", "upper": "1000", "unit": "d"},
            },
        }
    },
}
RATE = {"id": "r", "table": "people", "of": {"ill": ["yes"]}, "time": "days"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"kind": "smr", "reference": "0"}, "statistic → reference: expected a number > 0."),
        ({"kind": "incidence", "compare": 5}, "statistic → compare: Input should be a valid"),
    ],
)
def test_a_refusal_names_the_key_and_no_type_of_python(asked, words, tmp_path):
    pd = pytest.importorskip("pandas")
    people = pd.DataFrame({"pid": [1], "ill": ["no"], "days": [5]})
    with (
        confide.open(DATASET, frames={"people": people}, folder=tmp_path) as ws,
        pytest.raises(ContractError) as refused,
    ):
        ws.plan({**RATE, **asked}, epsilon="1")
    assert words in str(refused.value)
    assert "dict[" not in str(refused.value)
    assert "more" not in str(refused.value)


@pytest.mark.parametrize(
    ("column", "place"),
    [
        ({"kind": "number", "lower": 0, "upper": 9, "missing": [9]}, "missing → 0"),
        ({"kind": "number", "lower": 0, "upper": 9, "nulls": 1}, "nulls"),
        ({"categories": [1, 2]}, "categories → 0"),
    ],
)
def test_a_number_where_a_code_stands_is_told_to_be_written_as_text(column, place, tmp_path):
    people = {"rows-per-patient": 1, "columns": {"x": column}}
    with pytest.raises(ContractError) as refused:
        confide.open({**DATASET, "tables": {"people": people}}, frames={}, folder=tmp_path)
    assert f"columns → x → {place}: Input should be a valid string" in str(refused.value)
    assert 'its text: "1", not 1' in str(refused.value)
    assert "mapping" not in str(refused.value)
