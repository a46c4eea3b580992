"""Messages: signed by pinned keys, bound to one round, written in one way."""

import dataclasses

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.errors import (
    ContractError,
    InvalidParameterError,
    MessageRefusedError,
    RoundAbortedError,
)
from confide.jobs.federated.secure_sum.envelope import (
    COORDINATOR,
    EVERYONE,
    Envelope,
    Leg,
    opened_wire,
    signed_wire,
)
from confide.plans.sites.federation import Federation, Member
from confide.release.site.keys import SigningKey
from federations import Hospitals, Played

P = 2**255 - 19
EIGHT = (
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)
SMALL = [0, 1, *EIGHT, P - 1, P, P + 1]


def test_every_changed_bit_of_a_message_is_refused(tmp_path):
    played = Played(Hospitals(tmp_path))
    wire = played.wires[0]
    for bit in range(8 * len(wire)):
        changed = bytearray(wire)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(MessageRefusedError):
            played.collector.receive(bytes(changed))
    assert not played.collector.is_complete
    assert Played(Hospitals(tmp_path, run="2")).whole().total.size == 7


@pytest.mark.parametrize("cut", [0, 1, 50, 113, 177])
def test_a_message_that_is_cut_or_too_long_is_refused(cut, tmp_path):
    played = Played(Hospitals(tmp_path))
    for wire in (played.wires[0][:cut], played.wires[0] + b"\0"):
        with pytest.raises(MessageRefusedError, match="cut short"):
            played.collector.receive(wire)


@pytest.mark.parametrize(
    "other",
    [
        {"number": 1},
        {"run": "b" * 64},
        {"subject": "b" * 64},
        {"length": 8},
        {"bound": 999},
    ],
    ids=str,
)
def test_a_message_of_another_round_or_plan_is_refused(other, tmp_path):
    hospitals = Hospitals(tmp_path)
    elsewhere = dataclasses.replace(hospitals.terms, **other)
    wire = hospitals.participant(0, terms=elsewhere).begin()
    collector = hospitals.collector()
    with pytest.raises(MessageRefusedError, match="another round, plan or federation"):
        collector.receive(wire)
    hospitals.collector(terms=elsewhere).receive(wire)


def test_members_thresholds_and_keys_are_part_of_the_round(tmp_path):
    hospitals = Hospitals(tmp_path, sites=7, drops=1)
    federation = hospitals.federation
    others = [
        dataclasses.replace(federation, sites=federation.sites[::-1]),
        dataclasses.replace(
            federation, tolerance=dataclasses.replace(federation.tolerance, threshold=6)
        ),
        dataclasses.replace(
            federation, coordinator=Member(name="other", key=federation.coordinator.key)
        ),
        dataclasses.replace(
            federation,
            sites=(
                Member(name="site-0", key=SigningKey(Ed25519PrivateKey.generate()).name),
                *federation.sites[1:],
            ),
        ),
    ]
    contexts = {dataclasses.replace(hospitals.terms, federation=f).context for f in others}
    assert len(contexts | {hospitals.terms.context}) == 5


def test_who_is_not_enrolled_and_who_signs_for_another_is_refused(tmp_path):
    hospitals = Hospitals(tmp_path)
    collector, context = hospitals.collector(), hospitals.terms.context
    body = hospitals.participant(0).begin()[50:-64]
    stranger = SigningKey(Ed25519PrivateKey.generate())
    for sender, key in ((0, stranger), (0, hospitals.keys[1]), (5, stranger), (9999, stranger)):
        envelope = Envelope(leg=Leg.ADVERTISE, sender=sender, recipient=COORDINATOR, body=body)
        with pytest.raises(MessageRefusedError, match=r"pinned|nobody enrolled"):
            collector.receive(signed_wire(envelope, context=context, key=key))


def test_a_message_says_what_it_was_made_of(tmp_path):
    hospitals = Hospitals(tmp_path)
    made = Envelope(leg=Leg.KEYS, sender=COORDINATOR, recipient=EVERYONE, body=b"said")
    context = hospitals.terms.context
    wire = signed_wire(made, context=context, key=hospitals.coordinator_key)
    assert opened_wire(wire, context=context, federation=hospitals.federation) == made


