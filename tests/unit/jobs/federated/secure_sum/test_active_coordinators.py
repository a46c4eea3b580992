"""A coordinator that lies with its own key: sites end the round before anything is opened."""

import numpy as np
import pytest

from confide.errors import InvalidParameterError, MessageRefusedError, RoundAbortedError
from confide.jobs.federated.secure_sum.bodies import (
    Dealer,
    read_delivery,
    sha256,
    written_dealers,
    written_delivery,
    written_survivors,
)
from confide.jobs.federated.secure_sum.envelope import (
    COORDINATOR,
    EVERYONE,
    Envelope,
    Leg,
    opened_wire,
    signed_wire,
)
from federations import Hospitals, Played

ADVERT, CONSENT = 178, 146  # bytes of these messages


@pytest.fixture
def hospitals(tmp_path):
    return Hospitals(tmp_path, sites=7, drops=2)  # t = 5, least alive 5


def lie(hospitals, leg, body, *, to=EVERYONE):
    """What a coordinator signs that keeps to no rule."""
    envelope = Envelope(leg=leg, sender=COORDINATOR, recipient=to, body=body)
    return signed_wire(envelope, context=hospitals.terms.context, key=hospitals.coordinator_key)


def body_of(hospitals, wire):
    terms = hospitals.terms
    return bytes(opened_wire(wire, context=terms.context, federation=terms.federation).body)


def refused(site, wire, words):
    """The round ends for the site, for good, and it lets go of its secrets."""
    with pytest.raises(RoundAbortedError, match=words):
        site.receive(wire)
    with pytest.raises(RoundAbortedError, match=words):
        site.receive(wire)
    assert site.is_done
    assert not site._private
    assert not site._held
    assert not site._peers
    assert site._own_seed == b""


def adverts(hospitals, played):
    told = played.until(Leg.KEYS)
    body = body_of(hospitals, told[0])
    return [body[at : at + ADVERT] for at in range(0, len(body), ADVERT)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a[1:], "left out"),
        (lambda a: a[:4], "Only 4 sites are alive, fewer than 5"),
        (lambda a: [a[1], a[0], *a[2:]], "not in its one order"),
        (lambda a: [a[0], *a], "not in its one order"),
        (lambda a: [*a[:-1], a[-1][:-1]], "length"),
        (lambda a: [*a[:-1], a[-1][:60] + b"\0" + a[-1][61:]], "not signed by the key"),
        (lambda a: a[:0], "left out"),
    ],
    ids=["without me", "too few", "crossed", "twice", "cut", "changed", "nobody"],
)
def test_a_list_of_keys_is_whole_and_of_enrolled_sites(change, words, hospitals):
    played = Played(hospitals)
    listed = change(adverts(hospitals, played))
    refused(played.sites[0], lie(hospitals, Leg.KEYS, b"".join(listed)), words)
    assert hospitals.asked == [0] * 7


def test_keys_of_another_round_are_refused(hospitals):
    other = hospitals.participant(3, terms=hospitals.of_round(1)).begin()
    played = Played(hospitals)
    listed = adverts(hospitals, played)
    listed[3] = other
    refused(played.sites[0], lie(hospitals, Leg.KEYS, b"".join(listed)), "another round")


def test_a_coordinator_cannot_replace_a_sites_own_keys(hospitals, tmp_path):
    played = Played(hospitals)
    listed = adverts(hospitals, played)
    body = body_of(hospitals, listed[0])
    swapped = Envelope(
        leg=Leg.ADVERTISE, sender=0, recipient=COORDINATOR, body=body[32:] + body[:32]
    )
    listed[0] = signed_wire(swapped, context=hospitals.terms.context, key=hospitals.keys[0])
    refused(played.sites[0], lie(hospitals, Leg.KEYS, b"".join(listed)), "changed this site's keys")


def test_two_sites_with_one_key_are_refused(hospitals):
    played = Played(hospitals)
    listed = adverts(hospitals, played)
    copied = Envelope(
        leg=Leg.ADVERTISE, sender=4, recipient=COORDINATOR, body=body_of(hospitals, listed[3])
    )
    listed[4] = signed_wire(copied, context=hospitals.terms.context, key=hospitals.keys[4])
    refused(played.sites[0], lie(hospitals, Leg.KEYS, b"".join(listed)), "keys .* are the same")


