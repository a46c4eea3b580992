"""A null or a number among the keys of a data set or a statistic, and a list where a word stands."""

import copy

import pytest
import yaml

import confide
from command_line import confide as command
from confide.errors import ContractError
from small_clinic import DATASET, STUDY, make_clinic

DECLARED = yaml.load(DATASET, Loader=yaml.BaseLoader)
ASKED = yaml.load(STUDY, Loader=yaml.BaseLoader)["statistics"][0]


def mappings(value, place=()):
    """Yield the place of every mapping in a value."""
    if isinstance(value, dict):
        yield place
        for key in value:
            yield from mappings(value[key], (*place, key))


def with_key(value, place, key):
    """Return a copy in which the first entry of a mapping stands under another key."""
    made = copy.deepcopy(value)
    inside = made
    for each in place:
        inside = inside[each]
    inside[key] = inside.pop(next(iter(inside)))
    return made


@pytest.mark.parametrize("key", [None, 7, True])
def test_a_key_that_is_no_word_is_told_with_its_place(tmp_path, key):
    folder = make_clinic(tmp_path / "clinic").folder
    asked = [(with_key(DECLARED, place, key), ASKED) for place in mappings(DECLARED)]
    asked += [(DECLARED, with_key(ASKED, place, key)) for place in mappings(ASKED)]
    for declared, statistic in asked:
        with pytest.raises(ContractError) as refused, confide.open(declared, folder=folder) as ws:
            ws.plan(statistic)
        told = str(refused.value)
        assert "a key must be a word" in told
        for raw in ("None", "[key]", "Input should", "Keys should"):
            assert raw not in told


@pytest.mark.parametrize("kind", ["[null]", "{null: null}"])
def test_a_kind_that_is_no_word_is_told_in_words(tmp_path, kind):
    clinic = make_clinic(tmp_path / "clinic")
    clinic.study.write_text(STUDY.replace("kind: count", f"kind: {kind}"))
    refused = command("plan", clinic.study)
    assert refused.code == 7
    assert "expected one word as kind" in refused.err
    assert "Input tag" not in refused.err
