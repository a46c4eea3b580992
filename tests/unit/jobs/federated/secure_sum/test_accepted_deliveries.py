"""A site checks all that asks for its numbers before they are asked for, and so before a charge."""

import pytest

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.secure_sum.envelope import Leg
from federations import Hospitals, Played


@pytest.fixture
def played(tmp_path):
    played = Played(Hospitals(tmp_path))
    played.until(Leg.DELIVER)
    return played


def test_a_delivery_that_is_accepted_asks_for_nothing_yet(played):
    played.sites[1].accept(played.told[1])
    played.sites[1].accept(played.told[1])
    assert played.hospitals.asked == [0] * 5
    played.answer()
    assert played.hospitals.asked == [1] * 5
    while played.step():
        played.answer()
    assert played.collector.result.total.tolist() == played.hospitals.sum_of(range(5)).tolist()


def test_a_delivery_to_somebody_else_is_refused_and_changes_nothing(played):
    with pytest.raises(MessageRefusedError):
        played.sites[1].accept(played.told[2])
    played.sites[1].accept(played.told[1])


def test_a_delivery_with_changed_shares_ends_the_round_before_the_numbers_are_asked_for(played):
    collector = played.collector
    body = bytes(collector._body(played.told[1]))
    changed = body[:-1] + bytes([body[-1] ^ 1])
    with pytest.raises(RoundAbortedError, match="were changed"):
        played.sites[1].accept(collector._seal(Leg.DELIVER, 1, changed))
    with pytest.raises(RoundAbortedError):
        played.sites[1].receive(played.told[1])
    assert played.hospitals.asked[1] == 0


def test_another_delivery_than_the_accepted_one_ends_the_round(tmp_path):
    hospitals = Hospitals(tmp_path, sites=5, drops=1)
    played = Played(hospitals)
    played.until(Leg.KEYS)
    played.answer()
    for wire in played.wires.values():
        played.collector.receive(wire)
    sites, wires = tuple(sorted(played.wires)), dict(sorted(played.wires.items()))
    all_of_them = played.collector._deliveries(sites, wires)
    without_one = played.collector._deliveries(sites[:-1], {i: wires[i] for i in sites[:-1]})
    played.sites[0].accept(all_of_them[0])
    with pytest.raises(RoundAbortedError, match="two things at one step"):
        played.sites[0].receive(without_one[0])
    assert hospitals.asked[0] == 0


def test_no_other_step_is_accepted(tmp_path):
    played = Played(Hospitals(tmp_path))
    told = played.until(Leg.KEYS)
    with pytest.raises(MessageRefusedError, match="no delivery"):
        played.sites[0].accept(told[0])
