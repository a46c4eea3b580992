"""policy.yaml: what is read, and each refusal with its place and its fix."""

import re
from fractions import Fraction

import pytest

from confide.budget.policy.policy import Enforce, Noise, Participation, Person, Window
from confide.errors import ContractError
from confide.files.policy.policy import policy_from, read_policy
from confide.files.schema import json_schema
from confide.files.yaml_text import parse_yaml
from pages import ROOT

TEXT = """
policy: {id: north-hospital, version: 3, effective: 2027-01-01, owner: dpo@north.example, languages: [en, zh]}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: pure}
caps:
  - {id: legal-release, basis: legal, priority: 1, scope: release, limit: {odds-factor: "1.5"}}
  - {id: ethics-annual, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {epsilon: "0.5"}, enforce: plan}
  - {id: dataset-life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {epsilon: "4"}}
participation:
  default: every-release
  profiles:
    - {id: frequent, releases: [rare-q1, rare-q2], at-most: 2, why: "recall interval is 4 months"}
tiers:
  - {id: critical, weight: 4, approvals: {roles: [steward, dpo, ethics-board], needed: 2}}
  - {id: routine, approvals: [steward]}
releases:
  - {id: rare-q1, tier: critical, query: count, sensitivity: 1, mechanism: laplace, period: 2027-Q1, runs: 3, project: rare,
     utility: {id: u-rare-q1, priority: 3, metric: mdape, at-most: "0.10", planning-count: {value: 40, source: "registry bulletin 2025"}}}
  - {id: rare-q2, tier: routine, mechanism: discrete-laplace}
allocate: {objective: lexicographic-max-min, round-down-to: "0.0001"}
workflow:
  separation-of-duties: true
  expires-after: 30d
  agents: {may-preview: true, may-spend: false}
  people:
    - {name: ann, roles: [steward, dpo], key: KEY}
    - {name: bea, roles: [ethics-board], key: OTHER}
""".replace("KEY", "ab" * 32).replace("OTHER", "cd" * 32)


def read(*changes, text=TEXT):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return policy_from(parse_yaml(text, name="policy.yaml"))


def test_a_policy_is_read_into_its_nouns():
    policy = read()
    assert policy.languages == ("en", "zh")
    assert policy.participation is Participation.EVERY_RELEASE
    law, annual, _ = policy.caps
    assert (law.window, law.limit.odds_factor) == (Window.RELEASE, Fraction("1.5"))
    assert (annual.limit.epsilon, annual.enforce) == (Fraction(1, 2), Enforce.PLAN)
    assert policy.profiles[0].at_most == 2
    critical, routine = policy.tiers
    assert (critical.approvals, critical.needed) == (("steward", "dpo", "ethics-board"), 2)
    assert (routine.approvals, routine.needed, routine.weight) == (("steward",), 0, 1)
    first, second = policy.releases
    assert (first.period, first.runs, first.project) == ("2027-Q1", 3, "rare")
    assert (first.utility.planning_count, first.utility.at_most) == (40, Fraction(1, 10))
    assert (second.noise, second.utility) == (Noise.DISCRETE_LAPLACE, None)
    assert policy.workflow.people[0] == Person(name="ann", roles=("steward", "dpo"), key="ab" * 32)
    assert policy.workflow.expires_after_days == 30


def test_what_is_left_out_has_its_default():
    short = TEXT[: TEXT.index("participation:")]
    policy = policy_from(parse_yaml(short, name="policy.yaml"))
    assert policy.releases == policy.tiers == policy.profiles == ()
    assert policy.round_down_to == Fraction(1, 10**4)
    assert policy.workflow.separation_of_duties


def test_zcdp_reads_epsilon_at_the_reported_delta_and_rounds_finer():
    policy = read(
        ("{measure: pure}", "{measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}"),
        ('round-down-to: "0.0001"', ""), ("lexicographic-max-min, ", "lexicographic-max-min"),
        ("mechanism: laplace", "mechanism: gaussian"),
    )  # fmt: skip
    assert (policy.report_delta, policy.selection_delta) == (Fraction("1e-6"), Fraction("5e-7"))
    assert policy.round_down_to == Fraction(1, 10**6)


def test_the_examples_are_read():
    for path in sorted((ROOT / "examples" / "policy").glob("*.yaml")):
        assert read_policy(path).releases


