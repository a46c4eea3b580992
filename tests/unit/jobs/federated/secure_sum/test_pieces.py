"""Pieces of a secure sum: sharing of secrets, masks, numbers on a grid, rounds used once."""

import itertools

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from confide.errors import InvalidParameterError, RoundAbortedError
from confide.jobs.federated.secure_sum import secret_sharing
from confide.jobs.federated.secure_sum.agreement import key_from
from confide.jobs.federated.secure_sum.fixed_point import from_whole, require_within, to_whole
from confide.jobs.federated.secure_sum.mask_stream import BLOCK_WORDS, add_mask
from confide.jobs.federated.secure_sum.secret_sharing import PRIME, dealt, secret_of
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import SystemEntropy

EDGES = [bytes(32), b"\xff" * 32, (1).to_bytes(32, "big")]


@pytest.mark.parametrize("secret", EDGES)
def test_any_shares_of_the_threshold_give_the_secret_and_fewer_give_nothing(secret):
    shares = dealt(secret, holders=[0, 2, 5, 6, 9], threshold=3, entropy=SystemEntropy())
    for some in itertools.combinations(shares, 3):
        assert secret_of({site: shares[site] for site in some}, threshold=3) == secret
    for some in itertools.combinations(shares, 2):
        kept = {site: shares[site] for site in some}
        with pytest.raises(InvalidParameterError, match="Expected 3 shares, got 2"):
            secret_of(kept, threshold=3)
        assert secret_of(kept, threshold=2) != secret


def test_fewer_shares_fit_every_secret_equally_well(monkeypatch):
    """Over a field of 11 elements all of it can be counted."""
    monkeypatch.setattr(secret_sharing, "PRIME", 11)
    seen = {secret: [] for secret in range(11)}
    for secret, first, second in itertools.product(range(11), repeat=3):
        coins = iter([first, second])

        class Coins:
            def below(self, bound, coins=coins):
                assert bound == 11
                return next(coins)

        shares = dealt(secret.to_bytes(32, "big"), holders=[1, 3, 4], threshold=3, entropy=Coins())
        seen[secret].append((shares[1], shares[4]))
    assert len({tuple(sorted(views)) for views in seen.values()}) == 1
    assert len(set(seen[0])) == 121  # every pair of shares, once


def test_a_share_that_is_no_field_element_joins_to_nothing():
    shares = dealt(bytes(32), holders=range(3), threshold=2, entropy=SystemEntropy())
    assert secret_of(shares | {0: PRIME.to_bytes(33, "big")}, threshold=2) is None
    assert secret_of({0: b"\x01" + bytes(32), 1: b"\x01" + bytes(32)}, threshold=2) is None


@pytest.mark.parametrize(
    ("secret", "holders", "threshold"),
    [(bytes(31), range(3), 2), (bytes(32), range(3), 4), (bytes(32), [1, 1, 2], 3)],
)
def test_secrets_are_not_dealt_badly(secret, holders, threshold):
    with pytest.raises(InvalidParameterError):
        dealt(secret, holders=holders, threshold=threshold, entropy=SystemEntropy())


def test_no_two_purposes_rounds_pairs_or_directions_have_one_key():
    asked = [
        {"purpose": purpose, "context": context, "pair": pair}
        for purpose in ("shares", "pair mask", "own mask", "commitment")
        for context in (b"a" * 64, b"a" * 63 + b"b", b"b" + b"a" * 63)
        for pair in ((0, 1), (1, 0), (0, 256), (1, 1))
    ]
    keys = {key_from(bytes(32), **each) for each in asked}
    assert len(keys) == len(asked) == 48
    assert {len(key) for key in keys} == {32}


@pytest.mark.parametrize("length", [1, BLOCK_WORDS - 1, BLOCK_WORDS, 3 * BLOCK_WORDS + 5])
def test_a_mask_is_the_whole_stream_of_its_key(length):
    key = bytes(range(32))
    stream = Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8 * length))
    total = np.full(length, 2**64 - 1, dtype=np.uint64)
    add_mask(total, key=key, sign=1)
    assert ((total + np.uint64(1)) == np.frombuffer(stream, dtype="<u8")).all()


def test_the_mask_of_zeros_is_the_published_stream():
    """RFC 8439, A.1, test vector 1: key and nonce of zeros."""
    total = np.zeros(8, dtype=np.uint64)
    add_mask(total, key=bytes(32), sign=1)
    published = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    assert total.astype("<u8").tobytes().hex().startswith(published)


def test_numbers_on_the_grid_are_rounded_to_even_and_bounded():
    assert to_whole(np.array([0.5, 1.5, 2.5, -0.5]), bits=0, bound=9).tolist() == [0, 2, 2, 0]
    whole = to_whole(np.array([[0.1, -7.3]]), bits=20, bound=1 << 30)
    assert from_whole(whole, bits=20) == pytest.approx(np.array([[0.1, -7.3]]), abs=2**-21)
    for wrong in (np.nan, np.inf, -np.inf, 1e300, 2.0**63, 11.0):
        with pytest.raises(InvalidParameterError, match="bound") as refused:
            to_whole(np.array([wrong]), bits=0, bound=10)
        assert "11" not in str(refused.value)
    with pytest.raises(InvalidParameterError, match="bits"):
        to_whole(np.array([1.0]), bits=53, bound=10)


@pytest.mark.parametrize("value", [11, -11, 2**63 - 1, -(2**63)])
def test_a_number_beyond_the_bound_is_refused_and_not_told(value):
    require_within(np.array([10, -10]), bound=10)
    with pytest.raises(InvalidParameterError) as refused:
        require_within(np.array([0, value]), bound=10)
    assert str(value) not in str(refused.value)
    with pytest.raises(InvalidParameterError, match="int64"):
        require_within(np.array([1.0]), bound=10)


def test_a_round_is_used_once_also_by_another_machine(tmp_path):
    UsedRounds(tmp_path).use(run="a" * 64, number=0)
    with pytest.raises(RoundAbortedError, match="used before"):
        UsedRounds(tmp_path).use(run="a" * 64, number=0)
    UsedRounds(tmp_path).use(run="a" * 64, number=1)
    UsedRounds(tmp_path).use(run="b" * 64, number=0)