def test_two_lists_of_keys_for_two_sites_end_the_round_before_any_vector_is_asked_for(hospitals):
    played = Played(hospitals)
    listed = adverts(hospitals, played)
    two = {
        site: lie(hospitals, Leg.KEYS, b"".join(listed if site < 3 else listed[:6]))
        for site in range(6)
    }
    sent = {site: body_of(hospitals, played.sites[site].receive(two[site])) for site in two}
    dealers = written_dealers(
        [
            Dealer(site=site, commitment=body[32:64], message=sha256(body))
            for site, body in sent.items()
        ]
    )
    for site in (0, 4):
        pairs = []
        for other in range(6):
            peers = [i for i in range(7 if other < 3 else 6) if i != other]
            if other != site:
                at = 64 + 82 * peers.index(site)
                pairs.append(sent[other][at : at + 82])
        wire = lie(hospitals, Leg.DELIVER, written_delivery(dealers, pairs), to=site)
        refused(played.sites[site], wire, "were changed, or made for other keys")
    assert hospitals.asked == [0] * 7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d, p: (d[1:], p[:-1]), "left out"),
        (lambda d, p: (d[:4], p[:3]), "Only 4 sites are alive"),
        (lambda d, p: (d[::-1], p), "not in its one order"),
        (lambda d, p: (d, [p[1], p[0], *p[2:]]), "'site-1' were changed"),
        (lambda d, p: (d, [bytes([p[0][0] ^ 1]) + p[0][1:], *p[1:]]), "'site-1' were changed"),
        (lambda d, p: (d, p[:-1]), "length"),
        (lambda d, p: ([*d, d[-1]], [*p, p[-1]]), "not in its one order"),
    ],
    ids=["without me", "too few", "crossed", "swapped", "bit", "cut", "twice"],
)
def test_deliveries_are_whole_and_unchanged(change, words, hospitals):
    played = Played(hospitals)
    dealers, _, pairs = read_delivery(body_of(hospitals, played.until(Leg.DELIVER)[0]))
    dealers, pairs = change(dealers, pairs)
    wire = lie(hospitals, Leg.DELIVER, written_delivery(written_dealers(dealers), pairs), to=0)
    refused(played.sites[0], wire, words)
    assert hospitals.asked[0] == 0


def test_a_site_that_sent_no_keys_cannot_have_shared(hospitals):
    played = Played(hospitals)
    played.step(away=(6,))
    played.answer()
    played.step()
    dealers, _, pairs = read_delivery(body_of(hospitals, played.told[0]))
    more = (*dealers, Dealer(site=6, commitment=bytes(32), message=bytes(32)))
    body = written_delivery(written_dealers(more), (*pairs, pairs[0]))
    refused(played.sites[0], lie(hospitals, Leg.DELIVER, body, to=0), "who sent no keys")


def test_a_site_sees_that_its_own_shares_were_replaced(hospitals):
    played = Played(hospitals)
    dealers, _, pairs = read_delivery(body_of(hospitals, played.until(Leg.DELIVER)[0]))
    other = Dealer(site=0, commitment=dealers[0].commitment, message=bytes(32))
    body = written_delivery(written_dealers((other, *dealers[1:])), pairs)
    refused(played.sites[0], lie(hospitals, Leg.DELIVER, body, to=0), "changed this site's shares")


def survivors(hospitals, played):
    played.until(Leg.SURVIVORS)
    return body_of(hospitals, played.told[0])[:32]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ((0, 1, 2, 3), "Only 4 sites are alive, fewer than 5"),
        ((1, 2, 3, 4, 5), "left out"),
        ((1, 0, 2, 3, 4), "not in its one order"),
        ((0, 1, 2, 3, 3), "not in its one order"),
        ((0, 1, 2, 3, 4, 7), "names a stranger"),
        ((0, 1, 2, 3, 4, 65535), "names a stranger"),
    ],
)
def test_a_list_of_survivors_is_long_enough_in_order_and_has_the_site(told, words, hospitals):
    played = Played(hospitals)
    shared = survivors(hospitals, played)
    wire = lie(hospitals, Leg.SURVIVORS, written_survivors(shared, told))
    refused(played.sites[0], wire, words)


def test_a_second_list_of_survivors_is_refused(hospitals):
    played = Played(hospitals)
    shared = survivors(hospitals, played)
    played.sites[0].receive(played.told[0])
    wire = lie(hospitals, Leg.SURVIVORS, written_survivors(shared, range(5)))
    refused(played.sites[0], wire, "said two things")


def test_who_was_told_that_others_shared_does_not_consent(hospitals):
    """Sites that know another list of dealers have other masks: their sum would be nothing."""
    played = Played(hospitals)
    told = played.until(Leg.DELIVER)
    dealers, _, pairs = read_delivery(body_of(hospitals, told[0]))
    fewer = written_delivery(written_dealers(dealers[:6]), pairs[:5])
    played.sites[0].receive(lie(hospitals, Leg.DELIVER, fewer, to=0))
    masked = {site: played.sites[site].receive(told[site]) for site in range(1, 7)}
    for wire in masked.values():
        played.collector.receive(wire)
    shared = played.collector._shared
    wire = lie(hospitals, Leg.SURVIVORS, written_survivors(shared, range(7)))
    refused(played.sites[0], wire, "told of other sites that shared")


