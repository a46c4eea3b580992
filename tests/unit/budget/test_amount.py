import pytest

from confide.budget.amount import LARGEST, Amount
from confide.errors import InvalidParameterError


@pytest.mark.parametrize("nano", [-1, 1.0, True, LARGEST + 1, "1"])
def test_amounts_are_whole_units_of_at_least_0(nano):
    with pytest.raises(InvalidParameterError, match="Expected nano as an int"):
        Amount(nano=nano)


def test_an_amount_covers_another_only_in_both_parts():
    assert Amount(nano=2, delta_atto=1).covers(Amount(nano=1))
    assert not Amount(nano=2).covers(Amount(nano=1, delta_atto=1))
