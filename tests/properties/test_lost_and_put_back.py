"""Whatever copies of a ledger are put back, in whatever order, nothing granted is forgotten."""

import pytest

import put_backs
from confide.budget.integrity import checkpoint
from confide.privacy.measure import Mixed
from put_backs import Life

SEEDS = (15, 67, 6, 38, 42)
MIXED_SEEDS = (9, 17, 47)
OFTEN = 7
"""Rows after which these ledgers write a checkpoint, so that lives begin from them."""


@pytest.mark.parametrize("people", [False, True], ids=["nobody", "people"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_counter_is_ever_below_what_was_granted(tmp_path, seed, people):
    assert Life(tmp_path / "ledger", seed, people=people).live(acts=100).put_back


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_no_counter_is_ever_below_what_was_granted_whatever_anchors_are_put_back(tmp_path, seed):
    life = Life(tmp_path / "ledger", seed, people=bool(seed % 2), anchors=True)
    assert life.live(acts=80).put_back


@pytest.mark.parametrize("seed", MIXED_SEEDS)
def test_neither_lane_of_a_mixed_ledger_is_below_what_was_granted(tmp_path, seed):
    assert Life(tmp_path / "ledger", seed, mixed=True, anchors=True).live(acts=100).put_back


def test_a_mixed_ledger_of_other_orders_charges_what_let_go_of_lost_rows(tmp_path, monkeypatch):
    orders = Mixed(atto=10**12, yearly=9, lifetime=9, each=(4, 22))
    monkeypatch.setattr(put_backs, "MIXED", orders)
    monkeypatch.setattr(checkpoint, "EVERY", OFTEN)
    assert Life(tmp_path / "ledger", 5003, mixed=True).live(acts=140).put_back


def test_no_counter_is_below_what_was_granted_in_ledgers_that_open_from_checkpoints(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(checkpoint, "EVERY", OFTEN)
    for seed in SEEDS[:2]:
        assert Life(tmp_path / str(seed), seed, people=bool(seed % 2)).live(acts=100).put_back


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_no_counter_is_ever_below_what_was_granted_in_many_lives(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(checkpoint, "EVERY", OFTEN if seed % 3 else checkpoint.EVERY)
    Life(tmp_path / "ledger", seed, people=bool(seed % 2), anchors=seed % 5 == 0).live(acts=120)
    Life(tmp_path / "mixed", seed, mixed=True, anchors=seed % 2 == 0).live(acts=120)
