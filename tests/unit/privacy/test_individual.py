"""The cap of a patient: its domain, and what is enforced of it."""

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.individual import CapWindow, PatientCap, enforced
from confide.privacy.measure import Measure

ONE = 10**9


def cap(nano):
    return PatientCap(nano=nano, window=CapWindow.LIFETIME)


@pytest.mark.parametrize("nano", [0, -1, 2000 * ONE + 1, 0.5, "1"])
def test_a_cap_outside_1e_9_to_2000_is_refused(nano):
    with pytest.raises(InvalidParameterError, match="between 1e-9 and 2000"):
        cap(nano)


@pytest.mark.parametrize("nano", [1, 2000 * ONE])
def test_spends_up_to_the_largest_cap_fit_64_bits(nano):
    assert cap(nano).nano == nano
    assert 2 * enforced(cap(nano), adjacency=Adjacency.ADD_REMOVE, measure=Measure.PURE) < 2**62


@pytest.mark.parametrize(
    ("adjacency", "measure", "parts"),
    [
        (Adjacency.ADD_REMOVE, Measure.PURE, 1),
        (Adjacency.ADD_REMOVE, Measure.ZCDP, 1),
        (Adjacency.SUBSTITUTE, Measure.PURE, 2),
        (Adjacency.SUBSTITUTE, Measure.ZCDP, 4),
    ],
)
def test_a_replaced_patient_has_half_the_cap_or_a_quarter_in_rho(adjacency, measure, parts):
    assert enforced(cap(ONE), adjacency=adjacency, measure=measure) * parts == 10**15