REFUSED = [
    (("releases: [rare-q1, rare-q2]", "releases: [rare-q1, rare-q9]"),
     "participation → profiles → frequent → releases: there is no release 'rare-q9'.*Did you mean"),
    (("tier: routine", "tier: urgent"), "releases → rare-q2 → tier: there is no tier 'urgent'.*Declared"),
    (("id: ethics-annual", "id: legal-release"), "caps: 'legal-release' stands twice.*Rename"),
    (("{id: rare-q2", "{id: rare-q1"), "releases: 'rare-q1' stands twice"),
    (("{id: routine", "{id: critical"), "tiers: 'critical' stands twice"),
    (("name: bea", "name: ann"), "workflow → people: 'ann' stands twice"),
    (("{id: routine", "{id: 'rou tine'"), "tiers: 'rou tine' is no id.*letters"),
    (("scope: patient, window: calendar-year", "scope: patient, window: release"),
     "caps → ethics-annual: window release does not suit scope patient"),
    (("scope: release,", "scope: release, window: lifetime,"),
     "caps → legal-release: window lifetime does not suit scope release"),
    (("scope: patient, window: calendar-year", "scope: patient"),
     "caps → ethics-annual: no window.*rolling-365d"),
    (('window: lifetime, limit: {epsilon: "4"}', 'window: lifetime, limit: {epsilon: "4"}, enforce: drop'),
     "caps → dataset-life: enforce: drop leaves out patients"),
    (('{epsilon: "0.5"}', '{epsilon: "0.5", rho: "0.1"}'), "caps → ethics-annual → limit: expected one limit"),
    (('{odds-factor: "1.5"}', '{odds-factor: "1"}'), "caps → legal-release → limit: expected one limit, an odds factor > 1"),
    (('{epsilon: "0.5"}', '{rho: "0.1"}'), "caps → ethics-annual → limit: .*not stated in a form.*Under pure"),
    (('{epsilon: "0.5"}', '{epsilon: "0"}'), r"caps → 1 \(ethics-annual\) → limit → epsilon: expected a number > 0"),
    ((', source: "registry bulletin 2025"', ""),
     "releases → rare-q1 → utility → planning-count: no source.*may not be read off the data"),
    (("weight: 4", "weight: 0"), r"tiers → 0 \(critical\) → weight: expected a number > 0"),
    (("needed: 2", "needed: 4"), "tiers → critical → approvals: 4 approvals of 3 roles"),
    (("{measure: pure}", "{measure: zcdp}"), "accounting: zcdp needs a report-delta.*1e-6"),
    (("{measure: pure}", "{measure: pure, report-delta: 1e-6}"), "accounting → report-delta: says nothing under pure"),
    (("{measure: pure}", "{measure: zcdp, report-delta: 1e-6, selection-delta: 1e-6}"),
     "selection-delta < report-delta"),
    (("mechanism: laplace", "mechanism: gaussian"), "releases → rare-q1 → mechanism: no finite ε"),
    (("period: 2027-Q1", "period: 2027-Q7"), "releases → rare-q1 → period: Expected a period.*2027-Q1"),
    (('why: "recall interval is 4 months"', 'why: " "'), "profiles → frequent: no reason"),
    (("releases: [rare-q1, rare-q2]", "releases: []"), "profiles → frequent: no releases"),
    (('round-down-to: "0.0001"', "round-down-to: 1e-10"), "allocate → round-down-to: .*1e-9"),
    (("expires-after: 30d", "expires-after: 30"), "workflow → expires-after: expected days"),
    (("separation-of-duties: true", "separation-of-duties: maybe"), "expected true or false"),
    (("may-spend: false", "may-spend: true"), "workflow → agents → may-spend"),
    (("ab" * 32, "ab" * 31), "workflow → people → ann → key: expected an Ed25519.*confide request key"),
    (("cd" * 32, "ab" * 32), "workflow → people → ann → key: the same key stands twice"),
    (("basis: ethics,", "basis: ethics, colour: blue,"), "unknown key at caps → 1 .*colour.*Allowed"),
    (("version: 3", "version: 0"), "policy → version: expected a whole number ≥ 1"),
    (("effective: 2027-01-01", "effective: soon"), "policy → effective: expected a date"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), REFUSED, ids=lambda v: str(v)[:40])
def test_a_mistake_is_named_with_its_place_and_its_fix(change, message):
    with pytest.raises(ContractError) as refused:
        read(change)
    assert re.search(message, str(refused.value)), str(refused.value)
    assert refused.value.hint or "expected" in str(refused.value)


def test_a_role_that_nobody_has_is_refused_where_it_is_needed():
    with pytest.raises(ContractError, match=r"nobody.*'ethics-board'"):
        read(("roles: [ethics-board]", "roles: [analyst]"), ("needed: 2", "needed: 3"))
    assert read(("roles: [ethics-board]", "roles: [analyst]")).tiers  # two of three are there


def test_a_policy_without_caps_is_refused():
    text = TEXT[: TEXT.index("caps:")] + "caps: []\n"
    with pytest.raises(ContractError, match="caps: no cap"):
        policy_from(parse_yaml(text, name="policy.yaml"))


def test_an_odds_factor_of_more_than_one_release_says_nothing_under_zcdp():
    with pytest.raises(ContractError, match="caps → ethics-annual → limit"):
        read(
            ("{measure: pure}", "{measure: zcdp, report-delta: 1e-6}"),
            ('{epsilon: "0.5"}', '{odds-factor: "2"}'),
        )  # fmt: skip
    assert read(("{measure: pure}", "{measure: zcdp, report-delta: 1e-6}")).caps


def test_the_schema_knows_the_same_keys():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema("policy")
    value = parse_yaml(TEXT, name="policy.yaml")
    jsonschema.validate(value, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value | {"colour": "blue"}, schema)
