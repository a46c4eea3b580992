"""A database that several hosts share is put back: what any of them read under stays charged."""

from dataclasses import replace

import pytest

from confide.budget.integrity import inspection
from ledger_policies import uncapped
from ledgers import LINEAGE, TENTH, released, request, used
from two_hosts import OPENING, POLICY, Hosts, Life, free_step

SEEDS = (79, 4)
A, B = 0, 1


@pytest.fixture(params=["sqlite", "postgres"])
def hosts(request, tmp_path):
    if request.param == "postgres":
        pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")
        from postgres_server import server
    url = server().url if request.param == "postgres" else ""
    hosts = Hosts(tmp_path / "site", url=url)
    yield hosts
    hosts.leave()


def begun(hosts):
    hosts.at(A).register(uncapped())
    hosts.at(A).desk.adopt(LINEAGE, policy=POLICY)
    released(hosts.at(A), "both saw it", b"")
    hosts.at(B).head()


def what_a_host_that_did_not_know_gave_back_stays_charged(hosts):
    """Host a reads under a charge that the copy holds; host b takes it for dead, and spends."""
    begun(hosts)
    ledger = hosts.at(A)
    held = ledger.reserve(request("a"))
    hosts.copy("copy")
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"the answer of host a"))
    hosts.put_back("copy")
    hosts.leave()
    released(hosts.at(B), "b", b"")
    assert used(hosts.at(B))["lifetime"] == 2 * TENTH
    for _ in range(2):
        assert used(hosts.at(A))["lifetime"] == 3 * TENTH
        hosts.at(A).verify_chain()
        hosts.leave(A)
    assert used(hosts.at(B))["lifetime"] == 3 * TENTH


def a_period_that_was_begun_and_drawn_twice_is_charged_twice(hosts):
    """The copy holds a step that is reserved: host a reads under it, host b draws it anew."""
    begun(hosts)
    ledger = hosts.at(A)
    held = ledger.reserve(replace(request("grows"), step=OPENING))
    ledger.start_reading(held)
    opened = ledger.publish(ledger.commit(held, payload=b"one period")).number
    held = ledger.reserve(free_step(opened, "of host a"))
    hosts.copy("copy")
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"two periods"))
    hosts.put_back("copy")
    ledger = hosts.at(B)
    held = ledger.reserve(free_step(opened, "of host b"))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"two others"))
    assert used(ledger)["lifetime"] == 2 * TENTH
    assert used(hosts.at(A))["lifetime"] == 3 * TENTH
    hosts.at(A).verify_chain()


def test_what_a_host_that_did_not_know_gave_back_stays_charged(hosts):
    what_a_host_that_did_not_know_gave_back_stays_charged(hosts)


def test_a_period_that_was_begun_and_drawn_twice_is_charged_twice(hosts):
    a_period_that_was_begun_and_drawn_twice_is_charged_twice(hosts)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_any_host_read_under_stays_charged_in_random_lives(tmp_path, seed):
    assert Life(Hosts(tmp_path / "site"), seed).live(acts=60).put_backs


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(2000, 2200))
def test_what_any_host_read_under_stays_charged_in_many_lives(tmp_path, seed):
    Life(Hosts(tmp_path / "site"), seed).live(acts=60)


class TestTheseTestsCanFail:
    @pytest.mark.mutant
    @pytest.mark.parametrize(
        "check",
        [
            what_a_host_that_did_not_know_gave_back_stays_charged,
            a_period_that_was_begun_and_drawn_twice_is_charged_twice,
        ],
    )
    def test_a_loss_after_which_nothing_is_charged_again_is_caught(
        self, tmp_path, monkeypatch, check
    ):
        monkeypatch.setattr(inspection, "charged_again", lambda *_, **__: ())
        hosts = Hosts(tmp_path / "site")
        with pytest.raises(AssertionError):
            check(hosts)
        hosts.leave()

    @pytest.mark.mutant
    def test_a_life_of_hosts_in_which_nothing_is_charged_again_is_caught(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(inspection, "charged_again", lambda *_, **__: ())
        hosts = Hosts(tmp_path / "site")
        with pytest.raises(AssertionError):
            Life(hosts, SEEDS[0]).live(acts=60)
        hosts.leave()
