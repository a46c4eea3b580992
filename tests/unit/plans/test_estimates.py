"""What an estimate may be."""

import math
from dataclasses import replace

import pytest

from confide.errors import ContractError
from confide.plans.estimates import Covers, Estimate

FINE = Estimate(
    statistic="s",
    quantity="mean",
    key=(),
    value=1.0,
    standard_error=0.5,
    lower=0.0,
    upper=2.0,
    level=0.95,
    covers=Covers.NOISE,
    unit="1",
)


@pytest.mark.parametrize("end", ["value", "standard_error", "lower", "upper"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_estimate_with_a_number_that_is_not_finite_can_be_built(end, number):
    with pytest.raises(ContractError, match="not a finite number"):
        replace(FINE, **{end: number})
    assert getattr(replace(FINE, **{end: None}), end) is None
