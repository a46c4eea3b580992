"""hash.key is exchanged while a workspace opens its source, and put back before anybody looks."""

import contextlib

import pytest

import confide
from confide.errors import ContractError
from patient_lives import another_key, watched
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import PEOPLE


def met_under_a_key_for_a_moment(folder):
    """Return how many persons a hospital of forty patients knows after a release under it."""
    dataset = write_hospital(folder, cap='epsilon: "60"', life='epsilon: "90000"')
    with watched() as paid:
        with confide.open(dataset) as at:
            at.release(at.plan(PEOPLE, epsilon="45"), request="before")
            spent = at.spent()
        with another_key(dataset), confide.open(dataset) as at:
            plan = at.plan(PEOPLE, epsilon="10")
            with contextlib.suppress(ContractError):
                at.release(plan, request="meanwhile")
                return len(paid)
        with confide.open(dataset) as at:
            assert at.spent() == spent, "nothing was charged"
            at.release(plan, request="meanwhile")
    return len(paid)


def test_nobody_is_met_under_a_hash_key_that_is_exchanged_for_a_moment(tmp_path):
    assert met_under_a_key_for_a_moment(tmp_path) == 40


def test_nobody_is_listed_under_a_hash_key_that_is_exchanged_for_a_moment(tmp_path):
    dataset = write_hospital(tmp_path, cap='epsilon: "60"', life='epsilon: "90000"')
    with confide.open(dataset) as at:
        assert round(at.release(at.plan(PEOPLE, epsilon="9"), request="1").of("n")[0].value) == 40
    with (
        another_key(dataset),
        confide.open(dataset) as at,
        pytest.raises(ContractError, match="exchanged meanwhile"),
    ):
        at.forget(["7"])
    assert not [*(tmp_path / ".confide").glob("withdrawn/*")]
    with confide.open(dataset) as at:
        at.forget(["7"])
        assert round(at.release(at.plan(PEOPLE, epsilon="9"), request="2").of("n")[0].value) == 39
