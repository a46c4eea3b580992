"""A database that several hosts share is put back: what any of them read under stays charged."""

from dataclasses import replace

import pytest

from confide.budget.integrity import book_head, inspection, lost_rows
from ledger_policies import uncapped
from ledgers import LINEAGE, TENTH, released, request, used
from two_hosts import ANOTHER, OPENING, POLICY, Hosts, Life, free_step, released_beside

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


def what_an_officers_row_counted_is_known_to_whoever_saw_that_row(hosts):
    """Host b saw nothing of what host a lost, but its row; then that row is lost, and host a is."""
    begun(hosts)
    hosts.at(A).register(ANOTHER)
    hosts.at(B).head()
    hosts.copy("copy")
    released_beside(hosts.at(A), "a")
    hosts.put_back("copy")
    released(hosts.at(B), "b", b"")
    assert used(hosts.at(A), "south")["lifetime"] == TENTH
    hosts.at(B).head()
    hosts.put_back("copy")
    assert used(hosts.at(B), "south")["lifetime"] == TENTH
    assert used(hosts.at(B))["lifetime"] == 2 * TENTH


def what_another_host_did_not_count_is_counted_when_its_own_looks(hosts):
    """As before, but host b spent of the data set itself before host a looks again."""
    what_an_officers_row_counted_is_known_to_whoever_saw_that_row(hosts)
    released_beside(hosts.at(B), "b")
    hosts.leave()
    for host in (A, B, A):
        assert used(hosts.at(host), "south")["lifetime"] == 2 * TENTH
        hosts.at(host).verify_chain()
        hosts.leave()


def test_what_an_officers_row_counted_is_known_to_whoever_saw_that_row(hosts):
    what_an_officers_row_counted_is_known_to_whoever_saw_that_row(hosts)


def test_what_another_host_did_not_count_is_counted_when_its_own_looks(hosts):
    what_another_host_did_not_count_is_counted_when_its_own_looks(hosts)


def test_what_a_line_of_an_earlier_version_does_not_tell_is_counted_by_whoever_knows(
    hosts, monkeypatch
):
    """Lines of an officer's row told of no data set: whoever counts by one counts nothing of it."""
    monkeypatch.setattr(book_head, "_holdings", lambda _: ())
    begun(hosts)
    hosts.at(A).register(ANOTHER)
    hosts.at(B).head()
    hosts.copy("copy")
    released_beside(hosts.at(A), "a")
    hosts.put_back("copy")
    released(hosts.at(B), "b", b"")
    hosts.at(A).head()
    hosts.at(B).head()
    hosts.put_back("copy")
    released_beside(hosts.at(B), "b")
    hosts.leave()
    assert used(hosts.at(A), "south")["lifetime"] == 2 * TENTH


def test_what_a_host_that_did_not_know_gave_back_stays_charged(hosts):
    what_a_host_that_did_not_know_gave_back_stays_charged(hosts)


def test_a_period_that_was_begun_and_drawn_twice_is_charged_twice(hosts):
    a_period_that_was_begun_and_drawn_twice_is_charged_twice(hosts)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_any_host_read_under_stays_charged_in_random_lives(tmp_path, seed):
    assert Life(Hosts(tmp_path / "site"), seed).live(acts=60).put_backs


def test_what_any_host_read_of_any_data_set_stays_charged_in_random_lives(tmp_path):
    for seed in SEEDS:
        hosts = Hosts(tmp_path / str(seed))
        assert Life(hosts, seed, many=3, others=True).live(acts=60).put_backs


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(2000, 2200))
def test_what_any_host_read_under_stays_charged_in_many_lives(tmp_path, seed):
    hosts = Hosts(tmp_path / "site")
    Life(hosts, seed, many=2 + seed % 2, others=seed % 3 == 0).live(acts=60)


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
    def test_a_row_of_an_officer_whose_line_tells_nothing_is_caught(self, tmp_path, monkeypatch):
        monkeypatch.setattr(book_head, "_holdings", lambda _: ())
        hosts = Hosts(tmp_path / "site")
        with pytest.raises(AssertionError):
            what_an_officers_row_counted_is_known_to_whoever_saw_that_row(hosts)
        hosts.leave()

    @pytest.mark.mutant
    def test_a_host_that_leaves_out_what_no_line_told_is_caught(self, tmp_path, monkeypatch):
        def forget_all(granted, _):
            granted.named.clear()
            granted.anyone.clear()

        monkeypatch.setattr(lost_rows, "_forget", forget_all)
        hosts = Hosts(tmp_path / "site")
        with pytest.raises(AssertionError), monkeypatch.context() as told:
            test_what_a_line_of_an_earlier_version_does_not_tell_is_counted_by_whoever_knows(
                hosts, told
            )
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
