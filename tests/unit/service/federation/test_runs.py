"""Releases over sites: what is added, what is charged where, and who verifies."""

import json

import pytest

from confide.errors import ContractError
from confide.release.noisy import read_payload
from confide.release.over_sites import site_gate
from confide.release.verify.verify import read_certificate, verify
from federated_sites import COUNT, DATASET, EVERYTHING, Sites, central, without_noise


def test_sums_over_sites_are_the_central_integers_before_noise(tmp_path, monkeypatch):
    sites = Sites(tmp_path, study=EVERYTHING)
    without_noise(monkeypatch)
    made = sites.together()
    noisy = read_payload((tmp_path / "out" / "noisy.json").read_bytes())
    exact = central(sites)
    assert len(exact) >= 10
    assert any(any(values) for values in exact)
    assert noisy.values == exact
    assert made.hub.missing == {}


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A count over three sites, as all keep it."""
    sites = Sites(tmp_path_factory.mktemp("counted"))
    sites.made = sites.together()
    return sites


def test_each_site_charges_its_own_ledger_the_whole_loss(counted):
    nano = counted.plan().amount.nano
    for name in counted.names:
        assert counted.entries(name) == [("published", nano)]
    assert counted.made.site_0.charged


def test_all_sites_hold_the_same_numbers_and_each_certificate_verifies(counted):
    payloads = {
        (counted.root / f"out-{name}" / "noisy.json").read_bytes() for name in counted.names
    }
    assert len(payloads) == 1
    for place, name in enumerate(counted.names):
        for folder in (counted.root / f"out-{name}", counted.root / "out" / "sites" / name):
            certificate = read_certificate(folder / "certificate.json")
            checked = verify(
                certificate, folder=folder, pinned_key=counted.federation.sites[place].key
            )
            assert checked.holds, checked.failed
            assert any(check.name == "federation" for check in checked.checks)
    assert sorted(counted.made.hub.certificates) == counted.names


def test_the_certificate_names_sites_noise_and_whom_the_promise_protects_from(counted):
    form = json.loads((counted.root / "out" / "certificate.json").read_text())
    told = form["federation"]
    assert form["guarantee"]["trust"] == "sites"
    assert [site["name"] for site in told["sites"]] == counted.names == told["added"]
    assert told["colluders"] == 1
    assert "X25519" in told["security"]
    lost = {each["to"]: float(each["rho"]) for each in told["losses"]}
    charged = lost["every site's ledger"]
    assert lost["whoever sees the sum alone, all sites in it"] == pytest.approx(
        charged * 2 / 3, 1e-3
    )
    assert lost["all other sites and the coordinator together"] == pytest.approx(2 * charged, 1e-3)
    assert lost["a patient of 3 of the sites"] == pytest.approx(9 * charged, 1e-3)


def test_a_certificate_that_names_another_site_does_not_verify(counted):
    folder = counted.root / "out-site-0"
    payload = json.loads((folder / "noisy.json").read_text())
    payload["added"] = ["site-0", "site-1"]
    form = json.loads((folder / "certificate.json").read_text())
    checked = verify(form, folder=folder, payload=json.dumps(payload).encode())
    assert "noisy payload" in checked.failed


def test_the_report_says_who_adds_up(counted):
    page = (counted.root / "out" / "report.html").read_text("utf-8")
    assert "sums over the sites site-0, site-1, site-2" in page


def test_a_site_delivers_again_at_no_charge(counted):
    again = counted.serve("site-1", out=counted.root / "again")
    assert not again.charged
    assert counted.entries("site-1") == [("published", counted.plan().amount.nano)]
    first = (counted.root / "out-site-1" / "certificate.json").read_bytes()
    assert (counted.root / "again" / "certificate.json").read_bytes() == first


def test_a_person_of_two_sites_is_promised_the_same_at_four_times_the_variance(tmp_path):
    one, two = (Sites(tmp_path / str(k), per_person=k, study=EVERYTHING).plan() for k in (1, 2))
    assert one.amount == two.amount
    first, second = (plan.measurements[0].mechanism.sigma_squared for plan in (one, two))
    assert second / first == pytest.approx(4, rel=0.02)  # 1/12 of rounding is in one of them


def test_one_of_four_sites_may_be_missing_and_is_not_charged(tmp_path):
    sites = Sites(tmp_path, sites=4, drops=1, study=COUNT)
    made = sites.together(serving=["site-0", "site-1", "site-3"], seconds=8)
    assert made.hub.added == ("site-0", "site-1", "site-3")
    assert made.site_3.added == made.hub.added
    assert sites.entries("site-2") == []
    form = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert form["federation"]["added"] == list(made.hub.added)


def test_a_house_rule_that_publishes_noisy_numbers_holds_over_sites(tmp_path):
    sites = Sites(tmp_path, study=COUNT + "small-cells: {rule: cms, noisy: published}\n")
    made = sites.together()
    assert sorted(made.hub.certificates) == sites.names
    assert (tmp_path / "out" / "noisy.json").exists()


def test_a_house_rule_that_withholds_noisy_numbers_is_refused_over_sites(tmp_path):
    sites = Sites(tmp_path, study=COUNT + "small-cells: cms\n")
    made = sites.together(
        seconds=1, site_0=lambda: sites.serve("site-0", approve="0" * 64, seconds=1)
    )
    for each in (made.hub, made.site_0, made.site_1):
        assert isinstance(each, ContractError)
        assert "no house rule can withhold" in str(each)
    assert [sites.entries(name) for name in sites.names] == [[], [], []]
    assert not list(sites.shared.iterdir())


def test_the_gate_refuses_a_house_rule_that_withholds_before_any_charge(tmp_path, monkeypatch):
    sites = Sites(tmp_path, study=COUNT + "small-cells: {rule: cms, noisy: published}\n")
    monkeypatch.setattr(site_gate, "shows_noisy", lambda _: False)
    made = sites.together(seconds=20)
    assert "no house rule can withhold" in str(made.site_0)
    assert [sites.entries(name) for name in sites.names] == [[], [], []]


def test_sites_whose_ledgers_are_mixed_take_part_and_verify(tmp_path):
    dataset = DATASET.replace("measure: zcdp", "measure: mixed")
    sites = Sites(tmp_path, dataset=dataset)
    made = sites.together()
    assert made.hub.missing == {}
    assert all(sites.spent(name) > 0 for name in sites.names)


def test_rows_of_a_patient_are_bounded_at_each_site(tmp_path):
    study = COUNT.replace("table: patients, where: {status: [dead]}", "table: visits").replace(
        "kind: count,", "kind: count, count: events, per-patient: {rows: 2},"
    )
    sites = Sites(tmp_path, study=study)
    assert sites.plan().measurements[0].sensitivity.l1 == 2
    assert sites.together().hub.missing == {}