def test_a_list_of_survivors_is_of_the_list_of_dealers_that_the_site_knows(hospitals):
    played = Played(hospitals)
    shared = survivors(hospitals, played)
    other = bytes([shared[0] ^ 1]) + shared[1:]
    wire = lie(hospitals, Leg.SURVIVORS, written_survivors(other, range(7)))
    refused(played.sites[0], wire, "told of other sites that shared")


def split(hospitals, played, one, two):
    """Tell two groups of two lists of survivors; return each site's consent."""
    shared = survivors(hospitals, played)
    consents = {}
    for group, told in ((one, range(5)), (two, range(2, 7))):
        wire = lie(hospitals, Leg.SURVIVORS, written_survivors(shared, told))
        consents |= {site: played.sites[site].receive(wire) for site in group}
    return consents


def test_split_survivors_open_nothing_however_consents_are_put_together(hospitals):
    played = Played(hospitals)
    consents = split(hospitals, played, (0, 1, 2, 3), (4, 5, 6))
    for victim, chosen, words in (
        (0, (0, 1, 2, 3), "Too few survivors consented"),
        (1, (0, 1, 2, 3, 4), "told of different survivors"),
        (2, (0, 1, 2, 3, 6), "who did not survive"),
        (4, (4, 5, 6), "Too few survivors consented"),
        (5, (2, 3, 4, 5, 6), "told of different survivors"),
    ):
        wire = lie(hospitals, Leg.CONSENTS, b"".join(consents[site] for site in chosen))
        refused(played.sites[victim], wire, words)


def test_one_consent_repeated_is_not_many(hospitals):
    played = Played(hospitals)
    consents = split(hospitals, played, (0, 1, 2, 3), ())
    for victim, chosen in ((0, (0, 1, 2, 3, 3)), (1, (0, 0, 0, 0, 0)), (2, ())):
        wire = lie(hospitals, Leg.CONSENTS, b"".join(consents[site] for site in chosen))
        refused(played.sites[victim], wire, "not in its one order|Too few survivors")


def test_what_passes_for_a_consent_is_one(hospitals):
    played = Played(hospitals)
    consents = split(hospitals, played, (0, 1, 2, 3), ())
    other = hospitals.participant(4, terms=hospitals.of_round(1)).begin()
    forged = [
        lie(hospitals, Leg.CONSENT, consents[0][50:82], to=COORDINATOR),
        other[:CONSENT],
    ]
    for victim, more in enumerate(forged):
        four = [consents[site] for site in range(4)]
        wire = lie(hospitals, Leg.CONSENTS, b"".join([*four, more]))
        refused(played.sites[victim], wire, "broke the protocol")


def test_shares_are_given_once(hospitals):
    played = Played(hospitals)
    told = played.until(Leg.CONSENTS)[0]
    first = played.sites[0].receive(told)
    assert played.sites[0].receive(told) == first
    consents = body_of(hospitals, told)
    fewer = lie(hospitals, Leg.CONSENTS, consents[: 6 * CONSENT])
    with pytest.raises((RoundAbortedError, MessageRefusedError)):
        played.sites[0].receive(fewer)


def test_of_each_site_one_share_is_given_never_both(hospitals):
    played = Played(hospitals)
    while played.collector.expects != Leg.UNMASK:
        away = (6,) if played.collector.expects is Leg.MASKED else ()
        played.step(away=away)
        if played.collector.expects != Leg.UNMASK:
            played.answer()
    held = dict(played.sites[0]._held)
    given = body_of(hospitals, played.sites[0].receive(played.told[0]))
    assert given == b"".join([held[i][:33] for i in range(6)] + [held[6][33:]])
    for i in range(6):
        assert held[i][33:] not in given
    assert held[6][:33] not in given


def test_an_identical_message_gets_the_stored_answer_and_asks_for_nothing_again(hospitals):
    played = Played(hospitals)
    for leg in (Leg.KEYS, Leg.DELIVER, Leg.SURVIVORS, Leg.CONSENTS):
        told = played.until(leg) if leg is Leg.KEYS else played.step()
        first = {i: played.sites[i].receive(wire) for i, wire in told.items()}
        assert {i: played.sites[i].receive(wire) for i, wire in told.items()} == first
        played.wires = first
    played.step()
    assert hospitals.asked == [1] * 7


