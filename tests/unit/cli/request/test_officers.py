"""Dishonest analysts, stewards, officers and clocks, by commands alone, on both databases."""

import datetime as dt
import shutil
from types import SimpleNamespace

import pytest

from command_line import confide
from confide.budget.chain.ledger_time import SystemClock
from ledgers import schema_of
from postgres_server import server
from small_clinic import DATASET, STUDY, make_clinic

CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}\n"
POLICY = """\
policy: {{id: north-clinic, version: {version}, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}}
caps:
  - {{id: law, basis: legal, priority: 2, scope: release, limit: {{epsilon: "{law}"}}}}
  - {{id: ethics-year, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {{epsilon: "1.2"}}}}
  - {{id: ethics-365, basis: ethics, priority: 2, scope: patient, window: rolling-365d, limit: {{epsilon: "3"}}}}
tiers:
  - {{id: routine, approvals: [steward]}}
  - {{id: open{bounds}}}
workflow:
  people:
    - {{name: ada, roles: [analyst], key: {ada}}}
    - {{name: bo, roles: [steward], key: {bo}}}
    - {{name: cy, roles: [privacy-officer], key: {cy}}}
"""
NAMES = ("ada", "bo", "cy")


def write_policy(clinic, *, version=1, law="2", bounds=""):
    text = POLICY.format(version=version, law=law, bounds=bounds, **clinic.public)
    (clinic.folder / "policy.yaml").write_text(text)


def make(kind, folder):
    text = DATASET.replace(CAPS, "policy: policy.yaml\n")
    if kind == "postgres":
        schema = schema_of(folder)
        text += f'ledger: {{kind: postgres, url: "{server().url}", schema-name: {schema}}}\n'
    files = make_clinic(folder, dataset=text)
    keys = {name: folder / f"{name}.key" for name in NAMES}
    public = {
        name: confide("request", "key", "--out", path, "--json").json["public"]
        for name, path in keys.items()
    }
    files.study.write_text(STUDY.replace("purpose: test", "purpose: test, tier: open"))
    made = SimpleNamespace(
        folder=folder, dataset=files.dataset, study=files.study, keys=keys, public=public
    )
    write_policy(made)
    return made


def lose(clinic):
    """Remove the ledger, and leave its anchor and its keys."""
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    if ledger.exists():
        ledger.unlink()
    else:
        import psycopg

        with psycopg.connect(server().url) as session:
            session.execute(f'DROP SCHEMA "{schema_of(clinic.folder)}" CASCADE')


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path):
    return make(request.param, tmp_path / "clinic")


@pytest.fixture
def plain(tmp_path):
    return make("sqlite", tmp_path / "clinic")


@pytest.fixture
def clock(monkeypatch):
    shown = SimpleNamespace(now=dt.datetime.now(dt.UTC))
    monkeypatch.setattr(SystemClock, "now", lambda _: shown.now)
    return shown


def run(clinic, name, *more):
    return confide("run", clinic.study, "--out", clinic.folder / name, *more, "--json")


def caps(clinic):
    return confide("ledger", "show", clinic.dataset, "--json").json["caps"]


def test_nobody_with_a_shell_opens_a_year_confirms_a_day_or_rotates_a_key(clinic, clock):
    assert run(clinic, "first").code == 0
    spent = caps(clinic)
    clock.now += dt.timedelta(days=370)
    year, day = clock.now.year, clock.now.date().isoformat()
    why = (clinic.dataset, "--reason", "the clock says so")
    for act in (
        ("ledger", "open-year", year, *why),
        ("ledger", "confirm-day", day, *why),
        ("ledger", "rotate-keys", *why),
    ):
        for hand in ((), ("--officer", clinic.keys["ada"]), ("--officer", clinic.keys["bo"])):
            refused = confide(*act, *hand, "--json")
            assert (refused.code, refused.json["error"]) == (4, "ApprovalMissingError")
            assert "one of cy must sign" in refused.json["message"]
            assert "--officer" in refused.json["hint"]
        assert caps(clinic) == spent
        if "open-year" in act:  # and nothing may be spent meanwhile
            assert run(clinic, "second", "--request", "fresh noise").code == 3
        assert confide(*act, "--officer", clinic.keys["cy"]).code == 0
        spent = caps(clinic)
    assert run(clinic, "third", "--request", "next year").code == 0
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_an_older_ledger_that_is_put_back_waits_for_an_officers_key(clinic):
    confide("plan", clinic.study)
    assert confide("ledger", "backup", clinic.folder / "old", clinic.dataset).code == 0
    assert run(clinic, "first").code == 0
    spent = caps(clinic)
    lose(clinic)
    assert confide("ledger", "restore", clinic.folder / "old", clinic.dataset).code == 0
    unfreeze = ("ledger", "unfreeze", clinic.dataset, "--reason", "the disk was replaced")
    for hand in ((), ("--officer", clinic.keys["ada"]), ("--officer", clinic.keys["bo"])):
        assert confide(*unfreeze, *hand).code == 4
        assert run(clinic, "second").code == 6
    assert confide(*unfreeze, "--officer", clinic.keys["cy"]).code == 0
    assert caps(clinic) == spent


