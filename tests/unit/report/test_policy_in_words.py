"""What policy commands say of a policy, word for word and number for number."""

import pytest

from command_line import confide
from confide.budget.policy.solve import solve
from confide.files.policy.policy import read_policy
from confide.report.policy.policy_chart import chart
from kept_texts import assert_kept, chart_text
from pages import ROOT

FOLDER = ROOT / "examples" / "policy"
LIFE = 'window: lifetime, limit: {epsilon: "4"}}'
ANALYST = """
  - {id: each-analyst, basis: internal, priority: 4, scope: analyst, window: lifetime,
     limit: {epsilon: "5"}}"""
GAUSSIAN = (
    ("measure: pure", 'measure: zcdp, report-delta: 1e-6, selection-delta: "5e-7"'),
    ("mechanism: discrete-laplace", "mechanism: gaussian"),
    ("window: calendar-year", "window: rolling-365d"),
    (LIFE, 'window: lifetime, limit: {rho: "1"}}' + ANALYST),
    ("participation:\n", "participation:\n  default: profiles\n"),
    (", approvals: [steward]}", ', ceiling: {epsilon: "0.5"}, audience: [public]}'),
    ("separation-of-duties: true", "separation-of-duties: false"),
)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def policies(tmp_path):
    """The policies of the example, and one of other measure, windows, profiles and tiers."""
    text = (FOLDER / "policy.yaml").read_text("utf-8")
    for was, now in GAUSSIAN:
        text = text.replace(was, now)
    other = tmp_path / "gaussian.yaml"
    other.write_text(text, "utf-8")
    met = tmp_path / "gaussian-met.yaml"
    met.write_text(
        text.replace('limit: {epsilon: "0.5"}}\n', 'limit: {epsilon: "1.5"}}\n'), "utf-8"
    )
    named = {name: FOLDER / f"{name}.yaml" for name in ("policy", "conflict", "drop")}
    return named | {"gaussian": other, "gaussian-met": met}


@pytest.mark.parametrize("name", ["policy", "conflict", "drop", "gaussian", "gaussian-met"])
@pytest.mark.parametrize("command", ["check", "solve", "explain", "simulate"])
def test_every_word_about_a_policy_is_the_one_that_was_read(policies, name, command):
    more = ["--visits", FOLDER / "visits.csv"] if (command, name) == ("simulate", "drop") else []
    more += ["--years", 3] if (command, name) == ("simulate", "gaussian") else []
    ran = confide("policy", command, policies[name], *more)
    assert_kept(f"policy/{command}-{name}.txt", ran.out + ran.err)


@pytest.mark.parametrize("name", ["policy", "conflict", "gaussian", "gaussian-met"])
def test_the_figure_of_a_policy_has_the_numbers_that_were_read(policies, name, words):
    drawn = chart(solve(read_policy(policies[name])), words=words)
    assert_kept(f"policy/figure-{name}.txt", chart_text(drawn))
