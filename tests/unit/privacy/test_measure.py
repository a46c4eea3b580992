"""The name of a mixed ledger's measure: it stands in rows and anchors, and reads back, or is none."""

import re

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.measure import MEASURES, Measure, Mixed, measure_of


@pytest.mark.parametrize("atto", [1, 10**18 - 1])
@pytest.mark.parametrize("order", [2, 9, 10, 10**12 - 1])
def test_the_name_of_a_measure_reads_back_as_that_measure(atto, order):
    for each in (Mixed(atto=atto, yearly=order, lifetime=2), *Measure):
        assert re.fullmatch(MEASURES, each.value)
        assert measure_of(each.value) == each


@pytest.mark.parametrize(
    "text",
    [
        "mixed",
        "mixed/1/9",
        "mixed/0/9/4",
        "mixed/1/1/4",
        "mixed/1/9/1",
        "mixed/1/09/4",
        "mixed/1/9/4/4",
        "mixed/1000000000000000000/9/4",
        "mixed/1/1000000000000/4",
        "mixed/١/9/4",
        "mixed/1/9/4\n",
        "both",
    ],
)
def test_what_no_ledger_calls_its_measure_is_none(text):
    assert re.fullmatch(MEASURES, text) is None
    with pytest.raises(ValueError):
        measure_of(text)


@pytest.mark.parametrize(
    "wrong",
    [{"atto": 0}, {"atto": 10**18}, {"yearly": 1}, {"lifetime": True}, {"yearly": 10**12}],
)
def test_a_mixed_measure_of_no_delta_or_order_is_refused(wrong):
    with pytest.raises(InvalidParameterError):
        Mixed(**{"atto": 10**12, "yearly": 9, "lifetime": 4, **wrong})
