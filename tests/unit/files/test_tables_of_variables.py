"""table-1 and data-quality as study.yaml writes them."""

from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.files.study import ask_from
from confide.plans.pricing.calibrate_to_error import Within
from confide.statistics import Characteristic, DataQuality, Summary, TableOne
from confide.statistics.table_one.lines import FLAT
from noisy_answers import dataset


def asked(**changes):
    given = {"id": "t", "kind": "table-1", "table": "participants", "variables": ["age"]}
    return ask_from({**given, **changes}, dataset=dataset())


def test_a_variable_is_a_name_or_says_how_it_is_shown_and_how_exact():
    found = asked(
        by=["sex"],
        variables=[
            "age_band",
            {"column": "pressure", "show": ["mean-sd", "median-iqr"], "bins": "16"},
            {"column": "diabetes", "within": "2 %"},
            {"column": "bmi", "within": "0.5 kg/m2"},
        ],
    ).statistic
    assert isinstance(found, TableOne)
    assert found.by == ("sex",)
    assert found.variables == (
        Characteristic(column="age_band", bins=FLAT),
        Characteristic(column="pressure", show=tuple(Summary), bins=16),
        Characteristic(column="diabetes", bins=FLAT, within=Fraction(1, 50)),
        Characteristic(column="bmi", bins=FLAT, within=Fraction(1, 2)),
    )


def test_an_error_within_one_is_once_what_was_asked_of_each_variable():
    found = asked(error={"within": "1"}, expect={"count": "500"})
    assert found.error == Within(amount=Fraction(1))


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ({"column": "diabetes", "within": "2 kg"}, "expected an error in %"),
        ({"column": "bmi", "within": "2 %"}, "expected an error in kg/m2"),
        ({"column": "bmi", "within": "-1"}, "within > 0"),
        ({"column": "bmi", "show": ["mode"]}, "show"),
    ],
)
def test_a_variable_that_cannot_be_read_is_refused(variable, message):
    with pytest.raises(ContractError, match=message):
        asked(variables=[variable])


def test_data_quality_names_fields_and_a_site():
    value = {
        "id": "q",
        "kind": "data-quality",
        "table": "participants",
        "fields": ["age"],
        "by": ["sex"],
    }
    found = ask_from(value, dataset=dataset()).statistic
    assert found == DataQuality(id="q", table="participants", fields=("age",), by=("sex",))


def test_other_words_for_them_are_told_the_right_one():
    with pytest.raises(ContractError, match="write kind: table-1"):
        asked(kind="characteristics")
