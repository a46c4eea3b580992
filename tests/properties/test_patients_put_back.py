"""Whoever withdraws, whatever is put back and whatever stays open: nobody pays past their cap."""

import pytest

from patient_lives import Life

KINDS = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


@pytest.mark.parametrize(("kind", "seed"), [("sqlite", 0), ("sqlite", 6), ("postgres", 8)])
def test_nobody_is_charged_past_the_cap_whatever_is_put_back(tmp_path, kind, seed):
    assert Life(kind, tmp_path / "life", seed).live(acts=30).asked


@pytest.mark.audit
@KINDS
@pytest.mark.parametrize("seed", range(100, 160))
def test_nobody_is_charged_past_the_cap_in_many_lives(tmp_path, kind, seed):
    assert Life(kind, tmp_path / "life", seed).live(acts=40).asked
