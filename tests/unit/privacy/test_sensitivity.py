"""Sensitivities: three norms of one change, which bound each other."""

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity


def sensitivity(**given):
    usual = {"l1": 1, "l2_squared": 1, "linf": 1, "entity": Entity.PATIENT, "unit": "persons"}
    return Sensitivity(**{**usual, "because": "A patient is counted once.", **given})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"l1": 4, "l2_squared": 4},
        {"l1": 4, "l2_squared": 16, "linf": 4},
        {"l1": 6, "l2_squared": 12, "linf": 2},
        {"l1": 3, "l2_squared": 4, "linf": 2},
        {"l1": 2, "l2_squared": 2, "reach": 2, "set_reach": 2},
        {"l1": 6, "l2_squared": 12, "linf": 2, "reach": 3, "set_reach": 5},
    ],
)
def test_norms_of_one_change_are_accepted(given):
    found = sensitivity(**given)
    assert (found.reach, found.set_reach) == (given.get("reach", 0), given.get("set_reach", 0))


@pytest.mark.parametrize("name", ["l1", "l2_squared", "linf"])
@pytest.mark.parametrize("value", [0, -1, 1.0, "1"])
def test_a_norm_that_is_no_whole_number_from_1_is_refused(name, value):
    with pytest.raises(InvalidParameterError, match=f"Expected {name} ≥ 1"):
        sensitivity(**{name: value})


@pytest.mark.parametrize(
    ("l1", "l2_squared", "linf"), [(1, 4, 2), (2, 5, 1), (3, 8, 3), (4, 3, 2), (1, 1, 2)]
)
def test_norms_that_no_change_has_are_refused(l1, l2_squared, linf):
    with pytest.raises(InvalidParameterError, match="Expected linf ≤ l1"):
        sensitivity(l1=l1, l2_squared=l2_squared, linf=linf)


@pytest.mark.parametrize(("reach", "set_reach"), [(2, 1), (3, 4), (1, 5)])
def test_a_reach_beyond_the_norms_is_refused(reach, set_reach):
    with pytest.raises(InvalidParameterError, match="Expected reach ≤ set-reach ≤ l1"):
        sensitivity(l1=4, l2_squared=4, reach=reach, set_reach=set_reach)


def test_a_bound_without_a_reason_is_refused():
    with pytest.raises(InvalidParameterError, match="Expected a reason"):
        sensitivity(because="")
