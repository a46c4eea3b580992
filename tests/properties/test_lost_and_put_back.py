"""Whatever copies of a ledger are put back, in whatever order, nothing granted is forgotten."""

import pytest

from put_backs import Life

SEEDS = (12, 23, 38, 44)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_counter_is_ever_below_what_was_granted(tmp_path, seed):
    assert Life(tmp_path / "ledger", seed).live(acts=100).put_back


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_no_counter_is_ever_below_what_was_granted_in_many_lives(tmp_path, seed):
    Life(tmp_path / "ledger", seed).live(acts=120)