def test_a_ledger_from_before_the_policy_waits_for_an_officer_of_that_policy(clinic):
    """An analyst puts back a copy that knows no people, to adopt a laxer policy by a reason."""
    policys = clinic.dataset.read_text()
    clinic.dataset.write_text(policys.replace("policy: policy.yaml\n", CAPS))
    assert run(clinic, "first").code == 0
    assert confide("ledger", "backup", clinic.folder / "old", clinic.dataset).code == 0
    clinic.dataset.write_text(policys)
    assert confide("ledger", "adopt", clinic.dataset, "--reason", "the board met").code == 0
    assert run(clinic, "second", "--request", "fresh noise").code == 0
    spent = caps(clinic)
    lose(clinic)
    assert confide("ledger", "restore", clinic.folder / "old", clinic.dataset).code == 0
    unfreeze = ("ledger", "unfreeze", clinic.dataset, "--reason", "the disk was replaced", "--json")
    for hand in ((), ("--officer", clinic.keys["ada"]), ("--officer", clinic.keys["bo"])):
        refused = confide(*unfreeze, *hand)
        assert (refused.code, refused.json["error"]) == (4, "ApprovalMissingError")
        assert clinic.public["cy"].removeprefix("ed25519:") in refused.json["message"]
        assert confide("ledger", "adopt", clinic.dataset, "--reason", "mine").code == 6
    assert confide(*unfreeze, "--officer", clinic.keys["cy"]).code == 0
    assert confide("ledger", "adopt", clinic.dataset, "--reason", "as before").code == 0
    assert caps(clinic) == spent
    assert confide("ledger", "verify", clinic.dataset).code == 0


@pytest.mark.parametrize("charged", [True, False], ids=["charged", "new"])
def test_a_shell_alone_brings_no_policy_of_a_dismissed_officer_back(plain, charged):
    """Dee takes cy's place, cy's key is destroyed; rows with both policies are lost."""
    policys = plain.dataset.read_text()
    plain.dataset.write_text(policys.replace("policy: policy.yaml\n", CAPS))
    assert (run(plain, "zero") if charged else confide("plan", plain.study)).code == 0
    ledger = plain.folder / ".confide" / "ledger.sqlite"
    shutil.copy2(ledger, plain.folder / "old")
    plain.dataset.write_text(policys)
    adopt = ("ledger", "adopt", plain.dataset, "--reason", "the board says so")
    assert confide(*adopt).code == 0
    file, dee = plain.folder / "policy.yaml", plain.folder / "dee.key"
    first = file.read_text()
    public = confide("request", "key", "--out", dee, "--json").json["public"]
    second = first.replace("version: 1", "version: 2").replace("name: cy", "name: dee")
    file.write_text(second.replace(plain.public["cy"], public))
    for who in ("bo", "cy"):
        confide("request", "endorse", plain.dataset, "--key", plain.keys[who])
    assert confide(*adopt).code == 0
    second = file.read_text()
    plain.keys["cy"].unlink()
    shutil.copy2(plain.folder / "old", ledger)
    unfreeze = ("ledger", "unfreeze", plain.dataset, "--reason", "the disk was replaced")
    assert confide(*unfreeze, "--officer", dee).code == 0
    file.write_text(first)
    assert confide("plan", plain.study).code == 3
    refused = confide(*adopt)
    assert refused.code == 4
    assert "the newest policy that the lost rows let hold" in refused.err
    file.write_text(second)
    assert confide(*adopt).code == 0
    assert run(plain, "one").code == 0


