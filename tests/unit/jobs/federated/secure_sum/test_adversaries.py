"""The coordinator and its colluders try to read one site's vector from all that they may see.

The same attack with one share more than they may have reads it whole, which shows that it works.
"""

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from confide.jobs.federated.secure_sum.agreement import agreed
from confide.jobs.federated.secure_sum.envelope import Leg, opened_wire
from confide.jobs.federated.secure_sum.mask_stream import add_mask
from confide.jobs.federated.secure_sum.secret_sharing import secret_of
from confide.jobs.federated.secure_sum.self_mask import (
    commitment_to,
    own_mask_key,
    pair_mask_key,
)
from confide.plans.estimation.chi_squared import chi_squared_tail
from federations import Hospitals, Played

SITES, COLLUDERS, VICTIM = 9, 2, 0  # t = 6; sites 7 and 8 collude


class Adversary:
    """Has every message, what the coordinator holds, and all that colluders hold."""

    def __init__(self, hospitals, *, colluders, victim_dropped):
        self.hospitals = hospitals
        self.played = played = Played(hospitals)
        played.until(Leg.DELIVER)
        played.answer()
        self.masked = played.wires[VICTIM]
        played.step(away=(VICTIM,) if victim_dropped else ())
        played.answer()
        played.step()
        self.inside = {i: dict(played.sites[i]._held) for i in colluders}
        self.peers = {i: dict(played.sites[i]._peers) for i in colluders}
        played.answer()
        self.given = {i: self.body(wire) for i, wire in played.wires.items()}

    def body(self, wire):
        terms = self.hospitals.terms
        return bytes(opened_wire(wire, context=terms.context, federation=terms.federation).body)

    def shares(self, *, of_key):
        """Shares of one of the victim's secrets: from honest answers, and from inside."""
        place = slice(33, 66) if of_key else slice(0, 33)
        found = {i: held[VICTIM][place] for i, held in self.inside.items()}
        if of_key == (VICTIM not in self.played.collector._survivors):
            found |= {i: body[:33] for i, body in self.given.items()}
        return found

    def read(self):
        """Return the victim's vector, or what is left of it under masks that stay unknown."""
        collector, threshold = self.played.collector, self.hospitals.tolerance.threshold
        left = np.frombuffer(self.body(self.masked)[32:], dtype="<u8").copy()
        seeds, keys = self.shares(of_key=False), self.shares(of_key=True)
        bound = collector._bound
        seed = secret_of(seeds, threshold=min(threshold, len(seeds)))
        if (
            seed
            and commitment_to(seed, context=bound, site=VICTIM) == (collector._commitments[VICTIM])
        ):
            add_mask(left, key=own_mask_key(seed, context=bound, site=VICTIM), sign=-1)
        secret = secret_of(keys, threshold=min(threshold, len(keys)))
        private = X25519PrivateKey.from_private_bytes(secret) if secret else None
        known = {i: peers[VICTIM][1] for i, peers in self.peers.items()}
        if private and private.public_key().public_bytes_raw() == collector._public[VICTIM]:
            known |= {
                i: agreed(private, public) for i, public in collector._public.items() if i != VICTIM
            }
        for i, shared in known.items():
            key = pair_mask_key(shared, context=bound, sites=(VICTIM, i))
            add_mask(left, key=key, sign=-1)  # the victim has the lower number
        return left.view(np.int64)


def looks_random(words):
    """χ² of bytes against the uniform law."""
    counts = np.bincount(words.view(np.uint8), minlength=256)
    expected = counts.sum() / 256
    return chi_squared_tail(((counts - expected) ** 2 / expected).sum(), degrees=255) > 1e-6


@pytest.fixture
def hospitals(tmp_path):
    return Hospitals(tmp_path, sites=SITES, drops=2, colluders=COLLUDERS, length=5000)


@pytest.mark.parametrize("victim_dropped", [False, True])
def test_colluders_within_the_tolerance_read_nothing_of_a_site(victim_dropped, hospitals):
    adversary = Adversary(hospitals, colluders=(7, 8), victim_dropped=victim_dropped)
    left = adversary.read()
    assert looks_random(left)
    assert not (left == hospitals.vectors[VICTIM]).any()


@pytest.mark.parametrize("victim_dropped", [False, True])
def test_one_colluder_fewer_than_the_threshold_still_reads_nothing(victim_dropped, hospitals):
    """Shares of the secret that no honest site gave: t − 1 colluders hold t − 1 of them."""
    adversary = Adversary(hospitals, colluders=(4, 5, 6, 7, 8), victim_dropped=victim_dropped)
    assert looks_random(adversary.read())


@pytest.mark.parametrize("victim_dropped", [False, True])
def test_as_many_colluders_as_the_threshold_would_read_all_of_it(victim_dropped, hospitals):
    adversary = Adversary(hospitals, colluders=(3, 4, 5, 6, 7, 8), victim_dropped=victim_dropped)
    assert adversary.read().tolist() == hospitals.vectors[VICTIM].tolist()


def test_fewer_answers_than_the_threshold_join_to_no_secret_of_anybody(hospitals):
    adversary = Adversary(hospitals, colluders=(), victim_dropped=False)
    threshold, collector = hospitals.tolerance.threshold, adversary.played.collector
    for count in range(1, threshold + 1):
        some = dict(sorted(adversary.given.items())[:count])
        for site in range(SITES):
            shares = {i: body[33 * site : 33 * site + 33] for i, body in some.items()}
            secret = secret_of(shares, threshold=count)
            found = secret is not None and (
                commitment_to(secret, context=collector._bound, site=site)
                == collector._commitments[site]
            )
            assert found == (count == threshold)


def test_what_is_sent_looks_random_and_differs_from_round_to_round(hospitals):
    first = Adversary(hospitals, colluders=(), victim_dropped=False)
    again = Played(hospitals, terms=hospitals.of_round(1))
    again.until(Leg.DELIVER)
    again.answer()
    terms = hospitals.of_round(1)
    body = opened_wire(again.wires[VICTIM], context=terms.context, federation=terms.federation).body
    one = np.frombuffer(first.body(first.masked)[32:], dtype="<u8")
    two = np.frombuffer(body, dtype="<u8", offset=32)
    assert looks_random(one)
    assert looks_random(one - two)
