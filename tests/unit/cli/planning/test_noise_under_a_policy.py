"""Which noise a study has under a policy of a mixed ledger, at the command line."""

from types import SimpleNamespace

import pytest

from command_line import confide
from small_clinic import DATASET, make_clinic

CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}\n"
MIXED = DATASET.replace("measure: zcdp, delta: 1e-6", "measure: mixed, delta: 1e-6")
POLICY = """\
policy: {id: north-clinic, version: 1, effective: 2020-01-01}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: mixed, report-delta: 1e-6, selection-delta: 5e-7}
caps:
  - {id: year, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {epsilon: "3"}}
  - {id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {epsilon: "10"}}
"""
PLANNED = """\
  - {id: NAME, tier: open, utility: {id: u-NAME, priority: 3, metric: interval-width, at-most: WIDE,
     planning-count: {value: 100, source: bulletin}}}
"""
ONE = "  - {id: n, kind: count, table: patients, error: {within: HALF}}\n"


@pytest.fixture
def clinic(tmp_path):
    dataset = MIXED.replace(CAPS, "policy: policy.yaml\n")
    files = make_clinic(tmp_path / "clinic", dataset=dataset)
    return SimpleNamespace(
        folder=files.folder,
        dataset=files.dataset,
        study=files.study,
        policy=files.folder / "policy.yaml",
        out=tmp_path / "out",
    )


def ask(clinic, name, *, tier="open", half="20", more="", statistics=ONE, spend=""):
    head = f"study: {{id: {name}, tier: {tier}{more}}}\nstatistics:\n"
    clinic.study.write_text(head + statistics.replace("HALF", half) + spend)


def run(clinic, name):
    return confide("run", clinic.study, "--out", clinic.out / name, "--quiet")


def noise(clinic):
    return confide("plan", clinic.study, "--json").json["road"]["noise"]


def test_the_noise_under_the_ceiling_of_its_tier_is_taken(clinic):
    ceilings = {"open": "", "small": ', ceiling: {epsilon: "0.2"}'}
    tiers = "".join(f"  - {{id: {name}{more}}}\n" for name, more in ceilings.items())
    clinic.policy.write_text(f"{POLICY}tiers:\n{tiers}")
    ask(clinic, "free")
    assert noise(clinic) == "Gaussian"
    ask(clinic, "one", tier="small")  # ε = 0.42 with that noise, 0.15 with the other
    planned = confide("plan", clinic.study, "--json").json
    assert (planned["road"]["noise"], planned["approval"]["admitted"]) == ("Laplace", True)
    assert "ceiling" in planned["road"]["text"]
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    ledger.chmod(0o644)  # one that others may read is not opened
    alone = confide("plan", clinic.study, "--json").json
    assert (alone["road"]["noise"], bool(alone["unknown"])) == ("Laplace", True)
    ledger.chmod(0o600)
    assert run(clinic, "one").code == 0


def test_every_planned_release_is_granted_at_the_error_with_which_it_is_planned(clinic):
    wide = {"a-wide": 40, "b-sharp": 6, "c-sharp": 6}
    releases = "".join(
        PLANNED.replace("NAME", name).replace("WIDE", str(width)) for name, width in wide.items()
    )
    clinic.policy.write_text(f"{POLICY}tiers:\n  - {{id: open}}\nreleases:\n{releases}")
    solved = confide("policy", "solve", clinic.policy, "--json").json
    assert (solved["can-be-met"], solved["planned-in"]) == (True, "pure")
    ask(clinic, "unplanned")  # no release of the policy: the noise of which more fit
    assert noise(clinic) == "Gaussian"
    for name, width in wide.items():
        ask(clinic, name, half=str(width // 2), more=f", release: {name}")
        assert noise(clinic) == "Laplace", name
        done = run(clinic, name)
        assert done.code == 0, (name, done.err)


def test_a_policy_that_cannot_be_divided_still_lets_its_releases_be_asked_for(clinic):
    analyst = POLICY.replace("scope: patient", "scope: analyst").replace("dataset", "analyst")
    release = PLANNED.replace("NAME", "a").replace("WIDE", "40")
    clinic.policy.write_text(f"{analyst}tiers:\n  - {{id: open}}\nreleases:\n{release}")
    assert confide("policy", "solve", clinic.policy).code == 7
    ask(clinic, "a", more=", release: a")
    assert run(clinic, "a").code == 0


def test_a_release_that_is_not_pure_is_in_no_lane_of_pure_events_however_large_the_cap(clinic):
    huge = POLICY.replace('"3"', '"40000000000"').replace('"10"', '"40000000000"')
    clinic.policy.write_text(f"{huge}tiers:\n  - {{id: open}}\n")
    ask(clinic, "one")
    assert noise(clinic) == "Gaussian"
    done = run(clinic, "one")
    assert done.code == 0, done.err
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    assert [each["letter"] for each in caps] == ["ε(2)", "ε(2)", "δ"]


def test_a_limit_in_rho_is_told_to_be_in_epsilon(clinic):
    clinic.policy.write_text(POLICY.replace('{epsilon: "3"}', '{rho: "0.1"}'))
    refused = confide("policy", "check", clinic.policy)
    assert (refused.code, "odds" in refused.err) == (7, False)
    assert "everything is in ε under mixed" in refused.err


def test_a_study_keeps_the_noise_for_which_it_was_approved(clinic):
    keys = {name: clinic.folder / f"{name}.key" for name in ("ada", "bo")}
    public = {
        name: confide("request", "key", "--out", path, "--json").json["public"]
        for name, path in keys.items()
    }
    people = "".join(
        f"    - {{name: {name}, roles: [{role}], key: {public[name]}}}\n"
        for name, role in (("ada", "analyst"), ("bo", "steward"))
    )
    tiers = "tiers:\n  - {id: asked, approvals: {roles: [steward]}}\n  - {id: open}\n"
    clinic.policy.write_text(f"{POLICY}{tiers}workflow:\n  people:\n{people}")
    count = ONE.replace(", error: {within: HALF}", "")
    ask(clinic, "one", tier="asked", statistics=count, spend="spend: {at-most: {epsilon: 1}}\n")
    assert noise(clinic) == "Laplace"
    declared = clinic.dataset.read_text()
    clinic.dataset.write_text(declared.replace("1e-6}", "1e-6, releases-a-year: 5}"))
    words = ("request", "submit", clinic.study, "--key", keys["ada"], "--json")
    number = confide(*words).json["number"]
    approve = ("request", "approve", number, clinic.dataset, "--key", keys["bo"], "--json")
    assert confide(*approve).json["state"] == "approved"
    clinic.dataset.write_text(declared)
    planned = confide("plan", clinic.study, "--json").json
    assert (planned["road"]["noise"], planned["approval"]["admitted"]) == ("Gaussian", True)
    assert "approval was asked" in planned["road"]["text"]
    assert run(clinic, "one").code == 0