def test_an_analyst_and_one_officer_do_not_relax_a_cap_of_the_law(clinic):
    confide("plan", clinic.study)
    write_policy(clinic, version=2, law="3")
    adopt = ("ledger", "adopt", clinic.dataset, "--reason", "the law changed", "--json")
    for name, code in (("ada", 3), ("cy", 3), ("bo", 0)):
        assert confide("request", "endorse", clinic.dataset, "--key", clinic.keys[name]).code == 0
        adopted = confide(*adopt)
        assert adopted.code == code
        if code:
            assert "law is raised" in adopted.json["message"]


def test_an_approval_that_was_given_under_a_wrong_clock_ends_with_it(clinic, clock):
    clinic.study.write_text(clinic.study.read_text().replace("tier: open", "tier: routine"))
    today = clock.now
    clock.now += dt.timedelta(days=26_000)
    submit = ("request", "submit", clinic.study, "--key", clinic.keys["ada"], "--json")
    poisoned = confide(*submit).json["number"]
    approve = ("request", "approve", poisoned, clinic.dataset, "--key", clinic.keys["bo"])
    assert confide(*approve).code == 0
    clock.now = today
    assert run(clinic, "first").code == 4
    assert confide(*approve).code == 0
    clock.now = today + dt.timedelta(days=31)
    refused = run(clinic, "first")
    assert (refused.code, "has expired" in refused.json["message"]) == (4, True)
    assert confide(*approve).code == 0
    assert run(clinic, "first").code == 0


def test_policy_check_says_which_tier_needs_nobody_and_what_bounds_it(plain):
    path = plain.folder / "policy.yaml"
    told = " ".join(confide("policy", "check", path).out.split())
    assert "open: needs no approval" in told
    assert "no ceiling and no audience either" in told
    assert "need the signature of one of: cy" in told
    write_policy(plain, bounds=', ceiling: {epsilon: "0.5"}, audience: [internal]')
    checked = confide("policy", "check", path, "--json").json
    assert checked["tiers-without-approval"] == [
        {"id": "open", "ceiling": "ε = 0.5", "audience": ["internal"]}
    ]
    assert "no ceiling" not in confide("policy", "check", path).out


def test_a_study_past_the_ceiling_or_for_others_does_not_run_in_the_tier_that_needs_nobody(plain):
    write_policy(plain, bounds=', ceiling: {epsilon: "0.1"}, audience: [internal]')
    public = run(plain, "first")
    assert (public.code, "for the audience internal" in public.json["message"]) == (3, True)
    plain.study.write_text(
        plain.study.read_text().replace("tier: open", "tier: open, audience: internal")
    )
    assert not confide("plan", plain.study, "--json").json["approval"]["admitted"]
    dear = run(plain, "first")
    assert (dear.code, "is for releases of up to ρ=" in dear.json["message"]) == (3, True)
    assert dear.json["message"].count("(ε ") == 2
    cheap = plain.study.read_text().replace("within: 20", "within: 400").replace("30", "600")
    plain.study.write_text(cheap)
    assert run(plain, "first").code == 0


def test_a_policy_that_cannot_be_met_does_not_pass_the_check(plain):
    path = plain.folder / "policy.yaml"
    impossible = (
        "releases:\n  - {id: rare, tier: open, utility: {id: u, priority: 3, metric: mdape, "
        'at-most: "0.01", planning-count: {value: 5, source: "bulletin 2025"}}}\n'
    )
    path.write_text(path.read_text() + impossible)
    for form in ((), ("--json",)):
        checked, solved = (confide("policy", verb, path, *form) for verb in ("check", "solve"))
        assert (checked.code, solved.code) == (3, 3)
    assert checked.json["can-be-met"] is False
    assert "It cannot be met" in confide("policy", "check", path).out


def test_a_request_that_no_cap_admits_is_refused_when_it_is_submitted(plain):
    text = plain.study.read_text().replace("tier: open", "tier: routine")
    plain.study.write_text(text.replace("within: 20", "within: 2"))
    refused = confide("request", "submit", plain.study, "--key", plain.keys["ada"], "--json")
    assert (refused.code, refused.json["error"]) == (5, "BudgetExhaustedError")
    assert confide("request", "list", plain.dataset, "--json").json["requests"] == []


def test_a_day_of_which_no_charge_could_ever_leave_is_refused_in_words(plain, clock):
    assert run(plain, "first").code == 0
    clock.now = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)
    words = ("9999-12-31", plain.dataset, "--reason", "x", "--officer", plain.keys["cy"])
    refused = confide("ledger", "confirm-day", *words, "--json")
    assert (refused.code, "No charge of 9999-12-31" in refused.json["message"]) == (3, True)
    assert confide("ledger", "verify", plain.dataset).code == 0
