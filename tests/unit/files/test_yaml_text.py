"""What a text of YAML says is kept, and whoever asks again gets it as if it was read anew."""

import copy

import pytest

from confide.errors import ContractError
from confide.files.yaml_text import LARGEST_REMEMBERED, parse_yaml, read_yaml

TEXT = "tables: {visits: {columns: [age, sex]}}\n"


@pytest.mark.parametrize("size", [0, LARGEST_REMEMBERED])
def test_a_value_that_was_changed_is_whole_when_it_is_asked_for_again(size):
    text = TEXT + "#" * size
    first = parse_yaml(text, name="dataset.yaml")
    kept = copy.deepcopy(first)
    first["tables"]["visits"]["columns"].append("weight")
    first["tables"]["labs"] = {}
    assert parse_yaml(text, name="dataset.yaml") == kept


def test_a_file_that_changed_is_read_as_it_is(tmp_path):
    path = tmp_path / "dataset.yaml"
    path.write_text(TEXT, "utf-8")
    assert read_yaml(path)["tables"]["visits"] == {"columns": ["age", "sex"]}
    path.write_text(TEXT.replace("sex", "bmi"), "utf-8")
    assert read_yaml(path)["tables"]["visits"] == {"columns": ["age", "bmi"]}


def test_a_refusal_names_the_file_that_is_read():
    for name in ("study.yaml", "policy.yaml"):
        with pytest.raises(ContractError, match=f"{name}.*stands twice"):
            parse_yaml("a: 1\na: 2", name=name)