def test_what_comes_early_or_from_others_changes_nothing(hospitals):
    played = Played(hospitals)
    other = Played(hospitals, terms=hospitals.of_round(1))
    theirs = other.until(Leg.DELIVER)
    told = played.until(Leg.KEYS)
    later = lie(hospitals, Leg.SURVIVORS, bytes(32) + bytes(range(14)))
    mine = [played.wires[1], later, theirs[0], told[0][:-1], b"", b"CFSS1" * 30]
    for wire in mine:
        with pytest.raises(MessageRefusedError):
            played.sites[0].receive(wire)
    for_another = lie(hospitals, Leg.KEYS, body_of(hospitals, told[0]), to=1)
    with pytest.raises(MessageRefusedError, match="not from the coordinator to this site"):
        played.sites[0].receive(for_another)
    assert played.sites[0].receive(told[0])


def test_before_a_site_began_it_answers_nothing(hospitals):
    told = Played(hospitals).until(Leg.KEYS)[0]
    with pytest.raises(MessageRefusedError, match="early"):
        hospitals.participant(0).receive(told)


def test_a_round_is_used_once_also_after_a_crash_before_the_first_message(hospitals):
    class Crash(BaseException):
        pass

    crashing = hospitals.participant(0)

    def crash(*_):
        raise Crash

    crashing._say = crash
    with pytest.raises(Crash):
        crashing.begin()
    with pytest.raises(RoundAbortedError, match="used before"):
        hospitals.participant(0).begin()
    hospitals.participant(0, terms=hospitals.of_round(1)).begin()


@pytest.mark.parametrize("value", [1001, -1001, 2**63 - 1, -(2**63)])
def test_a_vector_beyond_the_bound_never_leaves_and_is_not_told(value, hospitals):
    hospitals.vectors[0, 3] = value
    played = Played(hospitals)
    told = played.until(Leg.DELIVER)[0]
    with pytest.raises(InvalidParameterError, match="within the bound") as error:
        played.sites[0].receive(told)
    assert str(value) not in str(error.value)
    with pytest.raises(RoundAbortedError, match="ended for this site"):
        played.sites[0].receive(told)
    assert hospitals.asked[0] == 1


@pytest.mark.parametrize("vector", [np.zeros(8, np.int64), np.zeros((7, 1), np.int64), np.zeros(7)])
def test_a_vector_of_another_shape_never_leaves(vector, hospitals):
    played = Played(hospitals, contributions={0: lambda: vector})
    site = played.sites[0]
    told = played.until(Leg.DELIVER)[0]
    with pytest.raises(InvalidParameterError):
        site.receive(told)


def test_a_ledger_that_refuses_ends_the_round_and_is_asked_once(hospitals):
    asked = []

    def exhausted():
        asked.append(1)
        raise PermissionError("the cap of the site is reached")

    played = Played(hospitals, contributions={0: exhausted})
    site = played.sites[0]
    told = played.until(Leg.DELIVER)
    with pytest.raises(PermissionError):
        site.receive(told[0])
    with pytest.raises(RoundAbortedError):
        site.receive(told[0])
    assert asked == [1]
    assert not site._held


@pytest.mark.parametrize("kind", ["own mask", "pair mask"])
def test_a_lying_share_gives_no_sum(kind, hospitals):
    played = Played(hospitals)
    while played.collector.expects != Leg.UNMASK:
        away = (6,) if played.collector.expects is Leg.MASKED and kind == "pair mask" else ()
        played.step(away=away)
        played.answer()
    body = bytearray(body_of(hospitals, played.wires[1]))
    body[-1] ^= 1  # of the last dealer: a survivor, or the one that dropped out
    envelope = Envelope(leg=Leg.UNMASK, sender=1, recipient=COORDINATOR, body=bytes(body))
    played.wires[1] = signed_wire(envelope, context=hospitals.terms.context, key=hospitals.keys[1])
    for wire in played.wires.values():
        played.collector.receive(wire)
    with pytest.raises(RoundAbortedError, match="Shares of Site 'site-6' lie"):
        played.collector.close()
    assert played.collector.result is None
    assert not played.collector._total.any()


def test_a_sum_beyond_what_sites_can_give_is_none(hospitals):
    played = Played(hospitals)
    for _ in range(2):
        played.step()
        played.answer()
    body = bytearray(body_of(hospitals, played.wires[1]))
    body[32 + 7] ^= 0x40
    envelope = Envelope(leg=Leg.MASKED, sender=1, recipient=COORDINATOR, body=bytes(body))
    played.wires[1] = signed_wire(envelope, context=hospitals.terms.context, key=hospitals.keys[1])
    with pytest.raises(RoundAbortedError, match="beyond what the sites can give"):
        played.whole()
