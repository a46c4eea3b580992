"""Releases over sites whose ledgers count in ε: what is added, charged, certified, and covered."""

import json
from collections import Counter

import numpy as np
import pytest

from confide.errors import UnsupportedError
from confide.files.study import read_study
from confide.plans.estimates import Covers
from confide.plans.simulation import Simulation
from confide.release.noisy import read_payload
from confide.release.verify.verify import verify
from federated_members import members
from federated_sites import EVERYTHING, PURE, Sites, central, without_noise
from seeded import SeededEntropy

FEW = """\
study: {id: over-sites, title: Over sites, purpose: test}
spend: {at-most: {epsilon: 2}}
statistics:
  - {id: dead, kind: count, table: patients, where: {status: [dead]}}
  - {id: by-sex, kind: histogram, table: patients, by: [sex, status]}
  - {id: days, kind: sum, table: patients, column: days, by: [sex]}
"""
RUNS = 800


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Counts and sums over three sites, for patients of up to two of them."""
    sites = Sites(tmp_path_factory.mktemp("pure"), dataset=PURE, study=FEW, per_person=2)
    sites.made = sites.together()
    return sites


@pytest.mark.audit
def test_sums_in_epsilon_are_the_central_integers_before_noise(tmp_path, monkeypatch):
    sites = Sites(tmp_path, dataset=PURE, study=EVERYTHING)
    without_noise(monkeypatch)
    sites.together()
    noisy = read_payload((tmp_path / "out" / "noisy.json").read_bytes())
    assert len(noisy.values) >= 8
    assert noisy.values == central(sites)


def test_each_site_charges_its_own_ledger_the_whole_epsilon(released):
    nano = released.plan().amount.nano
    assert nano == pytest.approx(2 * 10**9, rel=1e-6)
    for name in released.names:
        assert released.entries(name) == [("published", nano)]


def test_the_certificate_says_in_epsilon_whom_the_promise_protects_from(released):
    form = json.loads((released.root / "out" / "certificate.json").read_text())
    told, charged = form["federation"], released.plan().amount.nano / 10**9
    assert "Pólya noise of its own; 2 parts keep the loss" in told["noise"]
    assert not any("rho" in each for each in told["losses"])
    lost = {each["to"]: float(each["epsilon"]) for each in told["losses"]}
    assert lost["every site's ledger"] == pytest.approx(charged)
    assert lost["whoever sees the sum alone, all sites in it"] == pytest.approx(charged)
    assert lost["all other sites and the coordinator together"] > charged + 2 * np.log(2)
    assert lost["a patient of 1 of the sites"] == pytest.approx(charged / 2)
    assert lost["a patient of 3 of the sites"] == pytest.approx(charged * 3 / 2)
    assert {each["law"]["family"] for each in form["mechanisms"]} == {"polya-difference"}
    assert {each["law"]["shape"] for each in form["mechanisms"]} == {"3/2"}


@pytest.mark.parametrize(
    ("part", "wrong", "failed"),
    [("shape", "1", "errors"), ("scale", "1/9", "scales"), ("shape", "5/2", "errors")],
)
def test_a_certificate_that_states_another_law_of_parts_does_not_verify(
    part, wrong, failed, released
):
    form = json.loads((released.root / "out" / "certificate.json").read_text())
    assert verify(form, folder=released.root / "out").holds
    form["mechanisms"][0]["law"][part] = wrong
    assert failed in verify(form, folder=released.root / "out").failed


@pytest.mark.parametrize("member", ["hub", "site-0"])
def test_the_report_says_that_noise_is_made_of_parts(member, released):
    name = "out" if member == "hub" else f"out-{member}"
    page = (released.root / name / "report.html").read_text("utf-8")
    assert "made of Pólya parts and counts as ε" in page


def test_intervals_cover_what_sites_counted_whoever_colludes(released):
    """Of five sites two are counted on: intervals of those two alone would hold 84 % of sums."""
    folder = released.root / "pooled"
    exact = central(released)
    plan = read_study(folder / "study.yaml").plan_over(members(sites=5, drops=1, colluders=2))
    true = _estimated(plan, exact)
    held, seen = Counter(), 0
    drawn = [_draws(m, len(x)) for m, x in zip(plan.measurements, exact, strict=True)]
    for noise in zip(*drawn, strict=True):
        noisy = [tuple(np.add(x, z).tolist()) for x, z in zip(exact, noise, strict=True)]
        seen += 1
        for key, found in _estimated(plan, noisy).items():
            held[key] += found.lower <= true[key].value <= found.upper
    assert seen == RUNS
    assert len(held) >= 7
    for key, inside in held.items():
        assert inside / RUNS >= 0.95 - 5 * np.sqrt(0.95 * 0.05 / RUNS), key  # 0.911
        assert inside / RUNS <= 0.995, key


def _draws(measurement, length):
    """Noise of five sites, run by run."""
    part = measurement.shared.part
    drawn = sum(
        part.sample(RUNS * length, entropy=SeededEntropy(length + 100 * i)) for i in range(5)
    )
    return drawn.reshape(RUNS, length)


def _estimated(plan, values):
    """Intervals for the noise of counts and sums, by statistic and cell."""
    found = {}
    for statistic in plan.statistics:
        asked = {
            m.name: value
            for m, value in zip(plan.measurements, values, strict=True)
            if m.statistic == statistic.id
        }
        for each in statistic.estimate(
            asked,
            mechanisms=plan.mechanisms(statistic.id),
            dataset=plan.dataset,
            simulation=Simulation(payload_digest="00" * 32),
        ):
            if each.covers is Covers.NOISE and each.quantity in {"count", "sum"}:
                found[statistic.id, each.quantity, each.key] = each
    return found


@pytest.mark.parametrize(
    ("statistic", "why"),
    [
        ("kind: quantiles, table: patients, column: age, at: [0.5]", "asked in turn"),
        ("kind: top-category, table: patients, by: [status]", "no vector"),
    ],
)
def test_what_sites_cannot_add_in_epsilon_is_refused_before_a_charge(statistic, why, tmp_path):
    study = FEW[: FEW.index("statistics:")] + f"statistics:\n  - {{id: q, {statistic}}}\n"
    sites = Sites(tmp_path, dataset=PURE, study=study)
    made = sites.together(seconds=2, **{f"site_{i}": lambda: None for i in range(3)})
    assert isinstance(made.hub, UnsupportedError)
    assert why in str(made.hub)
    with pytest.raises(UnsupportedError, match=why):
        sites.digest()
    assert all(sites.entries(name) == [] for name in sites.names)