def advertised(hospitals, site, body):
    """What a site would send that chose its keys itself."""
    envelope = Envelope(leg=Leg.ADVERTISE, sender=site, recipient=COORDINATOR, body=body)
    return signed_wire(envelope, context=hospitals.terms.context, key=hospitals.keys[site])


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("top", [0, 1 << 255])
@pytest.mark.parametrize("point", SMALL)
def test_points_of_small_order_are_refused_in_both_keys_by_all(point, top, half, tmp_path):
    hospitals = Hospitals(tmp_path)
    played = Played(hospitals)
    good = played.wires[2][50:-64]
    weak = (point | top).to_bytes(32, "little")
    body = weak + good[32:] if half == 0 else good[:32] + weak
    wire = advertised(hospitals, 2, body)
    with pytest.raises(MessageRefusedError, match="'site-2' sent a key that hides nothing"):
        played.collector.receive(wire)
    played.collector._check = lambda *_: None  # a coordinator that does not look
    for site, sent in (played.wires | {2: wire}).items():
        del site
        played.collector.receive(sent)
    with pytest.raises(RoundAbortedError, match="'site-2' sent a key that hides nothing"):
        played.sites[0].receive(played.collector.close()[0])


def test_keys_written_in_a_second_way_are_refused(tmp_path):
    hospitals = Hospitals(tmp_path)
    collector, good = hospitals.collector(), hospitals.participant(2).begin()[50:-64]
    number = int.from_bytes(good[:32], "little")
    with pytest.raises(MessageRefusedError, match="hides nothing"):
        collector.receive(
            advertised(hospitals, 2, (number | 1 << 255).to_bytes(32, "little") + good[32:])
        )
    with pytest.raises(MessageRefusedError, match="hides nothing"):
        collector.receive(advertised(hospitals, 2, good[:32] * 2))


@pytest.mark.parametrize("size", [0, 63, 65, 96])
def test_keys_of_a_wrong_length_are_refused(size, tmp_path):
    hospitals = Hospitals(tmp_path)
    with pytest.raises(MessageRefusedError, match="length"):
        hospitals.collector().receive(advertised(hospitals, 2, b"\x09" * size))


def test_a_site_that_says_two_things_is_heard_once(tmp_path):
    hospitals = Hospitals(tmp_path)
    played = Played(hospitals)
    played.collector.receive(played.wires[0])
    played.collector.receive(played.wires[0])
    with pytest.raises(MessageRefusedError, match="'site-0' said two things"):
        played.collector.receive(advertised(hospitals, 0, played.wires[1][50:-64]))
    assert played.collector.missing == (1, 2, 3, 4)
    assert played.whole().survivors == (0, 1, 2, 3, 4)


def test_terms_are_checked():
    key = "ed25519:" + "0" * 64
    with pytest.raises(ContractError, match="letters, digits"):
        Member(name="St. Mary", key=key)
    with pytest.raises(ContractError, match="letters, digits"):
        Member(name="all", key=key)
    with pytest.raises(ContractError, match="hexadecimal"):
        Member(name="mary", key="ed25519:" + "0" * 63)


def test_nobody_is_enrolled_twice(tmp_path):
    federation = Hospitals(tmp_path).federation
    for other in (
        Member(name="site-1", key=federation.sites[0].key),
        Member(name="site-0", key=federation.sites[1].key),
        Member(name="site-0", key=federation.coordinator.key),
    ):
        with pytest.raises(ContractError, match="Two members"):
            dataclasses.replace(federation, sites=(other, *federation.sites[1:]))
    with pytest.raises(ContractError, match="Expected 5 sites, got 4"):
        Federation(
            coordinator=federation.coordinator,
            sites=federation.sites[:4],
            tolerance=federation.tolerance,
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"bound": (1 << 63) // 5 + 1},
        {"bound": 0},
        {"bound": 1.5},
        {"length": 0},
        {"length": (1 << 26) + 1},
        {"number": -1},
        {"number": True},
    ],
    ids=str,
)
def test_a_round_whose_sum_could_wrap_is_refused(wrong, tmp_path):
    with pytest.raises(InvalidParameterError, match="Expected"):
        dataclasses.replace(Hospitals(tmp_path).terms, **wrong)


@pytest.mark.parametrize("field", ["run", "subject"])
def test_a_run_and_its_subject_are_digests(field, tmp_path):
    with pytest.raises(ContractError, match=f"Expected {field}"):
        dataclasses.replace(Hospitals(tmp_path).terms, **{field: "latest"})
